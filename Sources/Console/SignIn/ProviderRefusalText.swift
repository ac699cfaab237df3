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
    let roles = Permission.manageAdministrators.roleNames
    switch error {
    case .noRole:
      sentence = Message(
        "You signed in with {name}, but none of your groups has a role here.", ["name": name])
      advice = Message(
        "For a role for one of your groups, ask an administrator with the {roles} role.",
        ["roles": roles])
    case .groupsNotListed:
      sentence = Message(
        """
        {name} didn’t list your groups, for example because there are too many. Ask an \
        administrator of {name} to send only the groups of this application.
        """, ["name": name])
    case .emailTaken:
      sentence = Message(
        "An administrator with your email address exists, but isn’t linked with {name}.",
        ["name": name])
      advice = Message(
        """
        A matching email address isn’t proof of identity. Sign in as before, then link your \
        account with {name} under “Your account”. If you have no other way to sign in, that \
        account must be removed first. Ask an administrator with the {roles} role.
        """, ["name": name, "roles": roles])
    case .emailRequired:
      sentence = Message(
        "{name} didn’t provide your email address, which new administrators need.", ["name": name])
    case .otherPerson:
      sentence = Message(
        """
        The account you used at {name} is linked with another administrator, or yours is linked \
        with another account there.
        """, ["name": name])
    case .refused(let code):
      sentence =
        code.text == "access_denied"
        ? Message("{name} refused access, or you canceled.", ["name": name])
        : Message(
          "{name} refused the sign-in: {code}. Try again, or ask the operator.",
          ["name": name, "code": .text(code.text)])
    case .tokenRefused(let code):
      sentence = Message(
        "{name} didn’t complete the sign-in: {code}. Try again, or ask the operator.",
        ["name": name, "code": .text(code.text)])
    case .provider:
      sentence = Message(
        "{name} can’t be reached or isn’t set up correctly. Try again later.", ["name": name])
    case .invalidToken(.staleAuthentication), .invalidToken(.missingAuthenticationTime):
      sentence = Message(
        "{name} didn’t ask you to sign in again. Try again, or use another method.", ["name": name])
    case .invalidToken(let fault):
      sentence = Message(
        "{name} sent an invalid response: {code}. Try again, or ask the operator.",
        ["name": name, "code": .text(fault.rawValue)])
      if fault == .expired || fault == .future {
        advice = Message(
          "Ask the operator to check the clocks of this server and of {name}.", ["name": name])
      }
    case .userInfoRefused(let code):
      sentence = Message(
        """
        {name} accepted your sign-in, but its userinfo response (HTTP {status}) can’t be used. \
        Try again, or ask the operator to check the scopes.
        """, ["name": name, "status": .text(String(code))])
    case .throttled(let until):
      let wait = until.wait(at: now)
      seconds = wait
      sentence = Message(
        "Too many failed sign-ins. Try again in {wait}.",
        ["wait": .message(Formatted.duration(seconds: Int(wait)))])
    case .reauthenticationRequired:
      sentence = Message("Sign in again first: your session is older than five minutes.")
    case .ended, .notConfigured:
      sentence = Message("The sign-in expired or was already completed. Start again.")
    }
    if isSignedIn, advice == nil { advice = Message("You’re still signed in to the console.") }
    status = Self.status(error)
    heading =
      isSignedIn
      ? Message("Sign-in with {name} failed", ["name": name])
      : status == .forbidden
        ? Message("You don’t have access") : Message("You aren’t signed in")
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
