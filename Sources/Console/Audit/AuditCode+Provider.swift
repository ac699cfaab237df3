import Identity
import Localization

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
    }
  }
}
