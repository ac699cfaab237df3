import Identity
import Localization

/// Formats the stable identifiers that audit entries contain.
enum AuditCode {
  static func message(_ code: String, _ field: AuditFieldName) -> Message? {
    switch field {
    case .totp: totp(code)
    case .adjacentIntervals:
      code == "unsaid"
        ? Message("0 or default") : code == "default" ? Message("5 (default)") : nil
    case .mfaState: state(code)
    case .auditRetention: code == "forever" ? Message("forever") : nil
    case .pattern: EnrollmentPattern(rawValue: code)?.name
    case .enforcement: enforcement(code)
    case .passwordClasses: characters(code)
    case .role: ServiceTokenRole(rawValue: code)?.auditText
    case .message: MessagesText.purpose(code)
    case .reportedChange: reportedChange(code)
    case .outcome: ApprovalObstacle(rawValue: code)?.auditText ?? change(code)
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
    case .origin: code == "import" ? Message("import") : nil
    case .signUpMethod: code == "custom" ? Message("custom token") : nil
    case .importPart: ImportPart(rawValue: code)?.auditText
    case .linkKind: link(code)
    case .theme: theme(code)
    default: nil
    }
  }

  /// Why a change of a connected project wasn't made, or isn't known to be.
  private static func change(_ code: String) -> Message? {
    switch code {
    case "user-changed": Message("the user was disabled or enabled")
    case "sessions-ended": Message("the sessions were ended")
    case "gone": Message("no longer at the server")
    case "unknown-factor": Message("a factor of a kind that can’t be sent back")
    case "connection": Message("the connection was paused or ended")
    case "quota": Message("the server wants fewer requests")
    case "permission": Message("the credential lacks a permission")
    case "factor-refused": Message("the server doesn’t keep the other factor")
    case "remote": Message("the server couldn’t be used")
    case "unconfirmed": Message("the server doesn’t have the change")
    case "restored": Message("a backup was restored")
    case "moved": Message("the instance was moved")
    default: nil
    }
  }

  private static func stopReason(_ code: String) -> Message? {
    switch code {
    case "permission-lost": Message("the requester no longer has permission")
    case "scope-deleted": Message("the user pool was deleted")
    case "walk": Message("a walk didn’t see as many users as expected")
    default: nil
    }
  }

  private static func reportedChange(_ code: String) -> Message? {
    guard case .notice(let notice) = ReportedChange.Fact(stored: code) else { return nil }
    return MessagesText.change(notice.kind)
  }

  private static func enforcement(_ code: String) -> Message? {
    switch Enforcement.Mode(rawValue: code) {
    case .claim: Message("flag in ID token")
    case .refuse: Message("block sign-in")
    case nil: nil
    }
  }

  private static func totp(_ code: String) -> Message? {
    switch code {
    case "disabled": Message("off")
    case "enabled": Message("on")
    case "mandatory": Message("on (mandatory)")
    case "unspecified": Message("on (state unset)")
    default: nil
    }
  }

  private static func state(_ code: String) -> Message? {
    switch code {
    case "disabled": Message("disabled")
    case "enabled": Message("enabled")
    case "mandatory": Message("mandatory")
    case "unspecified": Message("unspecified")
    default: nil
    }
  }

  private static func characters(_ code: String) -> Message? {
    switch code {
    case "lowercase": Message("a lowercase character")
    case "uppercase": Message("an uppercase character")
    case "digit": Message("a numeric character")
    case "symbol": Message("a non-alphanumeric character")
    default: nil
    }
  }

  private static func verification(_ code: String) -> Message? {
    switch code {
    case "totp": Message("authenticator code")
    case "recovery-code": Message("recovery code")
    case "passkey": Message("passkey")
    case "provider": Message("Sign-in provider, without MFA")
    case "provider-mfa": Message("Sign-in provider with MFA")
    default: nil
    }
  }

  private static func passkeyRefusal(_ code: String) -> Message? {
    switch code {
    case "unknown": Message("unknown passkey")
    case "invalid": Message("invalid response")
    case "copied": Message("possibly copied: the signature count went backward")
    case "sign-in-off": Message("Password and passkey sign-in is off")
    default: nil
    }
  }

  private static func reach(_ code: String) -> Message? {
    switch code {
    case "network": Message("this network address")
    case "name-from-network": Message("this administrator, from this network address")
    case "name": Message("this administrator, from all unknown devices")
    case "device": Message("this administrator, from a known device")
    default: nil
    }
  }

  private static func failure(_ code: String) -> Message? {
    switch code {
    case "changed": Message("changed, or moved from another row")
    case "unknown-key": Message("encrypted with a master key that isn’t in the key ring")
    default: nil
    }
  }

