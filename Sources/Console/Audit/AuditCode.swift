import Identity
import Localization

/// Formats the stable identifiers that audit entries contain.
enum AuditCode {
  static func message(_ code: String, _ field: AuditFieldName) -> Message? {
    switch field {
    case .totp: totp(code)
    case .adjacentIntervals: code == "default" ? Message("audit.default-intervals") : nil
    case .mfaState: state(code)
    case .auditRetention: code == "forever" ? Message("audit.forever") : nil
    case .pattern: EnrollmentPattern(rawValue: code)?.auditText
    case .enforcement: enforcement(code)
    case .passwordClasses: characters(code)
    case .role: ServiceTokenRole(rawValue: code)?.auditText
    case .message: MessagesText.purpose(code)
    case .reportedChange: reportedChange(code)
    case .outcome: ApprovalObstacle(rawValue: code)?.auditText
    case .approvalCause: Approval.Cause(rawValue: code)?.auditText
    case .verification: verification(code)
    case .callerVerification: CallerProof(rawValue: code)?.text
    case .callerVerificationRule: CallerVerification(rawValue: code)?.auditText
    case .passkeyRefusal: passkeyRefusal(code)
    case .providerRefusal: providerRefusal(code)
    case .secretKind: UnreadableSecrets.Group.Kind(rawValue: code)?.auditText
    case .blockReach: reach(code)
    case .failure: failure(code)
    case .retirement: retirement(code)
    case .stopReason: stopReason(code)
    case .origin: code == "import" ? Message("audit.origin-import") : nil
    case .signUpMethod: code == "custom" ? Message("audit.custom-token") : nil
    case .importPart: ImportPart(rawValue: code)?.auditText
    case .linkKind: link(code)
    case .theme: theme(code)
    default: nil
    }
  }

  private static func stopReason(_ code: String) -> Message? {
    switch code {
    case "permission-lost": Message("audit.permission-lost")
    case "scope-deleted": Message("audit.pool-deleted")
    default: nil
    }
  }

  private static func reportedChange(_ code: String) -> Message? {
    guard case .notice(let notice) = ReportedChange.Fact(stored: code) else { return nil }
    return MessagesText.change(notice.kind)
  }

  private static func enforcement(_ code: String) -> Message? {
    switch Enforcement.Mode(rawValue: code) {
    case .claim: Message("audit.enforcement-claim")
    case .refuse: Message("audit.enforcement-refuse")
    case nil: nil
    }
  }

  private static func totp(_ code: String) -> Message? {
    switch code {
    case "disabled": Message("common.off")
    case "enabled": Message("common.on")
    case "mandatory": Message("audit.on-mandatory")
    case "unspecified": Message("common.on-unset")
    default: nil
    }
  }

  private static func state(_ code: String) -> Message? {
    switch code {
    case "disabled": Message("audit.state-disabled")
    case "enabled": Message("audit.state-enabled")
    case "mandatory": Message("audit.state-mandatory")
    case "unspecified": Message("audit.state-unspecified")
    default: nil
    }
  }

  private static func characters(_ code: String) -> Message? {
    switch code {
    case "lowercase": Message("audit.lowercase-letter")
    case "uppercase": Message("audit.uppercase-letter")
    case "digit": Message("audit.digit")
    case "symbol": Message("audit.symbol")
    default: nil
    }
  }

  private static func verification(_ code: String) -> Message? {
    switch code {
    case "totp": Message("audit.authenticator-code")
    case "recovery-code": Message("audit.recovery-code")
    case "passkey": Message("audit.passkey")
    case "provider": Message("audit.provider-without-mfa")
    case "provider-mfa": Message("audit.provider-with-mfa")
    default: nil
    }
  }

  private static func passkeyRefusal(_ code: String) -> Message? {
    switch code {
    case "unknown": Message("audit.passkey-unknown")
    case "invalid": Message("audit.passkey-invalid")
    case "copied": Message("audit.passkey-copied")
    case "sign-in-off": Message("audit.passkey-sign-in-off")
    default: nil
    }
  }

  private static func reach(_ code: String) -> Message? {
    switch code {
    case "network": Message("audit.block-of-network")
    case "name-from-network": Message("audit.block-of-name-from-network")
    case "name": Message("audit.block-of-name")
    case "device": Message("audit.block-of-device")
    default: nil
    }
  }

  private static func failure(_ code: String) -> Message? {
    switch code {
    case "changed": Message("audit.secret-changed")
    case "unknown-key": Message("audit.secret-of-unknown-key")
    default: nil
    }
  }

  private static func retirement(_ code: String) -> Message? {
    switch code {
    case "early": Message("audit.retired-early")
    case "expired": Message("audit.retired-expired")
    default: nil
    }
  }

  private static func link(_ code: String) -> Message? {
    switch code {
    case "PASSWORD_RESET": Message("audit.link-password-reset")
    case "VERIFY_EMAIL": Message("audit.link-email-verification")
    case "EMAIL_SIGNIN": Message("audit.link-sign-in")
    case "VERIFY_AND_CHANGE_EMAIL": Message("audit.link-email-change")
    default: nil
    }
  }

  private static func theme(_ code: String) -> Message? {
    switch code {
    case "system": Message("audit.theme-system")
    case "light": Message("audit.theme-light")
    case "dark": Message("audit.theme-dark")
    default: nil
    }
  }
}

extension CallerProof {
  var text: Message {
    switch self {
    case .emailCode: Message("audit.caller-email-code")
    }
  }
}

extension CallerVerification {
  fileprivate var auditText: Message {
    switch self {
    case .off: Message("common.off")
    case .offered: Message("audit.caller-offered")
    case .required: Message("audit.caller-required")
    }
  }
}

extension Approval.Cause {
  fileprivate var auditText: Message {
    switch self {
    case .lastFactor: Message("audit.cause-last-factor")
    case .many: Message("audit.cause-many")
    case .hour: Message("audit.cause-hour")
    case .unverifiedCaller: Message("audit.cause-unverified-caller")
    case .weakerPolicy: Message("audit.cause-weaker-policy")
    }
  }
}

extension ApprovalObstacle {
  fileprivate var auditText: Message {
    switch self {
    case .permissionLost: Message("audit.permission-lost")
    case .accountOutOfReach: Message("audit.account-out-of-reach")
    case .accountDeleted: Message("audit.account-deleted")
    case .policyChanged: Message("audit.policy-changed")
    case .refusalNeedsEmail: Message("audit.refusal-needs-email")
    case .listGone: Message("audit.list-deleted")
    case .factorGone: Message("audit.factor-removed")
    case .factorEnrolled: Message("audit.factor-enrolled")
    case .poolDeleted: Message("audit.pool-deleted")
    }
  }
}

extension EnrollmentPattern {
  fileprivate var auditText: Message {
    switch self {
    case .mandatory: Message("audit.pattern-mandatory")
    case .skippable: Message("audit.pattern-skippable")
    case .account: Message("audit.pattern-account")
    case .stepUp: Message("audit.pattern-step-up")
    }
  }
}

extension ServiceTokenRole {
  fileprivate var auditText: Message {
    switch self {
    case .owner: Message("audit.token-role-owner")
    case .policy: Message("audit.token-role-policy")
    case .support: Message("audit.token-role-support")
    case .auditor: Message("audit.token-role-auditor")
    case .application: Message("audit.token-role-application")
    }
  }
}

extension ImportPart {
  fileprivate var auditText: Message {
    switch self {
    case .begin: Message("audit.import-started")
    case .complete: Message("audit.import-complete")
    case .interrupted: Message("audit.import-interrupted")
    }
  }
}
