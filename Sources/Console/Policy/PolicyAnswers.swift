import HTTP
import Identity

/// What the policy form holds, as typed: it can be shown again, or read as a change.
struct PolicyAnswers: Sendable, Equatable {
  var totp: String
  var window: String
  var intervals: String
  var sms: String
  var pattern: String
  var from: String

  init(_ edit: PolicyEdit) {
    let configuration = edit.configuration
    totp = configuration.isTOTPOn ? "on" : "off"
    window = configuration.totp?.adjacentIntervals == nil ? "default" : "own"
    intervals = String(configuration.window.adjacentIntervals)
    sms = configuration.isSMSOn ? "on" : "off"
    pattern = edit.pattern?.rawValue ?? Self.noPattern
    from = edit.mandatoryFrom?.description ?? ""
  }

  init(_ form: Form) {
    totp = form.trimmed("totp")
    window = form.trimmed("window")
    intervals = form.trimmed("intervals")
    sms = form.trimmed("sms")
    pattern = form.trimmed("pattern")
    from = form.trimmed("from")
  }

  static let noPattern = "none"

  /// The answers as hidden fields carry them from page to page.
  var fields: [HiddenField] {
    [
      HiddenField(name: "totp", value: totp), HiddenField(name: "window", value: window),
      HiddenField(name: "intervals", value: intervals), HiddenField(name: "sms", value: sms),
      HiddenField(name: "pattern", value: pattern), HiddenField(name: "from", value: from),
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
    if sms != "on" && sms != "off" {
      faults.append(FieldError(field: "sms", text: "Say whether codes by SMS are on or off."))
    }
    let chosen = EnrollmentPattern(rawValue: pattern)
    if chosen == nil && pattern != Self.noPattern {
      faults.append(
        FieldError(field: "pattern-\(Self.noPattern)", text: "Choose one of the patterns, or none.")
      )
    }
    // The day of another pattern may be anything: it does not count.
    let day = chosen == .mandatory && !from.isEmpty ? Day(from) : nil
    if chosen == .mandatory, !from.isEmpty, day == nil {
      faults.append(
        FieldError(field: "from", text: "Write a day of the calendar as 2026-12-01, or nothing."))
    }
    guard faults.isEmpty else { return .faults(faults) }
    return .change(
      PolicyChangeRequest(
        isOn: totp == "on", intervals: number, isSMSOn: sms == "on", pattern: chosen,
        mandatoryFrom: day))
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
  let isSMSOn: Bool
  let pattern: EnrollmentPattern?
  let mandatoryFrom: Day?

  /// The change made to a policy; what the form does not show stays.
  func applied(to edit: PolicyEdit) -> PolicyEdit {
    var edit = edit
    edit.pattern = pattern
    edit.mandatoryFrom = mandatoryFrom
    edit.configuration.setSMS(isSMSOn)
    let old = edit.configuration.totp
    let state: MFAState =
      isOn ? (old?.state == .mandatory ? .mandatory : .enabled) : .disabled
    // Off by default needs no entry, so none is made.
    if old == nil && !isOn && intervals == nil { return edit }
    edit.configuration.totp = TOTPConfiguration(state: state, adjacentIntervals: intervals)
    return edit
  }
}

/// A change that is asked for: what a form says, or the values of the project.
enum PolicyProposal: Sendable {
  case answers(PolicyAnswers, PolicyChangeRequest)
  /// The project's policy as it stands.
  case likeProject(Policy)

  /// What a policy becomes.
  func applied(to edit: PolicyEdit) -> PolicyEdit {
    switch self {
    case .answers(_, let request): request.applied(to: edit)
    case .likeProject(let policy): policy.edit
    }
  }

  /// What the form shows when the values are to be changed by hand.
  var answers: PolicyAnswers {
    switch self {
    case .answers(let answers, _): answers
    case .likeProject(let policy): PolicyAnswers(policy.edit)
    }
  }

  /// The proposal as hidden fields carry it from page to page.
  var fields: [HiddenField] {
    switch self {
    case .answers(let answers, _): answers.fields
    case .likeProject(let policy):
      [
        HiddenField(name: "change", value: "project"),
        HiddenField(name: "source", value: String(policy.version)),
      ]
    }
  }
}
