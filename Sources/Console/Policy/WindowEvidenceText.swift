import HTTP
import Identity
import Localization
import OTP
import Templating

/// Formats shares exactly, from integers.
enum ShareText {
  /// A share as a percentage, rounded down to hundredths: `99.93%`.
  static func percent(_ part: Int, of whole: Int) -> Message {
    guard whole > 0 else { return .verbatim("–") }
    return percent(basisPoints: part * 10_000 / whole)
  }

  /// A share of a sample with its 95% confidence interval: `3.22%, 95% interval 2.29%–4.52%`.
  static func estimate(_ part: Int, of whole: Int) -> Message {
    guard let interval = interval(part, of: whole) else { return percent(part, of: whole) }
    return Message(
      "{share}, 95% interval {interval}",
      ["share": .message(percent(part, of: whole)), "interval": .message(interval)])
  }

  /// The 95% confidence interval of a share of a sample; nil without a sample.
  static func interval(_ part: Int, of whole: Int) -> Message? {
    bounds(part, of: whole).map {
      Message(
        "{lower}–{upper}",
        [
          "lower": .message(percent(basisPoints: $0.lowerBound)),
          "upper": .message(percent(basisPoints: $0.upperBound)),
        ])
    }
  }

  /// The interval in hundredths of a percent, rounded so that it contains the exact one.
  static func bounds(_ part: Int, of whole: Int) -> ClosedRange<Int>? {
    WilsonInterval(part, of: whole).map {
      Int(($0.lower * 10_000).rounded(.down))...Int(($0.upper * 10_000).rounded(.up))
    }
  }

  /// Hundredths of a percent as a percentage: `99.9%`.
  static func percent(basisPoints: Int) -> Message {
    .value(.percentage(basisPoints, places: 2))
  }
}

extension WindowText {
  static func name(_ window: Window) -> String { "±\(window.adjacentIntervals)" }

  /// The window and the number of valid codes, `±3, 7 valid codes`.
  static func codes(_ window: Window) -> Message {
    Message(
      one: "{window}, {count} valid code", other: "{window}, {count} valid codes",
      ["window": .text(name(window)), "count": .number(window.codes)])
  }
}

extension OddsText {
  /// A chance as one in a number of cases; nil if it's 0.
  static func cases(_ chance: Double) -> Int? {
    chance > 0 ? Int((1 / chance).rounded()) : nil
  }

  static func untilLocked(_ window: Window, cap: Int) -> Message {
    guard let cases = cases(GuessingOdds(window, cap: cap).untilClosed) else {
      return .verbatim("")
    }
    return Message(
      "A guess succeeds before lockout in 1 of {cases} cases.", ["cases": .number(cases)])
  }
}

enum EvidenceText {
  static func codes(_ count: Int) -> Message.Value {
    .message(
      Message(
        one: "{count} correct code", other: "{count} correct codes", ["count": .number(count)]))
  }

  static func users(_ count: Int) -> Message.Value {
    .message(Message(one: "{count} user", other: "{count} users", ["count": .number(count)]))
  }

  static func finding(_ evidence: WindowEvidence, _ current: Window?) -> Message {
    guard evidence.isEnough else {
      return Message("Not enough data")
    }
    guard let current else {
      return Message("TOTP is off: {codes} while it was on", ["codes": codes(evidence.codes)])
    }
    let rejected = evidence.effect(of: current).rejected
    let window = Message.Value.text(WindowText.name(current))
    return rejected == 0
      ? Message(
        "{window} accepts every correct code ({codes})",
        ["window": window, "codes": codes(evidence.codes)])
      : Message(
        "{window} rejects {rejected} of {codes} ({share})",
        [
          "window": window, "rejected": .number(rejected), "codes": codes(evidence.codes),
          "share": .message(ShareText.estimate(rejected, of: evidence.codes)),
        ])
  }

  static func effect(
    of window: Window, insteadOf current: Window?, _ evidence: WindowEvidence?
  ) -> Message? {
    guard let evidence, evidence.isEnough else { return nil }
    let effect = evidence.effect(of: window)
    let (rejected, affected) = (codes(effect.rejected), users(effect.users))
    guard let current, current != window else {
      if effect.rejected == 0 { return Message("Every correct code in this period is within it.") }
      return current == nil
        ? Message("Outside it: {codes} from {users}.", ["codes": rejected, "users": affected])
        : Message(
          "Current value. Outside it: {codes} from {users}.",
          ["codes": rejected, "users": affected])
    }
    let change = evidence.change(from: current, to: window)
    if change.codes == 0 {
      return Message(
        "No difference for the codes in this period. Still outside: {codes} from {users}.",
        ["codes": rejected, "users": affected])
    }
    let more = (
      codes: Message(
        one: "{count} more correct code", other: "{count} more correct codes",
        ["count": .number(abs(change.codes))]),
      users: Message(
        one: "{count} more user", other: "{count} more users", ["count": .number(abs(change.users))]
      )
    )
    return change.codes > 0
      ? Message(
        """
        Would have accepted {codes}, and {users} would have had no rejection. Still outside: \
        {rejected} from {affected}.
        """,
        [
          "codes": .message(more.codes), "users": .message(more.users), "rejected": rejected,
          "affected": affected,
        ])
      : Message(
        """
        Would have rejected {codes}, affecting {users}. Outside in total: {rejected} from \
        {affected}.
        """,
        [
          "codes": .message(more.codes), "users": .message(more.users), "rejected": rejected,
          "affected": affected,
        ])
  }
}
