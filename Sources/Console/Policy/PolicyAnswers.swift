import HTTP
import Identity
import Localization
import OTP

/// The values of the policy form, as typed.
struct PolicyAnswers: Sendable, Equatable {
  var totp: String
  var intervals: String
  var sms: String
  var pattern: String
  var from: String
  var enforcement: String
  var enforcedFrom: String
  var grace: String

  init(_ edit: PolicyEdit) {
    let configuration = edit.configuration
    totp = configuration.isTOTPOn ? "on" : "off"
    intervals =
      configuration.totp?.intervals == .unsaid
      ? Self.unsaid
      : configuration.totp?.adjacentIntervals.map { String($0) } ?? WindowChoice.byDefault
    sms = configuration.isSMSOn ? "on" : "off"
    pattern = edit.pattern?.rawValue ?? Self.noPattern
    from = edit.mandatoryFrom?.description ?? ""
    enforcement = edit.enforcement?.mode.rawValue ?? Self.unenforced
    enforcedFrom = edit.enforcement?.from.description ?? ""
    grace = String(edit.enforcement?.graceDays ?? Self.usualGrace)
  }

  /// Creates those of a connected pool's form, which has only TOTP and its intervals.
  init(_ form: Form, over stored: PolicyEdit) {
    self.init(stored)
    totp = form.trimmed("totp")
    intervals = form.trimmed("intervals")
    enforcement = ""
  }

  init(_ form: Form) {
    totp = form.trimmed("totp")
    intervals = form.trimmed("intervals")
    sms = form.trimmed("sms")
    pattern = form.trimmed("pattern")
    from = form.trimmed("from")
    enforcement = form.trimmed("enforcement")
    enforcedFrom = form.trimmed("enforced-from")
    grace = form.trimmed("grace")
  }

  /// Intervals that the server of a connected pool doesn't tell, and that stay as they are.
  static let unsaid = "unsaid"
  static let noPattern = "none"
  static let unenforced = "off"
  /// The days that the form offers.
  private static let usualGrace = 14

  var fields: [HiddenField] {
    [
      HiddenField(name: "totp", value: totp), HiddenField(name: "intervals", value: intervals),
      HiddenField(name: "sms", value: sms), HiddenField(name: "pattern", value: pattern),
      HiddenField(name: "from", value: from),
      HiddenField(name: "enforcement", value: enforcement),
      HiddenField(name: "enforced-from", value: enforcedFrom),
      HiddenField(name: "grace", value: grace),
    ]
  }

  func read() -> Reading {
    var faults: [FieldError] = []
    if totp != "on" && totp != "off" {
      faults.append(FieldError(field: "totp", text: Message("Select On or Off for TOTP.")))
    }
    let number = Self.wholeNumber(intervals, in: Window.range)
    if number == nil, ![WindowChoice.byDefault, Self.unsaid].contains(intervals) {
      faults.append(
        FieldError(
          field: "intervals-\(WindowChoice.byDefault)",
          text: Message("Select the default or 0 to 10 adjacent intervals.")))
    }
    if sms != "on" && sms != "off" {
      faults.append(FieldError(field: "sms", text: Message("Select On or Off for SMS codes.")))
    }
    let chosen = EnrollmentPattern(rawValue: pattern)
    if chosen == nil && pattern != Self.noPattern {
      faults.append(
        FieldError(field: "pattern", text: Message("Select an enrollment pattern or None.")))
    }
    // Only the mandatory pattern has a start date, so the field is ignored for the others.
    let day = chosen == .mandatory && !from.isEmpty ? Day(from) : nil
    if chosen == .mandatory, !from.isEmpty, day == nil {
      faults.append(
        FieldError(
          field: "from",
          text: Message("Enter a date as YYYY-MM-DD, or leave it empty.")))
    }
    let (enforced, enforcementFaults) = readEnforcement()
    faults += enforcementFaults
    guard faults.isEmpty else { return .faults(faults) }
    return .change(
      PolicyChangeRequest(
        isOn: totp == "on", intervals: number, isSMSOn: sms == "on", pattern: chosen,
        mandatoryFrom: day, enforcement: enforced, keepsIntervals: intervals == Self.unsaid))
  }

