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
  static func finding(_ evidence: WindowEvidence, _ current: Window?) -> Message {
    guard evidence.isEnough else {
      return Message("Not enough data")
    }
    guard let current else {
      return Message(
        one: "TOTP is off. While it was on, there was {count} correct code",
        other: "TOTP is off. While it was on, there were {count} correct codes",
        ["count": .number(evidence.codes)])
    }
    let rejected = evidence.effect(of: current).rejected
    let window = Message.Value.text(WindowText.name(current))
    let codes = Message.Value.number(evidence.codes)
    return rejected == 0
      ? Message(
        one: "{window} accepts every correct code ({count} code)",
        other: "{window} accepts every correct code ({count} codes)",
        ["window": window, "count": codes])
      : Message(
        one: "{window} rejects {rejected} of {count} correct code ({share})",
        other: "{window} rejects {rejected} of {count} correct codes ({share})",
        [
          "window": window, "rejected": .number(rejected), "count": codes,
          "share": .message(ShareText.estimate(rejected, of: evidence.codes)),
        ])
  }

  static func effect(
    of window: Window, insteadOf current: Window?, _ evidence: WindowEvidence?
  ) -> Message? {
    guard let evidence, evidence.isEnough else { return nil }
    let effect = evidence.effect(of: window)
    let outside = Message.Value.message(
      Message(
        one: "Outside it: {count} correct code (users: {users}).",
        other: "Outside it: {count} correct codes (users: {users}).",
        ["count": .number(effect.rejected), "users": .number(effect.users)]))
    guard let current, current != window else {
      if effect.rejected == 0 { return Message("Every correct code in this period is within it.") }
      return current == nil
        ? .value(outside) : Message("Current value. {outside}", ["outside": outside])
    }
    let change = evidence.change(from: current, to: window)
    if change.codes == 0 {
      return Message(
        "No difference for the codes in this period. {outside}", ["outside": outside])
    }
    let more = Message.Value.number(abs(change.codes))
    let users = Message.Value.number(abs(change.users))
    return change.codes > 0
      ? Message(
        one: """
          Would have accepted {count} more correct code (users with a rejection: {users} fewer). \
          {outside}
          """,
        other: """
          Would have accepted {count} more correct codes (users with a rejection: {users} fewer). \
          {outside}
          """, ["count": more, "users": users, "outside": outside])
      : Message(
        one: """
          Would have rejected {count} more correct code (users with a rejection: {users} more). \
          {outside}
          """,
        other: """
          Would have rejected {count} more correct codes (users with a rejection: {users} more). \
          {outside}
          """, ["count": more, "users": users, "outside": outside])
  }
}
