import Crypto

/// How a user signed in first, in the words of ID tokens.
public struct SignInProvider: Sendable, Hashable {
  /// The word: `password`, or the id of a provider such as `google.com`.
  public let rawValue: String

  private init(_ rawValue: String) { self.rawValue = rawValue }

  /// Takes the word of a token or a row; nil for an empty one and for one of more than 128 bytes.
  public init?(rawValue: String) {
    guard !rawValue.isEmpty, rawValue.utf8.count <= 128 else { return nil }
    self.rawValue = rawValue
  }

  /// Email and password, or a link by mail.
  public static let password = Self("password")
  /// Without any credential.
  public static let anonymous = Self("anonymous")
  /// By a custom token of the application's back end.
  public static let custom = Self("custom")
  /// By a code sent to a phone.
  public static let phone = Self("phone")
  /// By Apple's Game Center.
  public static let gameCenter = Self("gc.apple.com")

  /// False for the first factors that allow no second one.
  public var supportsSecondFactor: Bool {
    ![Self.anonymous, .custom, .phone, .gameCenter].contains(self)
  }
}

/// The second factor that a session passed.
public struct SecondFactorClaim: Sendable, Equatable {
  /// The kind.
  public let kind: Factor.Kind
  /// The enrollment.
  public let enrollment: ID<Factor>

  /// Makes a claim.
  public init(kind: Factor.Kind, enrollment: ID<Factor>) {
    self.kind = kind
    self.enrollment = enrollment
  }
}

/// What an ID token says about a signed-in user.
public struct UserSession: Sendable {
  /// Which session, as base64url of the part of its refresh token that is no secret; nil for one of
  /// an ID token from before tokens said so.
  public let id: ID<UserSession>?
  /// The user pool.
  public let scope: Scope
  /// The user.
  public let account: ID<Account>
  /// When the user signed in, in seconds since 1970.
  public let authTime: Int64
  /// How.
  public let provider: SignInProvider
  /// The second factor that was passed; nil for none.
  public let secondFactor: SecondFactorClaim?
  /// The claims that came with its custom token, as JSON text; nil for none, and for a session that
  /// was read from an ID token.
  public let claims: String?

  /// Makes a session of a verified token's claims.
  ///
  /// A time of sign-in beyond ``Instant/range`` becomes the nearest in it: the emulator profile
  /// takes tokens that nobody signed.
  public init(
    id: ID<UserSession>? = nil, scope: Scope, account: ID<Account>, authTime: Int64,
    provider: SignInProvider, secondFactor: SecondFactorClaim? = nil, claims: String? = nil
  ) {
    self.id = id
    self.scope = scope
    self.account = account
    self.authTime = Instant(seconds: authTime).seconds
    self.provider = provider
    self.secondFactor = secondFactor
    self.claims = claims
  }
}

extension ID where Owner == UserSession {
  init(_ bytes: [UInt8]) { self.init(Base64URL.encode(bytes)) }

  /// The key of the session's row; no session has the one of a text that isn't an id.
  var bytes: [UInt8] { Base64URL.decode(text.prefix(32)) ?? [] }
}

/// A session that was just granted, to be turned into tokens.
public struct SessionGrant: Sendable {
  /// The session.
  public let session: UserSession
  /// The account as it is now.
  public let account: Account
  /// The token that refreshes it; kept only as a digest.
  public let refreshToken: String
}

/// Why a session does not count.
public enum SessionError: Error, Sendable {
  /// The account does not exist any more.
  case userNotFound
  /// The account may not sign in.
  case userDisabled
  /// The session was ended.
  case tokenExpired
  /// A refresh token that was never issued.
  case invalidRefreshToken
  /// A refresh token of another tenant.
  case tenantMismatch
  /// The tenant of the refresh token was deleted.
  case tenantDeleted
  /// The user has ended sessions by changes of their own too often; from then on one may try again.
  case tooManyChanges(until: Instant)
  /// Nobody can sign in to the scope, and so nobody stays signed in.
  case scopeDisabled(Scope)
  /// The database cannot answer now.
  case unavailable(Failure)
}

extension SessionError: UseCaseError {}
