import Crypto
public import Database

/// The first factor of a sign-in, as named in ID tokens (`sign_in_provider`).
public struct SignInProvider: RawRepresentable, Sendable, Hashable, SQLConvertible {
  /// The name: `password`, or a provider ID such as `google.com`.
  public let rawValue: String

  private init(_ rawValue: String) { self.rawValue = rawValue }

  /// Creates a provider from a token or a stored row; nil if the name is empty or longer than 128
  /// bytes.
  public init?(rawValue: String) {
    guard !rawValue.isEmpty, rawValue.utf8.count <= 128 else { return nil }
    self.rawValue = rawValue
  }

  /// Email and password, or a link sent by email.
  public static let password = Self("password")
  public static let anonymous = Self("anonymous")
  /// A custom token from the application's backend.
  public static let custom = Self("custom")
  public static let phone = Self("phone")
  public static let gameCenter = Self("gc.apple.com")

  public var supportsSecondFactor: Bool {
    ![Self.anonymous, .custom, .phone, .gameCenter].contains(self)
  }
}

public struct SecondFactorClaim: Sendable, Equatable {
  public let kind: Factor.Kind
  public let enrollment: ID<Factor>

  public init(kind: Factor.Kind, enrollment: ID<Factor>) {
    self.kind = kind
    self.enrollment = enrollment
  }
}

/// What an ID token says about a signed-in user.
public struct UserSession: Sendable {
  /// The session ID, the base64url encoding of the part of the refresh token that isn't secret; nil
  /// for ID tokens issued before they named their session.
  public let id: ID<UserSession>?
  public let pool: Pool
  public let account: ID<Account>
  /// When the user signed in, in seconds since 1970.
  public let authTime: Int64
  public let provider: SignInProvider
  public let secondFactor: SecondFactorClaim?
  /// The claims that the session's tokens have from the sign-in, as JSON text; nil if there are
  /// none or the session was read from an ID token.
  public let claims: String?

  /// A sign-in time outside ``Instant/range`` is clamped to it, because the emulator profile
  /// accepts unsigned tokens.
  public init(
    id: ID<UserSession>? = nil, pool: Pool, account: ID<Account>, authTime: Int64,
    provider: SignInProvider, secondFactor: SecondFactorClaim? = nil, claims: String? = nil
  ) {
    self.id = id
    self.pool = pool
    self.account = account
    self.authTime = Instant(seconds: authTime).seconds
    self.provider = provider
    self.secondFactor = secondFactor
    self.claims = claims
  }

  /// The second factor of the sign-in if an account still has it.
  func secondFactor(keptBy account: Account) -> SecondFactorClaim? {
    account.factors.contains { $0.id == secondFactor?.enrollment } ? secondFactor : nil
  }
}

extension ID where Owner == UserSession {
  init(_ bytes: [UInt8]) { self.init(Base64URL.encode(bytes)) }

  /// The key of the session's row; text that isn't an ID yields a key that no session has.
  var bytes: [UInt8] { Base64URL.decode(text.prefix(32)) ?? [] }
}

/// A newly granted session, from which tokens are issued.
public struct SessionGrant: Sendable {
  public let session: UserSession
  public let account: Account
  /// The refresh token, which is stored only as a digest.
  public let refreshToken: String
  /// Whether the user should have a second factor by now and has none, which the ID token says.
  public let mustEnroll: Bool
  /// The requirements of an enforced password policy that the password of the sign-in doesn't meet.
  public internal(set) var unmetRequirements: [PasswordRequirement] = []
}

public enum SessionError: Error, Sendable {
  case userNotFound
  case userDisabled
  /// The session was ended.
  case tokenExpired
  /// The user should have a second factor by now and has none.
  case enrollmentRequired
  /// The refresh token was never issued.
  case invalidRefreshToken
  case tenantMismatch
  case tenantDeleted
  /// The user changed their own account too often; retry after this time.
  case tooManyChanges(until: Instant)
  /// The sign-in was more than five minutes before a change of how the user signs in.
  case signInTooOld
  /// The session didn't pass a second factor, which a change of how the user signs in requires.
  case secondFactorNeeded
}
