import HTTP
import Identity
import Localization
import Templating

/// `S/activity`: the code attempts of a pool, newest first, with filters that lead to users.
struct ActivityPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ActivityView>

  func show(_ context: PoolContext) async throws -> Response {
    let (pool, signedIn) = (context.pool, context.signedIn)
    let query = ActivityQuery(signedIn.query)
    var (filter, fault) = query.filter(signedIn.times)
    if !query.user.isEmpty {
      filter.account = try await identity.accounts.find(pool, named: query.user)?.id
      if filter.account == nil, fault == nil { fault = ActivityQuery.unknownUser }
    }
    let after = signedIn.query.text("after").flatMap { $0.isEmpty ? nil : $0 }
    var page = Page<UserCodeAttempt>(items: [], next: nil)
    if fault == nil {
      page = try await identity.activity.attempts(
        in: pool, filter, after: after, limit: query.size.rows)
      if let first = signedIn.firstPage(of: ConsolePaths.activity(pool), insteadOf: page) {
        return first
      }
    }
    try await frames.record(Set(page.items.map(\.account)).count, shownIn: context)
    let checks = try await identity.activity.checks(context, at: identity.clock.now())
    let settings = try await identity.support.settings(pool)
    let frame = try await frames.frame(
      Message("Sign-in activity"), in: context, errors: [fault].compactMap { $0 })
    var chart = checks.frame("days")
    if chart.chart != nil { chart.csv = ConsolePaths.attemptsFile(pool) }
    if context.may(.readPolicy) {
      chart.more = Link(text: Message("MFA policy"), href: ConsolePaths.policy(pool))
    }
    return .html(
      view.render(
        ActivityView(
          frame: FrameView(frame), pool: pool, query: query, page: page, after: after,
          days: settings.codeAttemptDays, chart: chart)),
      status: fault == nil ? .ok : .unprocessableContent)
  }
}

struct ActivityView: ViewModel {
  let frame: FrameView
  let pool: Pool
  let query: ActivityQuery
  let page: Page<UserCodeAttempt>
  let after: String?
  /// The retention period of code attempts, in days.
  let days: Int
  let chart: ChartFrame

  private var path: String { ConsolePaths.activity(pool) }
  private var all: String { query.size.form.query(of: path) }

  private var pager: PagerView {
    PagerView(
      shown: CodeAttemptText.number(page.items.reduce(0) { $0 + $1.attempt.times }), path: path,
      query: query.form(), after: after, next: page.next)
  }

  private var empty: EmptyView {
    query.isEmpty
      ? EmptyView(codeAttemptsOf: pool, days: days)
      : EmptyView(
        heading: Message("No code attempts match"),
        sentence: page.next == nil
          ? Message("Try another user, result, factor, or day.")
          : Message("None of the newest attempts match. Older ones are on the next page."),
        link: Link(text: Message("Clear all filters"), href: all))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("explanation") {
      Message(
        one: """
          Code attempts in {name}, newest first. Entries are deleted after {count} day. The \
          charts keep the totals.
          """,
        other: """
          Code attempts in {name}, newest first. Entries are deleted after {count} days. The \
          charts keep the totals.
          """, ["name": .name($0.pool.name), "count": .number($0.days)])
    },
    .text("action") { $0.path },
    .list("results") { view in
      AttemptResults.allCases.map {
        Choice(value: $0.rawValue, text: $0.text, isChosen: $0 == view.query.results)
      }
    },
    .list("kinds") { view in
      Factor.Kind.allCases.map {
        Choice(
          value: $0.rawValue, text: ActivityQuery.text($0), isChosen: $0 == view.query.kind)
      }
    },
    .text("user") { $0.query.user },
    .text("userError") { $0.frame.error(at: "user") },
    .text("day") { $0.query.day },
    .text("dayError") { $0.frame.error(at: "day") },
    // A date field would discard an invalid date.
    .text("dayType") { $0.frame.error(at: "day") == nil ? "date" : "text" },
    .flag("isChosen") { !$0.query.chosen($0.path).isEmpty },
    .text("all") { $0.all },
    .list("kept") { HiddenField.all($0.query.size.form) },
    .list("chosen") { $0.query.chosen($0.path) },
    .object(\.chart),
    .list("rows") { view in
      CodeAttemptRun.all(view.page.items).map {
        ActivityRow(item: $0.user, run: $0.run, pool: view.pool, times: view.frame.times)
      }
    },
    .flag("hasPager") { !$0.page.items.isEmpty || $0.page.next != nil },
    .object("pager") { $0.pager },
    .object("empty") { $0.empty },
  ]
}

struct ActivityRow: ViewModel {
  let item: UserCodeAttempt
  let run: CodeAttemptRun
  let pool: Pool
  let times: Times

  private var attempt: CodeAttempt { run.newest }
  private var label: String { item.email ?? item.displayName ?? item.account.text }

  private var mark: Markup {
    switch attempt.result.outcome {
    case .accepted: Self.accepted
    case .outside: Self.outside
    case .incorrect, .locked, .other: Self.rejected
    }
  }

  private static let accepted: Markup = #"<span class="mk on" aria-hidden="true">●</span>"#
  private static let outside: Markup = #"<span class="mk" aria-hidden="true">▲</span>"#
  private static let rejected: Markup = #"<span class="mk bad" aria-hidden="true">■</span>"#

