import Identity
import Templating

extension MFAConfiguration {
  /// The window in which codes are accepted; nil when none is.
  var accepted: Window? { isTOTPOn ? window : nil }

  /// On or off as a chip.
  var chip: Markup {
    switch totp?.state {
    case .enabled: Self.onChip
    case .mandatory: Self.mandatoryChip
    case .unspecified: Self.unstatedChip
    case .disabled, nil: Self.offChip
    }
  }

  /// Whether TOTP counts as on although no state was written.
  var isUnstated: Bool { totp?.state == .unspecified }

  private static let onChip = Chip.on("on")
  private static let mandatoryChip = Chip.on("on, mandatory")
  private static let unstatedChip = Chip.look("on (state not given)")
  private static let offChip = Chip.off("off")
}

extension EnrollmentPattern {
  /// The name in lists and forms.
  var name: String {
    switch self {
    case .mandatory: "Mandatory at sign-up"
    case .skippable: "Skippable at sign-up"
    case .account: "From the account page"
    case .stepUp: "Step-up"
    }
  }

  /// One sentence for the one who chooses.
  var hint: String {
    switch self {
    case .mandatory: "Everybody enrolls before they are let in."
    case .skippable: "Offered when signing up, can be put off."
    case .account: "Users who care switch it on themselves."
    case .stepUp: "Asked for when a sensitive feature is used."
    }
  }
}

/// Enrollment patterns in words.
enum PatternWords {
  /// The name with its first day, `Mandatory from 1 Dec 2026`; nil when none was chosen.
  static func name(_ pattern: EnrollmentPattern?, from day: Day?) -> String? {
    guard let pattern else { return nil }
    guard pattern == .mandatory, let day else { return pattern.name }
    return "Mandatory from \(Times.words(day))"
  }
}

extension Policy {
  /// The enrollment pattern in words; nil when none was chosen.
  var patternName: String? { PatternWords.name(pattern, from: mandatoryFrom) }
}

extension TenantSummary {
  /// The enrollment pattern in words; nil when none was chosen.
  var patternName: String? { PatternWords.name(pattern, from: mandatoryFrom) }
}

/// What guessing codes comes to, in words.
enum OddsWords {
  /// How far somebody comes who guesses at one account.
  static func sentence(_ window: Window?, cap: Int) -> String {
    guard let window else { return "" }
    let odds = GuessingOdds(window, cap: cap)
    let (first, longest) = (GuessingOdds.firstWait, GuessingOdds.longestWait)
    return
      "Somebody who guesses until the block (\(GuessingOdds.guessesUntilBlock) wrong codes, then \(Words.duration(seconds: first)) doubling to \(Words.duration(seconds: longest))) hits with a chance of \(chance(odds.untilBlock)), and until the codes are closed (\(cap) wrong in a row) of \(chance(odds.untilClosed))."
  }

  /// A chance of 0 to 1 in per cent, with three digits that count: `0.0055 %`.
  static func chance(_ chance: Double) -> String {
    var (scaled, places) = (chance * 100, 0)
    while scaled > 0, scaled < 99.95, places < 12 { (scaled, places) = (scaled * 10, places + 1) }
    var digits = String(Int(scaled.rounded()))
    guard places > 0 else { return digits + " %" }
    while digits.utf8.count <= places { digits = "0" + digits }
    var fraction = digits.suffix(places)
    while fraction.last == "0" { fraction.removeLast() }
    let whole = digits.dropLast(places)
    return fraction.isEmpty ? "\(whole) %" : "\(whole).\(fraction) %"
  }
}

/// Windows in words.
enum WindowWords {
  /// How many codes count and how old one may be.
  static func explanation(_ window: Window?) -> String {
    guard let window else { return "No code is asked for and none is accepted while TOTP is off." }
    let life = Words.duration(seconds: window.lifetime)
    guard window.adjacentIntervals > 0 else {
      return
        "1 code counts at any moment and lives \(life). A clock that is off by more is refused, and so is a slow typist."
    }
    let side = Words.duration(seconds: window.lateness)
    return
      "\(window.codes) codes count at any moment. Each lives \(life): from \(side) before its own half minute to \(side) after it, so a clock may be \(side) slow or fast."
  }

  /// The explanations and odds for off, 0, 1, … 10, one per line with a tab between them, for the
  /// script that redraws the strip.
  static func explanations(cap: Int) -> String {
    ([nil] + Window.range.map(Window.init(adjacentIntervals:)))
      .map { "\(explanation($0))\t\(OddsWords.sentence($0, cap: cap))" }.joined(separator: "\n")
  }

  /// The number for a fact or a table: `5, default`.
  static func number(_ configuration: MFAConfiguration) -> String {
    configuration.totp?.adjacentIntervals.map(String.init)
      ?? "\(Window.standard.adjacentIntervals), default"
  }
}
