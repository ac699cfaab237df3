import HTTP
import Identity
import Localization
import Templating

/// The key figures of a pool with their change in 30 days.
struct OverviewFigures {
  let policy: Policy
  let unverified: Int
  /// The number of users without a second factor who are exempt from MFA.
  let exempt: Int
  /// The numbers of users 30 days ago; nil if they aren't known.
  let before: EnrollmentPoint?
  let checks: CheckHistory.Sums
  /// The code attempts of the 30 days before; nil if they weren't recorded from the start.
  let earlier: CheckHistory.Sums?
  /// The codes of 30 days that the histogram on the policy page shows.
  let offsets: OffsetCounts
  /// The codes of the 30 days before.
  let earlierOffsets: OffsetCounts

  var all: [Figure] { [enrolled, accepted, outside, without] }

  /// Those of a pool whose codes are checked elsewhere.
  var withoutCodes: [Figure] { [enrolled, without] }

  private var enrolled: Figure {
    let share = Share(part: policy.enrolledUsers, whole: policy.users)
    return Figure(
      label: Message("MFA enrollment"), value: share.percent,
      change: share.change(
        from: before.map(Share.init), FigureChange.inMonth),
      base: Message(
        one: "{number} of {count} user", other: "{number} of {count} users",
        ["number": .number(share.part), "count": .number(share.whole)]))
  }

  private var accepted: Figure {
    let share = Share(part: checks.accepted, whole: checks.all)
    return Figure(
      label: Message("Accepted codes, 30 days"), value: share.percent,
      change: share.change(
        from: earlier.map { Share(part: $0.accepted, whole: $0.all) }, FigureChange.sinceBefore),
      base: Message(
        one: "{number} of {count} attempt", other: "{number} of {count} attempts",
        ["number": .number(share.part), "count": .number(share.whole)]))
  }

  /// Codes outside the window that a correct code of the same user confirmed.
  ///
  /// Others may be guesses.
  private var outside: Figure {
    let outside = offsets.confirmed
    let codes = offsets.accepted + outside
    let share = Message.Value.message(Meter.percent(outside, of: codes))
    return Figure(
      label: Message("Valid codes rejected (30 days)"),
      value: Message.value(.number(outside)),
      change: earlier.map { _ in
        FigureChange(outside - earlierOffsets.confirmed, FigureChange.sinceBefore)
      },
      base: Message("{share} of {count}", ["share": share, "count": .number(codes)]))
  }

  private var without: Figure {
    Figure(
      label: Message("No MFA"),
      value: Message.value(.number(max(policy.users - policy.enrolledUsers - exempt, 0))),
      // How many were exempt isn't known.
      change: exempt > 0
        ? nil
        : before.map {
          FigureChange(
            policy.users - policy.enrolledUsers - ($0.users - $0.enrolled), FigureChange.inMonth)
        },
      base: exempt == 0
        ? Message(
          one: "{count} user with an unverified email",
          other: "{count} users with an unverified email", ["count": .number(unverified)])
        : Message(
          one: "plus {count} exempt user", other: "plus {count} exempt users",
          ["count": .number(exempt)]))
  }
}

struct OverviewCharts: ViewModel {
  let figures: [Figure]
  let enrollment: ChartFrame
  /// Nil for a pool whose codes are checked elsewhere, as are the rejected ones.
  private(set) var attempts: ChartFrame?
  private(set) var rejections: ChartFrame?

  static let keys: Keys<Self> = [
    .list(\.figures),
    .object(\.enrollment),
    .optional(\.attempts),
    .optional(\.rejections),
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
    let figures =
      OverviewFigures(
        policy: policy, unverified: unverified, exempt: exempt.withoutFactor,
        before: before, checks: checks.total,
        earlier: earlier.isWhole ? earlier.total : nil,
        offsets: offsets.latest, earlierOffsets: offsets.before)
    self.figures = context.offers(.secrets) ? figures.all : figures.withoutCodes

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
    guard context.offers(.secrets) else { return }
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
