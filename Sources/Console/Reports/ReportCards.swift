import HTTP
import Identity
import Localization
import Templating

/// A report on the index, or the enrollment of one pool: a figure, how it changed, and a drawing; what
/// it's based on is said by the page.
struct ReportCard: ViewModel {
  var name = ""
  var href: String?
  var value: Message
  var change: FigureChange?
  /// The part of the figure that the base line is about.
  var part = 0
  /// What the figure or the part is of.
  var whole = 0
  /// When the next of what's counted ends, or of how many factors the figure is a part.
  var note: Message?
  var chart: Markup?

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.href),
    .text(\.value),
    .optional(\.change),
    .text("part") { .value(.number($0.part)) },
    .number("count") { $0.whole },
    .text(\.note),
    .markup(\.chart),
  ]
}

extension ReportCard {
  /// The top of the scale of shares, a number at which a scale ends.
  private static let scale = 400

  /// The enrollment at evenly spaced times, the last of which is now, with its change since the first
  /// one known.
  init(_ shares: [Share?], at instants: [Instant], of window: ChartWindow, _ times: Times) {
    let last = (shares.last ?? nil) ?? Share(part: 0, whole: 0)
    self.init(value: last.percent, part: last.part, whole: last.whole)
    change = last.change(
      from: shares.compactMap { $0 }.first { $0.whole > 0 }, Message("in this period"))
    chart =
      AreaChart(
        // 0 without users, and before what's known.
        points: shares.map { share in
          let part = share.map { $0.whole > 0 ? $0.part * Self.scale / $0.whole : 0 } ?? 0
          return AreaChart.Point(whole: Self.scale, part: part)
        },
        ticks: window.ends(instants, times),
        label: Message(
          "Share of users with a second factor: {share} now", ["share": .message(value)]),
        isSmall: true
      ).markup
  }
}

/// Reads the cards of the reports that an administrator can read.
struct ReportCards {
  let identity: Identity
  let signedIn: SignedIn
  /// The pool; nil for all projects.
  let context: PoolContext?
  let subject: ReportSubject
  let window: ChartWindow
  let query: Form
  let now: Instant

  private var times: Times { signedIn.times }
  private var instants: [Instant] { window.instants(until: now, times) }
  private var start: Instant { now.advanced(bySeconds: -Int64(window.days) * 86_400) }
  private var isWhole: Bool { context.map { subject == .project($0.pool) } ?? false }

  /// The pool, if a report that's never about tenants can be read.
  private var pool: Pool? {
    context.flatMap { signedIn.administrator.may(.findUsers, in: $0.pool) ? $0.pool : nil }
  }

  private func may(_ report: Report) -> Bool {
    signedIn.administrator.may(read: report, about: subject)
  }

  private func card(
    _ report: Report, _ number: Message, part: Int = 0, of whole: Int = 0, _ columns: [[Int]],
    _ fills: [ChartFill], _ ticks: [ChartTick], _ name: String
  ) -> ReportCard {
    ReportCard(
      href: report.coversTenants
        ? query.query(of: ConsolePaths.report(report, about: subject))
        : context.map { ConsolePaths.report(report)($0.pool) },
      value: number, part: part, whole: whole,
      chart: StackedColumns(
        fills: fills, columns: columns, ticks: ticks, label: report.name, name: name,
        isSmall: true
      ).markup)
  }

  func enrollment() async throws -> ReportCard? {
    guard let pool = context?.pool, may(.enrollment) else { return nil }
    let points = try await identity.activity.enrollment(
      of: pool, isWhole: isWhole, at: instants.dropLast(), until: now)
    var card = ReportCard(
      instants.map { at in points.last { $0.at <= at }.map(Share.init) }, at: instants, of: window,
      times)
    card.href = query.query(of: ConsolePaths.report(.enrollment)(pool))
    return card
  }

  func removals() async throws -> ReportCard? {
    guard may(.removals) else { return nil }
    let counts = try await identity.reports.removals(
      about: subject, since: start, visibleTo: signedIn.administrator)
    let columns = RemovalHistory(counts, window, until: now, times).parts
    return card(
      .removals, .value(.number(counts.reduce(0) { $0 + $1.count })),
      part: columns.reduce(0) { $0 + $1[1] }, columns, [.accepted, .rejected],
      window.ends(instants, times), "card-removals")
  }

  func factors() async throws -> ReportCard? {
    guard let pool else { return nil }
    let ages = [30, 60, 90, 180]
    let counts = try await identity.reports.factorCounts(in: pool, ages.map { .unused(days: $0) })
    let older = [counts.all] + ages.map { counts[.unused(days: $0)] } + [0]
    let parts = zip(older, older.dropFirst()).map { $0 - $1 }
    var card = card(
      .factors, .counted(older[3], isCut: counts.isCut),
      parts.prefix(3).map { [$0, 0] } + parts.dropFirst(3).map { [0, $0] }, [.accepted, .outside],
      ChartTick.points([Message("< 30 days"), Message("> 180 days")]), "card-factors")
    card.note =
      counts.isCut
      ? Message("{count}+ factors", ["count": .number(counts.all)])
      : Message(
        one: "{count} factor", other: "{count} factors", ["count": .number(counts.all)])
    return card
  }

  func locked() async throws -> ReportCard? {
    guard let pool, let context, may(.locked) else { return nil }
    let checks = try await identity.activity.checks(context, at: now)
    return card(
      .locked, .value(.number(try await identity.accounts.counts(pool).locked)),
      of: checks.total.locked, checks.byDay.map { [$0.locked] }, [.locked],
      ChartTick.points([checks.days[0], checks.days[29]].map { .value(Times.short($0)) }),
      "card-locked")
  }

  func exemptions() async throws -> ReportCard? {
    guard may(.exemptions) else { return nil }
    let list =
      if let pool = context?.pool {
        try await identity.exemptions.list(in: pool, isWhole: isWhole, endingAfter: start)
      } else { try await identity.exemptions.list(visibleTo: signedIn.administrator) }
    let current = list.filter { $0.endsAt > now }
    var card = card(
      .exemptions, .value(.number(current.count)),
      instants.map { at in [list.count { $0.grantedAt <= at && $0.endsAt > at }] }, [.accepted],
      window.ends(instants, times), "card-exemptions")
    card.note = current.first.map { .value(times.endValue($0.endsAt)) }
    // Of all projects, only the current ones are listed.
    if context == nil { card.chart = nil }
    return card
  }
}