  private func readEnforcement() -> (PolicyChangeRequest.EnforcementChoice, [FieldError]) {
    if enforcement.isEmpty { return (.unchanged, []) }
    if enforcement == Self.unenforced { return (.set(nil), []) }
    guard let mode = Enforcement.Mode(rawValue: enforcement) else {
      return (
        .unchanged,
        [FieldError(field: "enforcement", text: Message("Select what the server does."))]
      )
    }
    var faults: [FieldError] = []
    let day = Day(enforcedFrom)
    if day == nil {
      faults.append(
        FieldError(field: "enforced-from", text: Message("Enter the first day.")))
    }
    let days = Self.wholeNumber(grace, in: Enforcement.graceRange)
    if days == nil {
      faults.append(FieldError(field: "grace", text: Message("Enter a whole number from 0 to 90.")))
    }
    guard let day, let days else { return (.unchanged, faults) }
    return (.set(Enforcement(mode, from: day, graceDays: days)), [])
  }

  /// Parses one or two ASCII digits; rejects `+5`, `５`, and `5.0`.
  private static func wholeNumber(_ text: String, in range: ClosedRange<Int>) -> Int? {
    guard (1...2).contains(text.utf8.count),
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(text), range.contains(number)
    else { return nil }
    return number
  }

  enum Reading {
    case change(PolicyChangeRequest)
    case faults([FieldError])
  }
}

struct PolicyChangeRequest: Sendable, Equatable {
  let isOn: Bool
  /// Nil for the default.
  let intervals: Int?
  let isSMSOn: Bool
  let pattern: EnrollmentPattern?
  let mandatoryFrom: Day?
  let enforcement: EnforcementChoice
  /// Whether the intervals stay as they are.
  var keepsIntervals = false

  enum EnforcementChoice: Sendable, Equatable {
    /// The form doesn't have it.
    case unchanged
    /// Nil for none.
    case set(Enforcement?)
  }

  /// Applies the change to a policy; values that aren't in the form are kept.
  func applied(to edit: PolicyEdit) -> PolicyEdit {
    var edit = edit
    edit.pattern = pattern
    edit.mandatoryFrom = mandatoryFrom
    if case .set(let chosen) = enforcement { edit.enforcement = chosen }
    edit.configuration.setSMS(isSMSOn)
    let old = edit.configuration.totp
    let state: MFAState =
      isOn ? (old?.state == .mandatory ? .mandatory : .enabled) : .disabled
    // TOTP is off without an entry, so an entry isn't created.
    if old == nil && !isOn && intervals == nil { return edit }
    edit.configuration.totp = TOTPConfiguration(
      state: state,
      intervals: keepsIntervals ? old?.intervals ?? .standard : AdjacentIntervals(intervals))
    return edit
  }
}

enum PolicyProposal: Sendable {
  case answers(PolicyAnswers, PolicyChangeRequest)
  case likeProject(StoredPolicy)
  case version(PolicyVersion)
  /// The policy before the current version.
  case undo(PolicyEdit)

  func applied(to edit: PolicyEdit) -> PolicyEdit {
    switch self {
    case .answers(_, let request): request.applied(to: edit)
    case .likeProject(let policy): policy.edit
    case .version(let version): version.edit
    case .undo(let previous): previous
    }
  }

  var answers: PolicyAnswers {
    switch self {
    case .answers(let answers, _): answers
    case .likeProject(let policy): PolicyAnswers(policy.edit)
    case .version(let version): PolicyAnswers(version.edit)
    case .undo(let previous): PolicyAnswers(previous)
    }
  }

  /// The version of the project's policy; nil for values of the form.
  var source: String? {
    switch self {
    case .answers, .version, .undo: nil
    case .likeProject(let policy): String(policy.version)
    }
  }

  var fields: [HiddenField] {
    switch self {
    case .answers(let answers, _): answers.fields
    case .likeProject(let policy):
      [
        HiddenField(name: "change", value: "project"),
        HiddenField(name: "source", value: String(policy.version)),
      ]
    case .version(let version):
      [
        HiddenField(name: "change", value: "version"),
        HiddenField(name: "row", value: String(version.row.id)),
      ]
    case .undo: [HiddenField(name: "change", value: "undo")]
    }
  }
}

enum PolicyWarning: Equatable {
  case startIsPast(Day)
  /// The change enables SMS codes, which no phone receives.
  case noGateway

  static func all(
    from old: PolicyEdit, to new: PolicyEdit, at now: Instant, carriesText: Bool
  ) -> [PolicyWarning] {
    var warnings: [PolicyWarning] = []
    if let day = new.mandatoryFrom, day != old.mandatoryFrom, day.start < now {
      warnings.append(.startIsPast(day))
    }
    if new.configuration.isSMSOn, !old.configuration.isSMSOn, !carriesText {
      warnings.append(.noGateway)
    }
    return warnings
  }

  var message: Message {
    switch self {
    case .startIsPast(let day):
      Message(
        "The start date, {day}, is in the past: enrollment is mandatory immediately.",
        ["day": Times.value(day)])
    case .noGateway: MessagesText.noGateway
    }
  }
}
