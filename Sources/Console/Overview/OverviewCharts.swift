import HTTP
import Identity
import Localization
import Templating

struct OverviewCharts: ViewModel {
  let figures: [Figure]
  let enrollment: ChartFrame
  let attempts: ChartFrame
  let rejections: ChartFrame

  static let keys: Keys<Self> = [
    .list(\.figures),
    .object(\.enrollment),
    .object(\.attempts),
    .object(\.rejections),
  ]
}

extension OverviewCharts {
  /// The maximum number of policy changes that are looked up for the enrollment chart.
  private static let changes = 100

  init(
    _ identity: Identity, _ context: PoolContext, _ policy: Policy, unverified: Int,
    _ catalog: Catalog
  ) async throws {
    let (pool, activity, now) = (context.pool, identity.activity, identity.clock.now())
    let window = ChartWindow(context.signedIn.query.text("period"))
    let history = try await activity.history(context, window, at: now)
    let changes = try await identity.policies.history(pool, limit: Self.changes)
    // As at the beginning of the chart.
    let monthAgo = context.signedIn.times.start(ofDays: ChartWindow.month.days + 1, until: now)
    let before = try await activity.enrollment(of: pool, at: monthAgo)
    let checks = try await activity.checks(context, at: now)
    let earlier = try await activity.checks(context, at: now, isBefore: true)
    let offsets = try await activity.offsetCounts(in: pool, days: ChartWindow.month.days)
    let exempt = try await identity.exemptions.counts(in: pool)
    figures =
      OverviewFigures(
        policy: policy, unverified: unverified, exempt: exempt.withoutFactor,
        before: before, checks: checks.total,
        earlier: earlier.isWhole ? earlier.total : nil,
        offsets: offsets.latest, earlierOffsets: offsets.before
      ).all

    var enrollment = history.frame(changes, catalog)
    enrollment.periods = ChartWindow.links(ConsolePaths.overview(pool), current: window)
    let period: Form = ["period": String(window.days)]
    if enrollment.chart != nil {
      enrollment.csv = period.query(of: ConsolePaths.enrollmentFile(pool))
    }
    let unmarked = history.unmarked(changes)
    if unmarked > 0, context.may(.readPolicy) {
      enrollment.more = Link(
        text: changes.count < Self.changes
          ? Message(
            one: "and {count} earlier policy change",
            other: "and {count} earlier policy changes", ["count": .number(unmarked)])
          : Message(
            one: "and {count} or more earlier policy changes",
            other: "and {count} or more earlier policy changes", ["count": .number(unmarked)]),
        href: ConsolePaths.policy(context.pool) + "#versions")
    }
    self.enrollment = enrollment
    var attempts = checks.frame("days")
    if attempts.chart != nil { attempts.csv = ConsolePaths.attemptsFile(pool) }
    if context.may(.findUsers) {
      attempts.more = Link(
        text: Message("Sign-in activity"), href: ConsolePaths.activity(pool))
    }
    self.attempts = attempts
    var rejections = checks.rejectionsFrame
    if rejections.chart != nil { rejections.csv = ConsolePaths.rejectionsFile(pool) }
    self.rejections = rejections
  }
}
