/// How a user signed in first, in the words of ID tokens.
public enum SignInProvider: String, Sendable {
  /// E-mail and password, or a link by mail.
  case password
  /// Without any credential.
  case anonymous
  /// By a custom token of the application's back end.
  case custom
  /// By a code sent to a phone.
  case phone

  /// False for the first factors that allow no second one.
  public var supportsSecondFactor: Bool { self == .password }
}

/// The second factor that a session passed.
public struct SecondFactorClaim: Sendable, Equatable {
  /// The kind.
  public let kind: Factor.Kind
  /// The enrolment.
  public let enrolment: ID<Factor>

  /// Makes a claim.
  public init(kind: Factor.Kind, enrolment: ID<Factor>) {
    self.kind = kind
    self.enrolment = enrolment
  }
}

/// What an ID token says about a signed-in user.
public struct UserSession: Sendable {
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

  /// Makes a session of a verified token's claims.
  ///
  /// A time of sign-in beyond ``Instant/range`` becomes the nearest in it: the emulator profile
  /// takes tokens that nobody signed.
  public init(
    scope: Scope, account: ID<Account>, authTime: Int64, provider: SignInProvider,
    secondFactor: SecondFactorClaim? = nil
  ) {
    self.scope = scope
    self.account = account
    self.authTime = Instant(seconds: authTime).seconds
    self.provider = provider
    self.secondFactor = secondFactor
  }
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
  /// The database cannot answer now.
  case unavailable(Failure)
}

extension SessionError: UseCaseError {}
