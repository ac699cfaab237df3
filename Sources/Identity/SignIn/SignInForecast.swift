public import OTP

/// Predicts what would happen if a user signed in now with the correct password, and whether they
/// could enroll.
///
/// Applies the same rules as sign-in and enrollment, without side effects. It can't know the user's
/// network, whose wrong guesses are counted too, so it reports how many networks are blocked for
/// the account's password.
public struct SignInForecast: Sendable {
  /// The result of entering email and password.
  public enum FirstFactor: Sendable, Equatable {
    case accepted
    case poolDisabled
    case passwordLoginDisabled
    case tooManyAttempts(until: Instant)
    case noEmail
    case noPassword
    case userDisabled
  }

  public enum SecondFactor: Sendable {
    /// Nothing; the user is signed in.
    case none
    /// A code of one of these factors, subject to the lock.
    case due([Factor], window: Window, lock: CodeLock)
  }

  public let pool: Pool
  public let account: Account
  public let methods: SignInMethods
  public let policy: StoredPolicy
  public let firstFactor: FirstFactor
  public let secondFactor: SecondFactor
  /// The required factors that are suspended, so that their codes are rejected.
  public let suspended: [Factor]
  /// The networks that are blocked after too many wrong passwords for this account; nil if there
  /// are none.
  public internal(set) var blockedNetworks: BlockedNetworks?
  /// How the server enforces that the user should have a second factor by now; nil if it doesn't.
  public internal(set) var enforcement: Enforcement.Mode?
  /// Why the user couldn't enroll an authenticator app after signing in; nil if they could.
  public let enrollmentRefusal: EnrollmentError?

  /// `blockedUntil` is when passwords for this name are checked again; nil if they aren't blocked.
  init(
    of account: Account, policy: StoredPolicy, methods: SignInMethods, blockedUntil: Instant?,
    at now: Instant
  ) {
    self.account = account
    self.policy = policy
    self.methods = methods
    pool = policy.pool
    firstFactor = Self.firstFactor(
      account, pool: policy.pool, methods: methods, blockedUntil: blockedUntil)
    let due = Self.factorsDue(of: account, policy.configuration)
    secondFactor =
      due.isEmpty
      ? .none : .due(due, window: policy.configuration.window, lock: account.codeLock(at: now))
    suspended = due.filter { $0.isSuspended(at: now) }
    enrollmentRefusal = Enrollments.refusal(account, by: .password, policy.configuration)
  }

  /// Returns the factors that sign-in requires: the account's factors whose kind is enabled.
  static func factorsDue(of account: Account, _ configuration: MFAConfiguration) -> [Factor] {
    account.factors.filter { configuration.isOn($0.kind) }
  }

  private static func firstFactor(
    _ account: Account, pool: Pool, methods: SignInMethods, blockedUntil: Instant?
  ) -> FirstFactor {
    if pool.isDisabled { return .poolDisabled }
    if !methods.password { return .passwordLoginDisabled }
    if account.email == nil { return .noEmail }
    if let blockedUntil { return .tooManyAttempts(until: blockedUntil) }
    if !account.hasPassword { return .noPassword }
    return account.disabled ? .userDisabled : .accepted
  }
}

/// Networks whose passwords for one account aren't checked.
public struct BlockedNetworks: Sendable, Equatable {
  public let count: Int
  /// When the last of them can retry.
  public let until: Instant
}
