import HTTP
import Identity

/// What the policy form holds, as typed: it can be shown again, or read as a change.
struct PolicyAnswers: Sendable, Equatable {
  var totp: String
  var window: String
  var intervals: String
  var pattern: String

  init(_ policy: Policy) {
    let configuration = policy.configuration
    totp = configuration.isTOTPOn ? "on" : "off"
    window = configuration.totp?.adjacentIntervals == nil ? "default" : "own"
    intervals = String(configuration.window.adjacentIntervals)
    pattern = policy.pattern?.rawValue ?? Self.noPattern
  }

  init(_ form: Form) {
    totp = form.trimmed("totp")
    window = form.trimmed("window")
    intervals = form.trimmed("intervals")
    pattern = form.trimmed("pattern")
  }

  static let noPattern = "none"

  /// The answers as hidden fields carry them from page to page.
  var fields: [HiddenField] {
    [
      HiddenField(name: "totp", value: totp), HiddenField(name: "window", value: window),
      HiddenField(name: "intervals", value: intervals),
      HiddenField(name: "pattern", value: pattern),
    ]
  }

  /// The change that the answers ask for, or what is wrong with them.
  func read() -> Reading {
    var faults: [FieldError] = []
    if totp != "on" && totp != "off" {
      faults.append(FieldError(field: "totp", text: "Say whether TOTP is on or off."))
    }
    var number: Int?
    switch window {
    case "default": break
    case "own":
      number = wholeNumber
      if number == nil {
        faults.append(
          FieldError(field: "intervals", text: "Write a whole number from 0 to 10."))
      }
    default:
      faults.append(
        FieldError(field: "window-default", text: "Choose the default or a number of your own."))
    }
    let chosen = EnrolmentPattern(rawValue: pattern)
    if chosen == nil && pattern != Self.noPattern {
      faults.append(
        FieldError(field: "pattern-\(Self.noPattern)", text: "Choose one of the patterns, or none.")
      )
    }
    guard faults.isEmpty else { return .faults(faults) }
    return .change(PolicyChangeRequest(isOn: totp == "on", intervals: number, pattern: chosen))
  }

  /// 0 to 10 in ASCII digits; `+5`, `５` and `5.0` are not taken.
  private var wholeNumber: Int? {
    guard (1...2).contains(intervals.utf8.count),
      intervals.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(intervals), Window.range.contains(number)
    else { return nil }
    return number
  }

  enum Reading {
    case change(PolicyChangeRequest)
    case faults([FieldError])
  }
}

/// What somebody wants the policy to be, as far as the form goes.
struct PolicyChangeRequest: Sendable, Equatable {
  let isOn: Bool
  /// Nil for the default.
  let intervals: Int?
  let pattern: EnrolmentPattern?

  /// The change made to a policy; what the form does not show stays.
  func applied(to edit: PolicyEdit) -> PolicyEdit {
    var edit = edit
    apply(to: &edit)
    return edit
  }

  func apply(to edit: inout PolicyEdit) {
    edit.pattern = pattern
    let old = edit.configuration.totp
    let state: MFAState =
      isOn ? (old?.state == .mandatory ? .mandatory : .enabled) : .disabled
    // Off by default needs no entry, so none is made.
    if old == nil && !isOn && intervals == nil { return }
    edit.configuration.totp = TOTPConfiguration(state: state, adjacentIntervals: intervals)
  }
}
