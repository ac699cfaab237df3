import HTTP
import Identity
import Localization
import OpenIDConnect

/// Why a sign-in with the provider failed, and what to do.
struct ProviderRefusalText: Sendable {
  let heading: Message
  let sentence: Message
  var advice: Message?
  let status: Status
  /// The seconds until a retry is possible; nil if there's no need to wait.
  var seconds: Int64?

  init(
    _ error: ProviderSignInError, provider: String, isSignedIn: Bool = true, at now: Instant
  ) {
    let name = Message.Value.name(Formatted.short(provider))
    var heading =
      isSignedIn
      ? Message("sign-in-provider.failed", ["name": name])
      : Message("sign-in-provider.not-signed-in")
    var status = Status.unprocessableContent
    switch error {
    case .noRole:
      heading = Message("sign-in-provider.no-access")
      sentence = Message("sign-in-provider.no-role", ["name": name])
      advice = Message(
        "sign-in-provider.no-role-advice",
        ["holder": .message(Permission.manageAdministrators.holder)])
      status = .forbidden
    case .groupsNotListed:
      heading = Message("sign-in-provider.no-access")
      sentence = Message("sign-in-provider.groups-not-listed", ["name": name])
      status = .forbidden
    case .emailTaken:
      heading = Message("sign-in-provider.no-access")
      sentence = Message("sign-in-provider.email-taken", ["name": name])
      advice = Message("sign-in-provider.email-taken-advice", ["name": name])
      status = .forbidden
    case .emailOfUnusable:
      heading = Message("sign-in-provider.no-access")
      sentence = Message("sign-in-provider.email-of-unusable", ["name": name])
      advice = Message(
        "sign-in-provider.email-of-unusable-advice",
        ["holder": .message(Permission.manageAdministrators.startingHolder)])
      status = .forbidden
    case .emailRequired:
      heading = Message("sign-in-provider.no-access")
      sentence = Message("sign-in-provider.email-required", ["name": name])
      status = .forbidden
    case .linkedElsewhere:
      sentence = Message("sign-in-provider.linked-elsewhere", ["name": name])
      status = .forbidden
    case .otherPerson:
      sentence = Message("sign-in-provider.other-person", ["name": name])
      status = .forbidden
    case .refused(let code):
      sentence =
        code.text == "access_denied"
        ? Message("sign-in-provider.access-denied", ["name": name])
        : Message(
          "sign-in-provider.provider-refused",
          ["name": name, "code": .text(code.text)])
    case .tokenRefused(let code):
      sentence = Message(
        "sign-in-provider.code-refused",
        ["name": name, "code": .text(code.text)])
      status = .serviceUnavailable
    case .provider:
      sentence = Message("sign-in-provider.unreachable", ["name": name])
      status = .serviceUnavailable
    case .invalidToken(.staleAuthentication), .invalidToken(.missingAuthenticationTime):
      sentence = Message("sign-in-provider.not-fresh", ["name": name])
    case .invalidToken(let fault):
      sentence = Message(
        "sign-in-provider.token-invalid",
        ["name": name, "code": .text(fault.rawValue)])
    case .wrongTime(let fault, let seconds):
      let duration = Message.Value.message(Formatted.duration(seconds: Int(seconds)))
      sentence =
        fault == .future
        ? Message("sign-in-provider.token-future", ["name": name, "duration": duration])
        : Message("sign-in-provider.token-expired", ["name": name, "duration": duration])
      advice = Message("sign-in-provider.check-clocks", ["name": name])
      status = .serviceUnavailable
    case .userInfoRefused(let code):
      sentence = Message(
        "sign-in-provider.userinfo-refused", ["name": name, "status": .text(String(code))])
      status = .serviceUnavailable
    case .userInfoInvalid:
      sentence = Message("sign-in-provider.userinfo-invalid", ["name": name])
      status = .serviceUnavailable
    case .throttled(let until):
      let wait = until.wait(at: now)
      seconds = wait
      sentence = Message(
        "sign-in-provider.throttled", ["wait": .message(Formatted.duration(seconds: Int(wait)))])
      status = .tooManyRequests
    case .reauthenticationRequired:
      sentence = Message("sign-in-provider.sign-in-again")
    case .notLinked: sentence = Message("sign-in-provider.not-linked", ["name": name])
    case .linkRequired(let necessity): sentence = necessity.message(provider)
    case .ended, .notConfigured, .unavailable:
      sentence = Message("sign-in-provider.ended")
    }
    if isSignedIn, advice == nil { advice = Message("sign-in-provider.still-signed-in") }
    (self.heading, self.status) = (heading, status)
  }
}

extension LinkNecessity {
  /// Why the link with a provider can't be removed, and what to do.
  func message(_ provider: String) -> Message {
    let name = Message.Value.name(Formatted.short(provider))
    return switch self {
    case .noOwnSignIn: Message("sign-in-provider.link-required", ["name": name])
    case .passwordSignInOff:
      Message("sign-in-provider.link-required-passwords-off", ["name": name])
    }
  }
}