  static let keys: Keys<Self> = [
    .text("name") { Formatted.short($0.label) },
    .text("href") { ConsolePaths.user($0.pool, $0.item.account.text) },
    .text("fullName") { $0.item.email == nil ? nil : $0.item.displayName },
    .text("kind") { ActivityQuery.text($0.attempt.way.kind) },
    .text("program") { $0.attempt.origin.program },
    .text("address") { $0.attempt.origin.address.isEmpty ? nil : $0.attempt.origin.address },
    .markup("mark") { $0.mark },
    .text("what") { CodeAttemptText.sentence($0.run) },
    .markup("strip") { row in
      WindowStrip.marked(
        row.attempt.window, at: row.attempt.distance, isAccepted: row.attempt.result.isSuccess)
    },
    .markup("at") { $0.times.past($0.attempt.at) },
  ]
}

struct ActivityQuery: Sendable {
  let results: AttemptResults?
  let kind: Factor.Kind?
  /// An email address or a UID.
  let user: String
  let day: String
  let size: PageSize

  init(_ query: Form) {
    user = String(query.trimmed("user").prefix(Self.longestUser))
    results = AttemptResults(rawValue: query.trimmed("result"))
    kind = Factor.Kind(rawValue: query.trimmed("factor"))
    day = query.trimmed("day")
    size = PageSize(query)
  }

  func filter(_ times: Times) -> (filter: ActivityFilter, fault: FieldError?) {
    var filter = ActivityFilter(outcomes: results?.outcomes ?? [], kind: kind)
    guard !day.isEmpty else { return (filter, nil) }
    guard let date = Day(day) else {
      return (filter, FieldError(field: "day", text: Message("Enter a date such as 2026-12-01.")))
    }
    filter.from = times.start(of: date)
    filter.to = times.start(of: date.next)
    return (filter, nil)
  }

  private static let longestUser = 256

  static let unknownUser = FieldError(
    field: "user", text: Message("No user has this email address or UID."))

  var isEmpty: Bool { results == nil && kind == nil && user.isEmpty && day.isEmpty }

  func form(without name: String? = nil) -> Form {
    var form = Form()
    for (field, value) in [
      ("user", user), ("result", results?.rawValue ?? ""), ("factor", kind?.rawValue ?? ""),
      ("day", day),
    ] where !value.isEmpty && field != name {
      form.add(field, value)
    }
    return size.added(to: form)
  }

  func chosen(_ path: String) -> [Link] {
    var links: [Link] = []
    if !user.isEmpty {
      links.append(
        Link(
          text: Message.value(.name(Formatted.short(user))),
          href: form(without: "user").query(of: path)))
    }
    if let results {
      links.append(Link(text: results.text, href: form(without: "result").query(of: path)))
    }
    if let kind {
      links.append(
        Link(text: Self.text(kind), href: form(without: "factor").query(of: path)))
    }
    if let date = Day(day) {
      links.append(
        Link(
          text: Message.value(Times.value(date)), href: form(without: "day").query(of: path)))
    }
    return links
  }

  static func text(_ kind: Factor.Kind) -> Message {
    switch kind {
    case .totp: Message("TOTP")
    case .phone: .verbatim("SMS")
    }
  }
}

extension ActivityPage {
  /// `S/activity/enrollment.csv`: the numbers of users over a period.
  func enrollment(_ context: PoolContext) async throws -> Response {
    let window = ChartWindow(context.signedIn.query.text("period"))
    let history = try await identity.activity.history(context, window, at: identity.clock.now())
    return history.table.csv(frames.catalog).response(named: "enrollment-\(context.pool.objectID)")
  }

  /// `S/activity/attempts.csv`: the code attempts by day.
  func attempts(_ context: PoolContext) async throws -> Response {
    let checks = try await checks(context)
    return checks.table.csv(frames.catalog).response(named: "attempts-\(context.pool.objectID)")
  }

  /// `S/activity/rejections.csv`: the rejected codes by weekday and hour.
  func rejections(_ context: PoolContext) async throws -> Response {
    let checks = try await checks(context)
    return checks.rejectionsTable.csv(frames.catalog)
      .response(named: "rejections-\(context.pool.objectID)")
  }

  private func checks(_ context: PoolContext) async throws -> CheckHistory {
    try await identity.activity.checks(context, at: identity.clock.now())
  }
}

extension Activity {
  func history(
    _ context: PoolContext, _ window: ChartWindow, at now: Instant
  ) async throws -> EnrollmentHistory {
    let times = context.signedIn.times
    let days = times.days(window.days + 1, until: now)
    let points = try await enrollment(of: context.pool, at: days.map(times.start), until: now)
    return EnrollmentHistory(points, window, now: now, times)
  }

  /// The code attempts of a pool in the days that charts show, or in as many before them.
  func checks(
    _ context: PoolContext, at now: Instant, isBefore: Bool = false
  ) async throws -> CheckHistory {
    let times = context.signedIn.times
    let end =
      isBefore ? times.start(ofDays: Self.chartDays, until: now).advanced(bySeconds: -1) : now
    let start = times.start(ofDays: Self.chartDays, until: end)
    let hours = try await self.checks(in: context.pool, from: start, to: end)
    return CheckHistory(hours, days: Self.chartDays, until: end, times)
  }
}

enum ActivityRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = try parts.page("activity/activity", ActivityPage.init)
    table.inside(ConsolePaths.activity, .get(.findUsers, needs: .secrets), page.show)
    table.inside(ConsolePaths.enrollmentFile, .get(.seePool), page.enrollment)
    table.inside(ConsolePaths.attemptsFile, .get(.seePool, needs: .secrets), page.attempts)
    table.inside(ConsolePaths.rejectionsFile, .get(.seePool, needs: .secrets), page.rejections)
  }
}

extension ConsolePaths {
  static let activity = PoolPath0("activity")
  static let enrollmentFile = PoolPath0("activity", "enrollment.csv")
  static let attemptsFile = PoolPath0("activity", "attempts.csv")
  static let rejectionsFile = PoolPath0("activity", "rejections.csv")
}
