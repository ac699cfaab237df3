import Identity
import Localization
import OTP

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

  /// The number of valid codes, and the odds of a guess.
  static func valid(_ window: Window, cap: Int) -> Message {
    Message(
      one: "{count} valid code. Odds of guessing it before lockout: 1 in {cases}",
      other: "{count} valid codes. Odds of guessing one before lockout: 1 in {cases}",
      [
        "count": .number(window.codes),
        "cases": .number(cases(GuessingOdds(window, cap: cap).untilClosed) ?? 0),
      ])
  }

  static func untilLocked(_ window: Window, cap: Int) -> Message {
    guard let cases = cases(GuessingOdds(window, cap: cap).untilClosed) else {
      return .verbatim("")
    }
    return Message(
      "Odds of guessing a code before lockout: 1 in {cases}.", ["cases": .number(cases)])
  }
}

enum EvidenceText {
  /// The heading of the evidence for a window that's being tried.
  static func question(_ window: Window, _ evidence: WindowEvidence) -> Message {
    let rejected = evidence.effect(of: window).rejected
    let name = Message.Value.text(WindowText.name(window))
    let codes = Message.Value.number(evidence.codes)
    return rejected == 0
      ? Message(
        one: "Why {window}? It accepts every correct code ({count} code)",
        other: "Why {window}? It accepts every correct code ({count} codes)",
        ["window": name, "count": codes])
      : Message(
        one: "Why {window}? It rejects {rejected} of {count} correct code ({share})",
        other: "Why {window}? It rejects {rejected} of {count} correct codes ({share})",
        [
          "window": name, "rejected": .number(rejected), "count": codes,
          "share": .message(Meter.percent(rejected, of: evidence.codes)),
        ])
  }

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
    return question(current, evidence)
  }
}
