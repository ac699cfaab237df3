import Identity
import Localization
import MailText
import OTP
import Templating

extension MFAConfiguration {
  /// The acceptance window; nil when no codes are accepted.
  var accepted: Window? { isTOTPOn ? window : nil }

  func chip(in kind: PoolKind) -> Markup {
    if isUnclear(in: kind) { return Self.unclearChip }
    return switch totp?.state {
    case .enabled: Self.onChip
    case .mandatory: Self.mandatoryChip
    case .unspecified: Self.unstatedChip
    case .disabled, nil: Self.offChip
    }
  }

  var smsChip: Markup { isSMSOn ? Self.onChip : Self.offChip }

  /// Whether TOTP is treated as enabled because its state is unset.
  var isUnstated: Bool { totp?.state == .unspecified }

  private static let unclearChip: Markup = #"\#(unclear) <span class="sub">\#(mfaOff)</span>"#
  private static let unclear = Chip.look(Message("unclear"))
  private static let mfaOff = Message("TOTP on, MFA off")
  private static let onChip = Chip.on(Message("on"))
  private static let mandatoryChip = Chip.on(Message("on, mandatory"))
  private static let unstatedChip = Chip.look(Message("on (state unset)"))
  private static let offChip = Chip.off(Message("off"))
}

extension PoolKind {
  /// The server where the users are; nil for hosted ones.
  var chip: Markup? {
    switch self {
    case .hosted: nil
    case .identityPlatform: Self.google
    case .countersign: Self.other
    }
  }

  private static let google = Chip.plain(.verbatim("Google"))
  private static let other = Chip.plain(.verbatim("Countersign"))
}

extension EnrollmentPattern {
  var name: Message {
    switch self {
    case .mandatory: Message("Mandatory at sign-up")
    case .skippable: Message("Skippable at sign-up")
    case .account: Message("From the account page")
    case .stepUp: Message("Step-up")
    }
  }

  var hint: Message {
    switch self {
    case .mandatory: Message("Users must enroll before they can use the application.")
    case .skippable: Message("Offered at sign-up. Users can skip it.")
    case .account: Message("Users turn it on themselves.")
    case .stepUp: Message("Required when a user opens a sensitive feature.")
    }
  }
}

enum PatternText {
  /// The name with its start date, `Mandatory from Dec 1, 2026`; nil without a pattern.
  static func name(_ pattern: EnrollmentPattern?, from day: Day?) -> Message? {
    guard let pattern else { return nil }
    guard pattern == .mandatory, let day else { return pattern.name }
    return Message("Mandatory from {day}", ["day": Times.value(day)])
  }
}

extension PolicyEdit {
  /// The name of the enrollment pattern, with its enforcement if it has an effect; nil if none is set.
  var patternName: Message? {
    guard let name = PatternText.name(pattern, from: mandatoryFrom) else { return nil }
    guard let enforcement = effectiveEnforcement else { return name }
    return Message(
      "{pattern} (server: {enforcement})",
      ["pattern": .message(name), "enforcement": .message(enforcement.message)])
  }
}

enum OddsText {
  /// The chance of guessing a code of one account, before the first block and before its codes are
  /// locked; nil without a window.
  static func sentence(_ window: Window?, cap: Int) -> Message? {
    guard let window else { return nil }
    let odds = GuessingOdds(window, cap: cap)
    let (first, longest) = (GuessingOdds.firstWait, GuessingOdds.longestWait)
    return Message(
      """
      Chance of guessing a code: {untilBlock} before the first block ({guesses} incorrect codes; \
      blocks last {first}, doubling up to {longest}) and {untilLocked} before codes are locked \
      ({cap} incorrect codes in a row).
      """,
      [
        "untilBlock": .message(chance(odds.untilBlock)),
        "guesses": .number(GuessingOdds.guessesUntilBlock),
        "first": .message(Formatted.duration(seconds: first)),
        "longest": .message(Formatted.duration(seconds: longest)),
        "untilLocked": .message(chance(odds.untilClosed)), "cap": .number(cap),
      ])
  }

  /// Formats a probability of 0 to 1 as one in a number of cases: `1 in 33,333`.
  static func chance(_ chance: Double) -> Message {
    cases(chance).map { Message("1 in {cases}", ["cases": .number($0)]) } ?? .verbatim("–")
  }

  /// A number of expected hits with one decimal: `0.3`, `21.0`.
  static func hits(_ number: Double) -> Message {
    let tenths = Int((number * 10).rounded())
    return tenths == 0 && number > 0
      ? Message("< {share}", ["share": .decimal(1, places: 1)])
      : .value(.decimal(tenths, places: 1))
  }