  private static func retirement(_ code: String) -> Message? {
    switch code {
    case "early": Message("early")
    case "expired": Message("everything it signed has expired")
    default: nil
    }
  }

  private static func link(_ code: String) -> Message? {
    switch code {
    case "PASSWORD_RESET": Message("password reset")
    case "VERIFY_EMAIL": Message("email verification")
    case "EMAIL_SIGNIN": Message("sign-in")
    case "VERIFY_AND_CHANGE_EMAIL": Message("email change")
    default: nil
    }
  }

  private static func theme(_ code: String) -> Message? {
    switch code {
    case "system": Message("system")
    case "light": Message("light")
    case "dark": Message("dark")
    default: nil
    }
  }
}

extension CallerProof {
  var text: Message {
    switch self {
    case .emailCode: Message("code sent to the verified email address")
    }
  }
}

extension CallerVerification {
  fileprivate var auditText: Message {
    switch self {
    case .off: Message("off")
    case .offered: Message("offered")
    case .required: Message("required")
    }
  }
}

extension Approval.Cause {
  fileprivate var auditText: Message {
    switch self {
    case .lastFactor: Message("the last factor where enrollment is mandatory")
    case .many: Message("number of users exceeds the approval threshold")
    case .hour: Message("number of users exceeds the requester’s remaining hourly actions")
    case .unverifiedCaller: Message("caller not verified")
    case .weakerPolicy:
      Message("weaker policy: number of affected users exceeds the approval threshold")
    }
  }
}

extension ApprovalObstacle {
  fileprivate var auditText: Message {
    switch self {
    case .permissionLost: Message("the requester no longer has permission")
    case .accountOutOfReach: Message("the requester can no longer act on the account")
    case .accountDeleted: Message("the account was deleted")
    case .policyChanged: Message("the policy has changed")
    case .refusalNeedsEmail: Message("the server sends no email")
    case .listGone: Message("the list was deleted")
    case .factorGone: Message("a factor was removed")
    case .factorEnrolled: Message("a factor was enrolled")
    case .poolDeleted: Message("the user pool was deleted")
    }
  }
}

extension ServiceTokenRole {
  fileprivate var auditText: Message {
    switch self {
    case .owner: Message("owner")
    case .policy: Message("policy")
    case .support: Message("support")
    case .auditor: Message("auditor")
    case .application: Message("application")
    case .connectionRead: Message("connection: read")
    case .connectionSupport: Message("connection: support")
    case .connectionPolicy: Message("connection: policy")
    }
  }
}

extension ImportPart {
  fileprivate var auditText: Message {
    switch self {
    case .begin: Message("started")
    case .complete: Message("complete")
    case .interrupted: Message("interrupted")
    }
  }
}

extension AuditCode {
  static func providerRefusal(_ code: String) -> Message? {
    switch code {
    case "not-configured": Message("no sign-in provider is set up")
    case "ended": Message("response to an unknown, answered, or expired request")
    case "provider": Message("sign-in provider unavailable")
    case "code": Message("authorization code not exchanged for tokens")
    case "groups-not-listed": Message("groups not listed by the provider")
    case "no-role": Message("no group with a role")
    case "email-required": Message("no valid email address")
    case "email-taken": Message("email address belongs to another administrator")
    case "other-person": Message("signed in as another person")
    case "reauthentication-required": Message("not re-authenticated")
    case "throttled": Message("too many failed attempts")
    default: detailedRefusal(code)
    }
  }

  /// A reason with a detail after its prefix, such as the provider's error code.
  private static func detailedRefusal(_ code: String) -> Message? {
    func detail(_ prefix: String) -> Message.Value? {
      code.hasPrefix(prefix)
        ? .text(AuditFormatter.plain(String(code.dropFirst(prefix.count)))) : nil
    }
    if let error = detail("provider-") {
      return Message("rejected by the provider: {code}", ["code": error])
    }
    if let fault = detail("token-") { return Message("invalid ID token: {code}", ["code": fault]) }
    if let status = detail("userinfo-") {
      return Message("userinfo request rejected with HTTP status {status}", ["status": status])
    }
    return nil
  }
}

extension UnreadableSecrets.Group.Kind {
  var auditText: Message {
    switch self {
    case .userTOTP: Message("secret of a user’s authenticator app")
    case .administratorTOTP: Message("secret of an administrator’s authenticator app")
    case .userCodes: Message("key of a user’s temporary or recovery codes")
    case .clientSecret: Message("client secret of an identity provider")
    case .signingKey: Message("token signing key")
    case .evidenceKey: Message("evidence key")
    case .message: Message("text of a message")
    case .connection: Message("credential of a connection")
    }
  }
}
