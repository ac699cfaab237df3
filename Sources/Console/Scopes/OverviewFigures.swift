import Identity
import Localization

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

  var all: [Figure] {
    [enrolled, accepted, outside, without]
  }

  private var enrolled: Figure {
    let share = Share(part: policy.enrolledUsers, whole: policy.users)
    return Figure(
      label: Message("scopes.mfa-enrollment"), value: share.percent,
      change: share.change(from: before.map { Share(part: $0.enrolled, whole: $0.users) })
        .map(Self.inMonth),
      base: Message(
        "scopes.of-users", ["number": .number(share.part), "count": .number(share.whole)]))
  }

  private var accepted: Figure {
    let share = Share(part: checks.accepted, whole: checks.all)
    return Figure(
      label: Message("scopes.accepted-codes"), value: share.percent,
      change: share.change(from: earlier.map { Share(part: $0.accepted, whole: $0.all) })
        .map(Self.sinceBefore),
      base: Message(
        "scopes.of-attempts", ["number": .number(share.part), "count": .number(share.whole)]))
  }

  /// Codes outside the window that a correct code of the same user confirmed.
  ///
  /// Others may be guesses: they are shown apart, as in the evidence for a window.
  private var outside: Figure {
    let outside = offsets.confirmed
    let codes = offsets.accepted + outside
    let share = Message.Value.message(Meter.percent(outside, of: codes))
    let possible = offsets.unconfirmed
    return Figure(
      label: Message("scopes.codes-outside"), value: Message.value(.number(outside)),
      change: earlier.map { _ in
        Self.sinceBefore(difference(from: earlierOffsets.confirmed, to: outside))
      },
      base: possible == 0
        ? Message("scopes.of-correct-codes", ["share": share, "count": .number(codes)])
        : Message(
          "scopes.of-correct-codes-without-unconfirmed",
          ["share": share, "count": .number(codes), "unconfirmed": .number(possible)]))
  }

  private var without: Figure {
    Figure(
      label: Message("scopes.no-mfa"),
      value: Message.value(.number(max(policy.users - policy.enrolledUsers - exempt, 0))),
      // How many were exempt isn't known.
      change: exempt > 0
        ? nil
        : before.map {
          Self.inMonth(
            difference(from: $0.users - $0.enrolled, to: policy.users - policy.enrolledUsers))
        },
      base: exempt == 0
        ? Message("scopes.with-unverified-email", ["count": .number(unverified)])
        : Message("scopes.and-exempt", ["count": .number(exempt)]))
  }

  /// A change of a state within the period.
  private static func inMonth(_ change: Message) -> Message {
    Message("scopes.change-in-month", ["change": .message(change)])
  }

  /// A change of a count from the period before.
  private static func sinceBefore(_ change: Message) -> Message {
    Message("scopes.change-from-month-before", ["change": .message(change)])
  }

  private func difference(from old: Int, to new: Int) -> Message {
    if new == old { return Message("scopes.no-change") }
    return new > old
      ? Message("scopes.up", ["number": .number(new - old)])
      : Message("scopes.down", ["number": .number(old - new)])
  }
}

private struct Share {
  let part: Int
  let whole: Int

  var percent: Message { Meter.percent(part, of: whole) }

  /// The change in points of whole percentages; nil without a base.
  func change(from old: Share?) -> Message? {
    guard let old, old.whole > 0, whole > 0 else { return nil }
    let points = part * 100 / whole - old.part * 100 / old.whole
    if points == 0 { return Message("scopes.no-change") }
    return points > 0
      ? Message("scopes.up-points", ["count": .number(points)])
      : Message("scopes.down-points", ["count": .number(-points)])
  }
}
