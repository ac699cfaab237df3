public import Crypto
public import OpenIDConnect

/// The beginning of a sign-in at the provider.
public struct ProviderStart: Sendable {
  /// The address at which the person signs in.
  public let address: String
  /// The value of a cookie, without which the answer isn't accepted.
  public let ticket: Secret
}

/// What a sign-in at the provider is for.
public enum ProviderPurpose: Sendable {
  /// To sign in to the console.
  case signIn
  /// To link the session's administrator with the person who signs in.
  case link(ConsoleSession)
  /// To confirm the identity of the session's administrator.
  case reauthentication(ConsoleSession)

  var session: ConsoleSession? {
    switch self {
    case .signIn: nil
    case .link(let session), .reauthentication(let session): session
    }
  }

  var kind: ConsoleTicket.Kind {
    switch self {
    case .signIn: .providerSignIn
    case .link: .providerLink
    case .reauthentication: .providerReauthentication
    }
  }
}

/// What the provider's authorization endpoint answered.
public struct ProviderAnswer: Sendable {
  /// The state of the request.
  public let state: String
  /// The code; nil if there's an error.
  public let code: String?
  /// The error; nil if there's a code.
  public let error: ProviderErrorCode?
  /// The issuer that the answer names; nil if it names none.
  public let issuer: String?

  /// The maximum length of a code, in bytes.
  public static let longestCode = 4_096

  /// Creates an answer.
  public init(state: String, code: String?, error: ProviderErrorCode?, issuer: String?) {
    (self.state, self.code, self.error, self.issuer) = (state, code, error, issuer)
  }
}

/// The result of a sign-in at the provider.
public enum ProviderSignIn: Sendable {
  /// The administrator is signed in.
  case signedIn(NewConsoleSession)
  /// A second factor is required, with one of the methods; the value is stored in a cookie for the
  /// next step and isn't a session.
  case secondFactorDue(Secret, Set<ReauthenticationMethod>)
  /// The session's administrator is linked.
  case linked(NewConsoleSession)
  /// The session's administrator confirmed their identity, with a second factor or without.
  case reauthenticated(NewConsoleSession, hasSecondFactor: Bool)
}

/// A person at the provider whom a page tells why they can't sign in.
public struct ProviderIdentity: Sendable, Equatable {
  /// The person's ID at the provider.
  public let subject: String
  /// The person's name and email address.
  public let person: ProviderPerson
  /// The person's groups.
  public let groups: ProviderGroups
}

/// Why an administrator couldn't sign in without their link with the provider.
public enum LinkNecessity: Sendable, Equatable {
  /// They have neither a password nor a passkey.
  case noOwnSignIn
  /// Password sign-in is off, so that a password or passkey would be of no use.
  case passwordSignInOff
}

/// Why a sign-in at the provider isn't possible, or failed.
public enum ProviderSignInError: Error, Sendable {
  /// There's no provider.
  case notConfigured
  /// The answer doesn't belong to a request of this browser, or the request was answered or expired.
  case ended
  /// The provider answered with an error.
  case refused(ProviderErrorCode)
  /// The provider or its documents can't be used now.
  case provider(ConsoleProviderFault)
  /// The provider didn't exchange the code for tokens.
  case tokenRefused(ProviderErrorCode)
  /// The ID token isn't valid.
  case invalidToken(TokenFault)
  /// The ID token expired or was issued in the future by this server's clock, by a number of seconds.
  case wrongTime(TokenFault, by: Int64)
  /// The userinfo endpoint refused the access token, with an HTTP status.
  case userInfoRefused(status: Int)
  /// The userinfo response can't be read, or is about another person than the ID token.
  case userInfoInvalid
  /// The person is in groups that the provider doesn't list, such as too many.
  case groupsNotListed
  /// None of the person's groups has a role.
  case noRole(ProviderIdentity)
  /// The provider tells no valid email address, which a new administrator needs.
  case emailRequired(ProviderIdentity)
  /// Another administrator has the email address, and isn't linked.
  case emailTaken(ProviderIdentity)
  /// An administrator who can't sign in in any way has the email address, and isn't linked.
  case emailOfUnusable(ProviderIdentity)
  /// The person is linked with another administrator.
  case linkedElsewhere
  /// Another person than the session's administrator signed in.
  case otherPerson
  /// The administrator must confirm their identity first.
  case reauthenticationRequired
  /// The administrator isn't linked.
  case notLinked
  /// Without the link, the administrator couldn't sign in.
  case linkRequired(LinkNecessity)
  /// Too many failed attempts; a retry is possible at the given time.
  case throttled(until: Instant)
  /// The database is unavailable.
  case unavailable(Failure)
}

extension ProviderSignInError: UseCaseError {}

extension ProviderSignInError {
  /// The stable name of the reason in the audit log.
  var code: String {
    switch self {
    case .notConfigured: "not-configured"
    case .ended: "ended"
    case .refused(let code): "provider-\(code.text)"
    case .provider: "provider"
    case .tokenRefused: "code"
    case .invalidToken(let fault), .wrongTime(let fault, _): "token-\(fault.rawValue)"
    case .userInfoRefused(let status): "userinfo-\(status)"
    case .userInfoInvalid: "userinfo"
    case .groupsNotListed: "groups-not-listed"
    case .noRole: "no-role"
    case .emailRequired: "email-required"
    case .emailTaken, .emailOfUnusable: "email-taken"
    case .linkedElsewhere: "linked-elsewhere"
    case .otherPerson: "other-person"
    case .reauthenticationRequired: "reauthentication-required"
    case .notLinked: "not-linked"
    case .linkRequired: "link-required"
    case .throttled: "throttled"
    case .unavailable: "unavailable"
    }
  }
}

extension ProviderSignInError {
  /// What's wrong with the provider or its connection, for the log; nil for errors that concern only
  /// the person.
  public var diagnosis: String? {
    switch self {
    case .provider(let fault): "\(code): \(fault)"
    case .tokenRefused(let given): given.text.isEmpty ? code : "\(code): \(given.text)"
    case .wrongTime(_, let seconds): "\(code): \(seconds) s"
    case .invalidToken, .userInfoRefused, .userInfoInvalid: code
    default: nil
    }
  }
}
