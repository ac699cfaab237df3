import HTTP
import Identity
import Localization
import Templating

/// `S/activity`: the code attempts of a pool, newest first, with filters that lead to users.
struct ActivityPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<ActivityView>

  func show(_ context: PoolContext) async throws -> Response {
    let (pool, signedIn) = (context.pool, context.signedIn)
    let query = ActivityQuery(signedIn.query)
    let (filter, fault) = query.filter(signedIn.times)
    let after = signedIn.query.text("after").flatMap { $0.isEmpty ? nil : $0 }
    var page = Page<UserCodeAttempt>(items: [], next: nil)
    if fault == nil {
      page = try await identity.activity.attempts(
        in: pool, filter, after: after, limit: query.size.rows)
      if let first = signedIn.firstPage(of: ConsolePaths.activity(pool), insteadOf: page) {
        return first
      }
    }
    let checks = try await identity.activity.checks(context, at: identity.clock.now())
    let settings = try await identity.support.settings(pool)
    var frame = try await frames.frame(Message("Sign-in activity"), in: context)
    frame.errors = [fault].compactMap { $0 }
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
      shown: Message(
        one: "{count} code attempt", other: "{count} code attempts",
        ["count": .number(page.items.reduce(0) { $0 + $1.attempt.times })]), path: path,
      query: query.form(), after: after, next: page.next)
  }

  private var empty: EmptyView {
    query.isEmpty
      ? EmptyView(
        heading: Message(
          one: "No code attempts in the last {count} day",
          other: "No code attempts in the last {count} days", ["count": .number(days)]),
        sentence: Message(
          "Shows the result of each code: accepted, expired, already used, or incorrect."),
        more: Link(text: Message("How users enroll"), href: pool.guidance()))
      : EmptyView(
        heading: Message("No code attempts match"),
        sentence: page.next == nil
          ? Message("Try another result, factor, or day.")
          : Message("None of the newest attempts match. Older ones are on the next page."),
        link: EmptyLink(text: Message("Clear all filters"), href: all))
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
      ActivityQuery.Results.allCases.map {
        AuditMenu.Option(value: $0.rawValue, text: $0.text, isChosen: $0 == view.query.results)
      }
    },
    .list("kinds") { view in
      Factor.Kind.allCases.map {
        AuditMenu.Option(
          value: $0.rawValue, text: ActivityQuery.text($0), isChosen: $0 == view.query.kind)
      }
    },
    .text("day") { $0.query.day },
    .text("dayError") { $0.frame.error(at: "day") },
    // A date field would discard an invalid date.
    .text("dayType") { $0.frame.error(at: "day") == nil ? "date" : "text" },
    .flag("isChosen") { !$0.query.chosen($0.path).isEmpty },
    .text("all") { $0.all },
    .list("kept") { HiddenField.all($0.query.size.form) },
    .list("chosen") { $0.query.chosen($0.path) },
    .object(\.chart),
    .flag("hasRows") { !$0.page.items.isEmpty },
    .list("rows") { view in
      view.page.items.map { ActivityRow($0, in: view.pool, view.frame.times) }
    },
    .flag("hasPager") { !$0.page.items.isEmpty || $0.page.next != nil },
    .object("pager") { $0.pager },
    .object("empty") { $0.empty },
  ]
}

struct ActivityRow: ViewModel {
  private let item: UserCodeAttempt
  private let pool: Pool
  private let times: Times

  init(_ item: UserCodeAttempt, in pool: Pool, _ times: Times) {
    (self.item, self.pool, self.times) = (item, pool, times)
  }

  private var attempt: CodeAttempt { item.attempt }
  private var label: String { item.displayName ?? item.email ?? item.account.text }

  private var mark: Markup {
    switch attempt.result.outcome {
    case .accepted: Self.accepted
    case .outside: Self.outside
    case .incorrect, .locked, .other: Self.rejected
    }
  }

  private static let accepted = Markup(
    trusted: "<span class=\"mk on\" aria-hidden=\"true\">●</span>")
  private static let outside = Markup(trusted: "<span class=\"mk\" aria-hidden=\"true\">▲</span>")
  private static let rejected = Markup(
    trusted: "<span class=\"mk bad\" aria-hidden=\"true\">■</span>")

  static let keys: Keys<Self> = [
    .text("name") { Formatted.short($0.label) },
    .text("href") { ConsolePaths.user($0.pool, $0.item.account.text) },
    .text("email") { $0.item.displayName == nil ? nil : $0.item.email },
    .text("kind") { ActivityQuery.text($0.attempt.way.kind) },
    .text("program") { $0.attempt.origin.program },
    .text("address") { $0.attempt.origin.address.isEmpty ? nil : $0.attempt.origin.address },
    .markup("mark") { $0.mark },
    .text("what") { CodeAttemptText.sentence($0.attempt) },
    .markup("strip") { row in
      WindowStrip.marked(
        row.attempt.window, at: row.attempt.distance, isAccepted: row.attempt.result.isSuccess)
    },
    .markup("at") { $0.times.past($0.attempt.at) },
  ]
}
