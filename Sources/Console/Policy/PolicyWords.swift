import Identity
import Localization
import OTP
import Templating

extension MFAConfiguration {
  /// The acceptance window; nil when no codes are accepted.
  var accepted: Window? { isTOTPOn ? window : nil }

  /// The TOTP state as a chip.
  var chip: Markup {
    switch totp?.state {
    case .enabled: Self.onChip
    case .mandatory: Self.mandatoryChip
    case .unspecified: Self.unstatedChip
    case .disabled, nil: Self.offChip
    }
  }

  /// Whether TOTP is treated as enabled because its state is unset.
  var isUnstated: Bool { totp?.state == .unspecified }

  private static let onChip = Chip.on(Message("common.on"))
  private static let mandatoryChip = Chip.on(Message("common.on-mandatory"))
  private static let unstatedChip = Chip.look(Message("common.on-unset"))
  private static let offChip = Chip.off(Message("common.off"))
}

extension EnrollmentPattern {
  /// The name shown in lists and forms.
  var name: String {
    switch self {
    case .mandatory: "Mandatory at sign-up"
    case .skippable: "Skippable at sign-up"
    case .account: "From the account page"
    case .stepUp: "Step-up"
    }
  }

  /// The description shown in the form.
  var hint: String {
    switch self {
    case .mandatory: "Users must enroll before they can use the application."
    case .skippable: "Offered at sign-up; users can skip it."
    case .account: "Users turn it on themselves."
    case .stepUp: "Required when a user opens a sensitive feature."
    }
  }
}

/// Formats enrollment patterns.
enum PatternWords {
  /// The name with its start date, `Mandatory from Dec 1, 2026`; nil without a pattern.
  static func name(_ pattern: EnrollmentPattern?, from day: Day?) -> String? {
    guard let pattern else { return nil }
    guard pattern == .mandatory, let day else { return pattern.name }
    return "Mandatory from \(Times.words(day))"
  }
}

extension Policy {
  /// The name of the enrollment pattern; nil if none is set.
  var patternName: String? { PatternWords.name(pattern, from: mandatoryFrom) }
}

extension TenantSummary {
  /// The name of the enrollment pattern; nil if none is set.
  var patternName: String? { PatternWords.name(pattern, from: mandatoryFrom) }
}

/// Describes the odds of guessing a code.
enum OddsWords {
  /// The chance of guessing a code of one account, before the first block and before its codes are
  /// locked.
  static func sentence(_ window: Window?, cap: Int) -> String {
    guard let window else { return "" }
    let odds = GuessingOdds(window, cap: cap)
    let (first, longest) = (GuessingOdds.firstWait, GuessingOdds.longestWait)
    return
      "Chance of guessing a code: \(chance(odds.untilBlock)) before the first block (\(GuessingOdds.guessesUntilBlock) wrong codes; blocks last \(Words.duration(seconds: first)), doubling up to \(Words.duration(seconds: longest))) and \(chance(odds.untilClosed)) before codes are locked (\(cap) wrong codes in a row)."
  }

  /// Formats a probability of 0 to 1 as a percentage with three significant digits: `0.0055%`.
  static func chance(_ chance: Double) -> String {
    var (scaled, places) = (chance * 100, 0)
    while scaled > 0, scaled < 99.95, places < 12 { (scaled, places) = (scaled * 10, places + 1) }
    var digits = String(Int(scaled.rounded()))
    guard places > 0 else { return digits + "%" }
    while digits.utf8.count <= places { digits = "0" + digits }
    var fraction = digits.suffix(places)
    while fraction.last == "0" { fraction.removeLast() }
    let whole = digits.dropLast(places)
    return fraction.isEmpty ? "\(whole)%" : "\(whole).\(fraction)%"
  }
}

/// Describes acceptance windows.
enum WindowWords {
  /// The number of valid codes and how long each is valid.
  static func explanation(_ window: Window?) -> String {
    guard let window else {
      return "While TOTP is off, users aren’t asked for codes and no codes are accepted."
    }
    let life = Words.duration(seconds: window.lifetime)
    guard window.adjacentIntervals > 0 else {
      return
        "Valid codes at any moment: 1. It’s valid for \(life), so codes from a device whose clock is off by more, or entered later, are rejected."
    }
    let side = Words.duration(seconds: window.lateness)
    return
      "Valid codes at any moment: \(window.codes). Each is valid for \(life): from \(side) before its own interval to \(side) after it, so a device clock can be up to \(side) slow or fast."
  }

  /// The explanations and odds for off and for 0 to 10 intervals, one line each with a tab between
  /// them, for the script that redraws the strip.
  static func explanations(cap: Int) -> String {
    ([nil] + Window.range.map(Window.init(adjacentIntervals:)))
      .map { "\(explanation($0))\t\(OddsWords.sentence($0, cap: cap))" }.joined(separator: "\n")
  }

  /// The adjacent intervals for a fact or a table, such as `5 (default)`.
  static func number(_ configuration: MFAConfiguration) -> String {
    configuration.totp?.adjacentIntervals.map(String.init)
      ?? "\(Window.standard.adjacentIntervals) (default)"
  }
}
