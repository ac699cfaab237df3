import HTTP
import Identity
import Localization
import OpenIDConnect

struct ProviderRefusalText: Sendable {
  let heading: Message
  let sentence: Message
  var advice: Message?
  let status: Status
  /// The seconds until a retry is possible; nil if there's no need to wait.
  var seconds: Int64?

  init(_ error: ProviderSignInError, provider: String, isSignedIn: Bool, at now: Instant) {
    let name = Message.Value.name(Formatted.short(provider))
    let holder = Message.Value.message(Permission.manageAdministrators.holder)
    switch error {
    case .noRole:
      sentence = Message("sign-in-provider.no-role", ["name": name])
      advice = Message("sign-in-provider.no-role-advice", ["holder": holder])
    case .groupsNotListed:
      sentence = Message("sign-in-provider.groups-not-listed", ["name": name])
    case .emailTaken:
      sentence = Message("sign-in-provider.email-taken", ["name": name])
      advice = Message("sign-in-provider.email-taken-advice", ["name": name, "holder": holder])
    case .emailRequired:
      sentence = Message("sign-in-provider.email-required", ["name": name])
    case .otherPerson:
      sentence = Message("sign-in-provider.other-person", ["name": name])
    case .refused(let code):
      sentence =
        code.text == "access_denied"
        ? Message("sign-in-provider.access-denied", ["name": name])
        : Message(
          "sign-in-provider.provider-refused", ["name": name, "code": .text(code.text)])
    case .tokenRefused(let code):
      sentence = Message(
        "sign-in-provider.code-refused", ["name": name, "code": .text(code.text)])
    case .provider:
      sentence = Message("sign-in-provider.unreachable", ["name": name])
    case .invalidToken(.staleAuthentication), .invalidToken(.missingAuthenticationTime):
      sentence = Message("sign-in-provider.not-fresh", ["name": name])
    case .invalidToken(let fault):
      sentence = Message(
        "sign-in-provider.token-invalid", ["name": name, "code": .text(fault.rawValue)])
      if fault == .expired || fault == .future {
        advice = Message("sign-in-provider.check-clocks", ["name": name])
      }
    case .userInfoRefused(let code):
      sentence = Message(
        "sign-in-provider.userinfo-refused", ["name": name, "status": .text(String(code))])
    case .throttled(let until):
      let wait = until.wait(at: now)
      seconds = wait
      sentence = Message(
        "sign-in-provider.throttled", ["wait": .message(Formatted.duration(seconds: Int(wait)))])
    case .reauthenticationRequired:
      sentence = Message("sign-in-provider.sign-in-again")
    case .ended, .notConfigured, .unavailable:
      sentence = Message("sign-in-provider.ended")
    }
    if isSignedIn, advice == nil { advice = Message("sign-in-provider.still-signed-in") }
    status = Self.status(error)
    heading =
      isSignedIn
      ? Message("sign-in-provider.failed", ["name": name])
      : status == .forbidden
        ? Message("sign-in-provider.no-access") : Message("sign-in-provider.not-signed-in")
  }

  private static func status(_ error: ProviderSignInError) -> Status {
    switch error {
    case .noRole, .groupsNotListed, .emailTaken, .emailRequired, .otherPerson: .forbidden
    case .tokenRefused, .provider, .userInfoRefused, .invalidToken(.expired),
      .invalidToken(.future):
      .serviceUnavailable
    case .throttled: .tooManyRequests
    default: .unprocessableContent
    }
  }
}
