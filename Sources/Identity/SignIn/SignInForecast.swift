public import OTP

/// What happens when a user signs in now with the right password, and whether they could enroll.
///
/// It is made of the same rules that sign-in and enrollment use, without doing anything. What it
/// cannot know is the network of the one who signs in, whose guesses are counted too; it says from how
/// many networks no password of the account is looked at.
public struct SignInForecast: Sendable {
  /// What becomes of email address and password.
  public enum FirstFactor: Sendable, Equatable {
    /// They pass.
    case accepted
    /// Nobody can sign in to the scope.
    case scopeDisabled
    /// The scope does not allow passwords.
    case passwordLoginDisabled
    /// Too many wrong passwords; from then on one may try again.
    case tooManyAttempts(until: Instant)
    /// The account has no address to sign in with.
    case noEmail
    /// The account has no password.
    case noPassword
    /// The account may not sign in.
    case userDisabled
  }

  /// What is asked for after the first factor.
  public enum SecondFactor: Sendable {
    /// Nothing: the user is signed in.
    case none
    /// A code of one of these factors, as far as codes are looked at.
    case due([Factor], window: Window, lock: CodeLock)
  }

  /// The user pool.
  public let scope: Scope
  /// The account.
  public let account: Account
  /// Which first factors the pool allows.
  public let methods: SignInMethods
  /// The policy in force.
  public let policy: Policy
  /// What becomes of email address and password.
  public let firstFactor: FirstFactor
  /// What is asked for after a first factor that passed.
  public let secondFactor: SecondFactor
  /// Of the factors that are asked for, those whose codes are refused for a while.
  public let suspended: [Factor]
  /// The networks from which too many wrong passwords of this account came; nil when none is refused.
  public internal(set) var blockedNetworks: BlockedNetworks?
  /// Why the user could not enroll an authenticator app after signing in; nil when they could.
  public let enrollmentRefusal: EnrollmentError?

  /// Foretells the sign-in of an account.
  ///
  /// - Parameters:
  ///   - account: The account.
  ///   - policy: The policy of its scope.
  ///   - methods: The first factors that the scope allows.
  ///   - blockedUntil: Until when passwords of this name are not looked at; nil when they are.
  ///   - now: The moment of the sign-in.
  init(
    of account: Account, policy: Policy, methods: SignInMethods, blockedUntil: Instant?,
    at now: Instant
  ) {
    self.account = account
    self.policy = policy
    self.methods = methods
    scope = policy.scope
    firstFactor = Self.firstFactor(
      account, scope: policy.scope, methods: methods, blockedUntil: blockedUntil, at: now)
    let due = Self.factorsDue(of: account, policy.configuration)
    secondFactor =
      due.isEmpty
      ? .none : .due(due, window: policy.configuration.window, lock: account.codeLock(at: now))
    suspended = due.filter { $0.isSuspended(at: now) }
    enrollmentRefusal = Enrollments.refusal(account, by: .password, policy.configuration)
  }

  /// The factors that sign-in asks for: those of an account whose kind is switched on.
  static func factorsDue(of account: Account, _ configuration: MFAConfiguration) -> [Factor] {
    account.factors.filter { configuration.isOn($0.kind) }
  }

  private static func firstFactor(
    _ account: Account, scope: Scope, methods: SignInMethods, blockedUntil: Instant?,
    at now: Instant
  ) -> FirstFactor {
    if scope.isDisabled { return .scopeDisabled }
    if !methods.password { return .passwordLoginDisabled }
    if account.email == nil { return .noEmail }
    if let blockedUntil, blockedUntil > now { return .tooManyAttempts(until: blockedUntil) }
    if !account.hasPassword { return .noPassword }
    return account.disabled ? .userDisabled : .accepted
  }
}

/// Networks from which passwords of one account aren't looked at.
public struct BlockedNetworks: Sendable, Equatable {
  /// How many there are.
  public let count: Int
  /// When the last of them may try again.
  public let until: Instant
}
