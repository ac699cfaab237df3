import Identity
import Localization

/// The key figures of a pool with their change in 30 days.
struct OverviewFigures {
  let policy: Policy
  let unverified: Int
  /// The numbers of users 30 days ago; nil if they aren't known.
  let before: EnrollmentPoint?
  let checks: CheckHistory.Sums
  /// The code attempts of the 30 days before; nil if they weren't recorded from the start.
  let earlier: CheckHistory.Sums?

  var all: [Figure] {
    [enrolled, accepted, outside, without]
  }

  private var enrolled: Figure {
    Figure(
      label: Message("scopes.mfa-enrollment"),
      value: Meter.percent(policy.enrolledUsers, of: policy.users),
      change: points(
        from: before.map { ($0.enrolled, $0.users) }, to: (policy.enrolledUsers, policy.users)
      ).map(Self.inMonth),
      base: Message(
        "scopes.of-users",
        ["number": .number(policy.enrolledUsers), "count": .number(policy.users)]))
  }

  private var accepted: Figure {
    Figure(
      label: Message("scopes.accepted-codes"),
      value: Meter.percent(checks.accepted, of: checks.all),
      change: points(
        from: earlier.map { ($0.accepted, $0.all) }, to: (checks.accepted, checks.all)
      ).map(Self.sinceBefore),
      base: Message(
        "scopes.of-attempts",
        ["number": .number(checks.accepted), "count": .number(checks.all)]))
  }

  private var outside: Figure {
    Figure(
      label: Message("scopes.codes-outside"), value: Message.value(.number(checks.outside)),
      change: earlier.map {
        Self.sinceBefore(difference(from: $0.outside, to: checks.outside))
      },
      base: Message(
        "scopes.of-correct-codes",
        [
          "share": .message(
            Meter.percent(checks.outside, of: checks.outside + checks.accepted)),
          "count": .number(checks.outside + checks.accepted),
        ]))
  }

  private var without: Figure {
    Figure(
      label: Message("scopes.no-mfa"),
      value: Message.value(.number(policy.users - policy.enrolledUsers)),
      change: before.map {
        Self.inMonth(
          difference(from: $0.users - $0.enrolled, to: policy.users - policy.enrolledUsers))
      },
      base: Message("scopes.with-unverified-email", ["count": .number(unverified)]))
  }

  /// A change of a state within the period.
  private static func inMonth(_ change: Message) -> Message {
    Message("scopes.change-in-month", ["change": .message(change)])
  }

  /// A change of a count from the period before.
  private static func sinceBefore(_ change: Message) -> Message {
    Message("scopes.change-from-month-before", ["change": .message(change)])
  }

  /// The change of a share in points of whole percentages; nil without a base.
  private func points(from old: (Int, Int)?, to new: (Int, Int)) -> Message? {
    guard let old, old.1 > 0, new.1 > 0 else { return nil }
    let points = new.0 * 100 / new.1 - old.0 * 100 / old.1
    if points == 0 { return Message("scopes.no-change") }
    return points > 0
      ? Message("scopes.up-points", ["count": .number(points)])
      : Message("scopes.down-points", ["count": .number(-points)])
  }

  private func difference(from old: Int, to new: Int) -> Message {
    if new == old { return Message("scopes.no-change") }
    return new > old
      ? Message("scopes.up", ["number": .number(new - old)])
      : Message("scopes.down", ["number": .number(old - new)])
  }
}
