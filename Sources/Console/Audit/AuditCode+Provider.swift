import Identity
import Localization

extension AuditCode {
  static func providerRefusal(_ code: String) -> Message? {
    switch code {
    case "not-configured": Message("audit.refused-not-configured")
    case "ended": Message("audit.refused-ended")
    case "provider": Message("audit.refused-provider")
    case "code": Message("audit.refused-code")
    case "groups-not-listed": Message("audit.refused-groups-not-listed")
    case "no-role": Message("audit.refused-no-role")
    case "email-required": Message("audit.refused-email-required")
    case "email-taken": Message("audit.refused-email-taken")
    case "other-person": Message("audit.refused-other-person")
    case "reauthentication-required": Message("audit.refused-reauthentication-required")
    case "throttled": Message("audit.refused-throttled")
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
      return Message("audit.refused-by-provider", ["code": error])
    }
    if let fault = detail("token-") { return Message("audit.refused-token", ["code": fault]) }
    if let status = detail("userinfo-") {
      return Message("audit.refused-userinfo-status", ["status": status])
    }
    return nil
  }
}

extension UnreadableSecrets.Group.Kind {
  var auditText: Message {
    switch self {
    case .userTOTP: Message("audit.secret-user-totp")
    case .administratorTOTP: Message("audit.secret-administrator-totp")
    case .userCodes: Message("audit.secret-user-codes")
    case .clientSecret: Message("audit.secret-client-secret")
    case .signingKey: Message("audit.secret-signing-key")
    case .evidenceKey: Message("audit.secret-evidence-key")
    case .message: Message("audit.secret-message")
    }
  }
}
