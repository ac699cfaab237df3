import HTTP
import Identity
import Localization
import Text

struct SupportRulesForm: Sendable {
  var version: SettingsVersion
  let form: Form

  init(_ settings: SupportRules) {
    version = settings.version
    var form: Form = [
      "code-cap": String(settings.codeCap), "undo-hours": String(settings.undoHours),
      "code-attempt-days": String(settings.codeAttemptDays),
      "actions-per-hour": String(settings.actionsPerHour),
      "sign-in-goal": Percentage.text(settings.signInGoal),
      "approval-over-users": settings.approvalOverUsers.map(String.init) ?? "",
      "policy-approval-over-users": settings.policyApprovalOverUsers.map(String.init) ?? "",
      "token-changes-per-hour": settings.tokenChangesPerHour.map(String.init) ?? "",
      "identity-proof": settings.identityProof.joined(separator: "\n"),
      "caller-verification": settings.callerVerification.rawValue,
    ]
    for (name, isOn) in [
      ("approval-for-last-factor", settings.approvalForLastFactor),
      ("tokens-remove-factors", settings.tokensRemoveFactors),
      ("temporary-codes", settings.temporaryCodes), ("recovery-codes", settings.recoveryCodes),
      ("resynchronization", settings.resynchronization),
    ] where isOn {
      form.add(name, "on")
    }
    self.form = form
  }

  init(_ form: Form) {
    version = form.settingsVersion
    self.form = form
  }

  /// The input as rules; text that isn't a number becomes -1, which is outside every range.
  var settings: SupportRules {
    var settings = SupportRules()
    settings.codeCap = number("code-cap") ?? -1
    settings.undoHours = number("undo-hours") ?? -1
    settings.codeAttemptDays = number("code-attempt-days") ?? -1
    settings.actionsPerHour = number("actions-per-hour") ?? -1
    settings.signInGoal = Percentage.basisPoints(form.trimmed("sign-in-goal")) ?? -1
    settings.approvalOverUsers = number("approval-over-users")
    settings.policyApprovalOverUsers = number("policy-approval-over-users")
    settings.tokenChangesPerHour = number("token-changes-per-hour")
    settings.approvalForLastFactor = isOn("approval-for-last-factor")
    settings.tokensRemoveFactors = isOn("tokens-remove-factors")
    settings.temporaryCodes = isOn("temporary-codes")
    settings.recoveryCodes = isOn("recovery-codes")
    settings.resynchronization = isOn("resynchronization")
    settings.callerVerification =
      CallerVerification(rawValue: form.trimmed("caller-verification")) ?? .off
    settings.identityProof = (form.text("identity-proof") ?? "")
      .split(whereSeparator: \.isNewline).map(String.init)
    return settings
  }

  private func isOn(_ name: String) -> Bool { form[name] == "on" }

  /// The number in a field; nil if it's empty.
  private func number(_ name: String) -> Int? {
    let text = form.trimmed(name)
    return text.isEmpty ? nil : Int(text) ?? -1
  }
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
