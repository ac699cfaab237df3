import HTTP
import Identity
import Localization
import Text

/// The input of the support rules form; numbers are kept as entered.
struct SupportRulesForm: Sendable {
  var version: SettingsVersion
  var codeCap: String
  var undoHours: String
  var codeAttemptDays: String
  var actionsPerHour: String
  var signInGoal: String
  var approvalOverUsers: String
  var policyApprovalOverUsers: String
  var approvalForLastFactor: Bool
  var tokensRemoveFactors: Bool
  var tokenChangesPerHour: String
  var temporaryCodes: Bool
  var recoveryCodes: Bool
  var resynchronization: Bool
  var proof: String
  var callerVerification: String

  init(_ settings: SupportRules) {
    version = settings.version
    codeCap = String(settings.codeCap)
    undoHours = String(settings.undoHours)
    codeAttemptDays = String(settings.codeAttemptDays)
    actionsPerHour = String(settings.actionsPerHour)
    signInGoal = Percentage.text(settings.signInGoal)
    approvalOverUsers = settings.approvalOverUsers.map(String.init) ?? ""
    policyApprovalOverUsers = settings.policyApprovalOverUsers.map(String.init) ?? ""
    approvalForLastFactor = settings.approvalForLastFactor
    tokensRemoveFactors = settings.tokensRemoveFactors
    tokenChangesPerHour = settings.tokenChangesPerHour.map(String.init) ?? ""
    temporaryCodes = settings.temporaryCodes
    recoveryCodes = settings.recoveryCodes
    resynchronization = settings.resynchronization
    proof = settings.identityProof.joined(separator: "\n")
    callerVerification = settings.callerVerification.rawValue
  }

  init(_ form: Form) {
    version = form.settingsVersion
    codeCap = form.trimmed("code-cap")
    undoHours = form.trimmed("undo-hours")
    codeAttemptDays = form.trimmed("code-attempt-days")
    actionsPerHour = form.trimmed("actions-per-hour")
    signInGoal = form.trimmed("sign-in-goal")
    approvalOverUsers = form.trimmed("approval-over-users")
    policyApprovalOverUsers = form.trimmed("policy-approval-over-users")
    approvalForLastFactor = form["approval-for-last-factor"] == "on"
    tokensRemoveFactors = form["tokens-remove-factors"] == "on"
    tokenChangesPerHour = form.trimmed("token-changes-per-hour")
    temporaryCodes = form["temporary-codes"] == "on"
    recoveryCodes = form["recovery-codes"] == "on"
    resynchronization = form["resynchronization"] == "on"
    proof = form.text("identity-proof") ?? ""
    callerVerification = form.trimmed("caller-verification")
  }

  /// The input as rules; text that isn't a number becomes -1, which is outside every range.
  var settings: SupportRules {
    var settings = SupportRules()
    settings.codeCap = Self.number(codeCap)
    settings.undoHours = Self.number(undoHours)
    settings.codeAttemptDays = Self.number(codeAttemptDays)
    settings.actionsPerHour = Self.number(actionsPerHour)
    settings.signInGoal = Percentage.basisPoints(signInGoal) ?? -1
    if !approvalOverUsers.isEmpty { settings.approvalOverUsers = Self.number(approvalOverUsers) }
    if !policyApprovalOverUsers.isEmpty {
      settings.policyApprovalOverUsers = Self.number(policyApprovalOverUsers)
    }
    settings.approvalForLastFactor = approvalForLastFactor
    settings.tokensRemoveFactors = tokensRemoveFactors
    if !tokenChangesPerHour.isEmpty {
      settings.tokenChangesPerHour = Self.number(tokenChangesPerHour)
    }
    settings.temporaryCodes = temporaryCodes
    settings.recoveryCodes = recoveryCodes
    settings.resynchronization = resynchronization
    settings.callerVerification = CallerVerification(rawValue: callerVerification) ?? .off
    settings.identityProof = proof.split(whereSeparator: \.isNewline).map(String.init)
    return settings
  }

  private static func number(_ text: String) -> Int { Int(text) ?? -1 }
}

extension SupportRulesError.Field {
  var fault: FieldError {
    switch self {
    case .codeCap:
      FieldError(
        field: "code-cap",
        text: Message("Enter a number of incorrect codes from 5 to 100."))
    case .undoHours:
      FieldError(
        field: "undo-hours",
        text: Message("Enter a whole number of hours from 0 to 720."))
    case .codeAttemptDays:
      FieldError(
        field: "code-attempt-days", text: Message("Enter a whole number of days from 1 to 400."))
    case .actionsPerHour:
      FieldError(
        field: "actions-per-hour",
        text: Message("Enter a number of actions from 1 to 1,000."))
    case .signInGoal:
      FieldError(
        field: "sign-in-goal",
        text: Message("Enter a percentage from 90 to 100, with at most two decimal places."))
    case .approvalOverUsers:
      FieldError(
        field: "approval-over-users",
        text: Message("Enter a number of users from 0 to 1,000,000, or leave empty for never."))
    case .policyApproval:
      FieldError(
        field: "policy-approval-over-users",
        text: Message(
          "Enter a number of affected users from 0 to 1,000,000, or leave empty for never."))
    case .tokenChanges:
      FieldError(
        field: "token-changes-per-hour",
        text: Message("Enter a number of users from 1 to 1,000,000, or leave empty for no limit."))
    case .identityProof: FieldError(field: "identity-proof", text: Self.tooMuchProof)
    case .callerVerification:
      FieldError(
        field: "caller-verification", text: Message("Choose how callers are verified."))
    case .stepUp:
      FieldError(
        field: "minutes",
        text: Message("Enter a whole number of minutes from 1 to 240."))
    }
  }

  private static let tooMuchProof = Message(
    one: "Enter at most {count} line of at most {characters} characters each.",
    other: "Enter at most {count} lines of at most {characters} characters each.",
    [
      "count": .number(SupportRules.mostProofs),
      "characters": .number(SupportRules.longestProof),
    ])
}