  /// A number for a file, with three significant digits: `0.0055`.
  static func inFile(_ number: Double) -> String {
    let (number, places) = significant(number)
    return Percentage.text(number, places: places)
  }

  /// Rounds a number, at least 0, to three significant digits, but never to more than units.
  ///
  /// - Returns: The rounded number in units of its last decimal place, and the number of places.
  private static func significant(_ number: Double) -> (number: Int, places: Int) {
    var (scaled, places) = (number, 0)
    while scaled > 0, scaled < 99.95, places < 12 { (scaled, places) = (scaled * 10, places + 1) }
    return (Int(scaled.rounded()), places)
  }
}

enum WindowText {
  /// That a window isn't known, and why; nil if it is.
  static func unknown(_ configuration: MFAConfiguration, in pool: Pool) -> Message? {
    guard configuration.isWindowUnsaid else { return nil }
    return pool.kind == .identityPlatform
      ? Message("0 or default (5): Google doesn’t say.")
      : Message("0 or default (5): the other server doesn’t say.")
  }

  /// The number of valid codes and how long each is valid.
  static func explanation(_ window: Window?) -> Message {
    guard let window else {
      return Message("While TOTP is off, users aren’t asked for codes and no codes are accepted.")
    }
    let life = Message.Value.message(Formatted.duration(seconds: window.lifetime))
    guard window.adjacentIntervals > 0 else {
      return Message(
        """
        Valid codes at any moment: 1. It’s valid for {lifetime}. Codes that are entered later, or \
        come from a device whose clock is off by more than that, are rejected.
        """, ["lifetime": life])
    }
    return Message(
      """
      Valid codes at any moment: {codes}. Each is valid for {lifetime}: from {side} before its \
      own interval to {side} after it, so a device clock can be up to {side} slow or fast.
      """,
      [
        "codes": .number(window.codes), "lifetime": life,
        "side": .message(Formatted.duration(seconds: window.lateness)),
      ])
  }
}

extension PolicyChange {
  var oldValue: Message { from.message }

  var newValue: Message { to.message }

  /// The field with both values, such as `SMS off → on`.
  var sentence: Message {
    Message(
      "{field} {from} → {to}",
      ["field": .message(field.name), "from": .message(oldValue), "to": .message(newValue)])
  }

  /// Both values, such as `off → on`.
  var values: Message {
    Message("{from} → {to}", ["from": .message(oldValue), "to": .message(newValue)])
  }
}

extension PolicyChange.Field {
  var name: Message {
    switch self {
    case .totp: .verbatim("TOTP")
    case .adjacentIntervals: Message("adjacent intervals")
    case .sms: .verbatim("SMS")
    case .state: Message("state")
    case .pattern: Message("enrollment pattern")
    case .enforcement: Message("server enforcement")
    }
  }

  var label: Message {
    switch self {
    case .totp: .verbatim("TOTP")
    case .adjacentIntervals: Message("Adjacent intervals")
    case .sms: .verbatim("SMS")
    case .state: Message("State")
    case .pattern: Message("Enrollment pattern")
    case .enforcement: Message("Server enforcement")
    }
  }
}

enum PolicySentence {
  /// The policy in effect: “TOTP is on, ±1 interval, mandatory at sign-up”.
  static func text(_ edit: PolicyEdit) -> Message {
    guard let window = edit.configuration.accepted else { return Message("TOTP is off") }
    if edit.configuration.isWindowUnsaid { return Message("TOTP is on, intervals 0 or default") }
    let count = Message.Value.number(window.adjacentIntervals)
    switch edit.pattern {
    case nil:
      return Message(
        one: "TOTP is on, ±{count} interval", other: "TOTP is on, ±{count} intervals",
        ["count": count])
    case .mandatory?:
      guard let day = edit.mandatoryFrom else {
        return Message(
          one: "TOTP is on, ±{count} interval, mandatory at sign-up",
          other: "TOTP is on, ±{count} intervals, mandatory at sign-up", ["count": count])
      }
      return Message(
        one: "TOTP is on, ±{count} interval, mandatory from {day}",
        other: "TOTP is on, ±{count} intervals, mandatory from {day}",
        ["count": count, "day": Times.value(day)])
    case .skippable?:
      return Message(
        one: "TOTP is on, ±{count} interval, skippable at sign-up",
        other: "TOTP is on, ±{count} intervals, skippable at sign-up", ["count": count])
    case .account?:
      return Message(
        one: "TOTP is on, ±{count} interval, from the account page",
        other: "TOTP is on, ±{count} intervals, from the account page", ["count": count])
    case .stepUp?:
      return Message(
        one: "TOTP is on, ±{count} interval, step-up",
        other: "TOTP is on, ±{count} intervals, step-up", ["count": count])
    }
  }
}
