import Database
public import OTP

extension SignIns {
  /// Predicts what would happen if a user signed in now, for each account with an email or uid.
  ///
  /// It searches each hosted pool in which the administrator can find users, so the cost grows with
  /// the number of pools, not of users.
  ///
  /// `text` is an email, case-insensitive, or a uid. The forecasts are ordered by project and
  /// tenant.
  public func forecasts(
    of text: String, visibleTo administrator: Administrator, limit: Int = 20
  ) async throws -> [SignInForecast] {
    let places = Self.places(administrator)
    return try await store.read { now, connection in
      var (seen, forecasts) = (Set<Int64>(), [SignInForecast]())
      for place in places {
        for (account, pool) in try Self.accounts(text, place, limit: limit, connection)
        where forecasts.count < limit && seen.insert(account).inserted {
          if let forecast = try forecast(account, pool, at: now, connection) {
            forecasts.append(forecast)
          }
        }
      }
      return forecasts.sorted {
        ($0.pool.project.text, $0.pool.tenant?.text ?? "")
          < ($1.pool.project.text, $1.pool.tenant?.text ?? "")
      }
    }
  }

  /// Returns the conditions on pools `s` in which an administrator can find users, one for each
  /// grant.
  private static func places(_ administrator: Administrator) -> [SQL] {
    let grants = administrator.grants.filter { $0.role.permissions.contains(.findUsers) }
    if grants.contains(where: { $0.project == nil }) { return ["s.project_id > ''"] }
    return grants.compactMap { grant in
      guard let project = grant.project else { return nil }
      guard let tenant = grant.tenant else { return "s.project_id = \(project)" }
      return "s.project_id = \(project) AND s.tenant_id = \(tenant)"
    }
  }

  private static func accounts(
    _ text: String, _ place: SQL, limit: Int, _ connection: borrowing Connection
  ) throws -> [(account: Int64, pool: Int64)] {
    let email = AccountRules.folded(email: text)
    var found: [(account: Int64, pool: Int64)] = []
    for match in ["a.email_folded = \(email)", "a.uid = \(text)"] as [SQL] {
      // The join order is fixed: pools first, then the account by its index.
      found += try connection.all(
        """
        SELECT a.account_key, s.scope_key FROM scope s
          \(SQL.orderedJoin) account a ON a.scope_key = s.scope_key
        WHERE \(place) AND s.deleted_at IS NULL AND \(match)
        LIMIT \(limit)
        """
      ) { (try $0.next(), try $0.next()) }
    }
    return found
  }

  private func forecast(
    _ key: Int64, _ pool: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> SignInForecast? {
    guard let account = try AccountRecord.find(key: key, connection) else { return nil }
    let policy = try Policies.stored(pool, connection)
    guard policy.pool.offers.contains(.secrets) else { return nil }
    var blockedUntil: Instant?
    var networks: BlockedNetworks?
    if let email = account.email {
      let name = CounterName.passwords(of: TypedEmail(email), in: pool)
      blockedUntil = try ThrottleCharge.blockedUntil(.everywhere(name), at: now, connection)
      networks = try ThrottleCharge.blockedNetworks(of: name, at: now, connection)
    }
    var forecast = try store.forecast(
      of: account, policy, blockedUntil: blockedUntil, at: now, connection)
    forecast.blockedNetworks = networks
    forecast.drift = try CodeAttempts.drift(of: account, connection)
    return forecast
  }
}

extension Store {
  /// Predicts the sign-in of an account, without its blocked networks.
  ///
  /// `blockedUntil` is when passwords for its email are checked again; nil if they aren't blocked,
  /// or if the first factor doesn't matter.
  func forecast(
    of account: Account, _ policy: StoredPolicy, blockedUntil: Instant? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> SignInForecast {
    var forecast = SignInForecast(
      of: account, policy: policy, methods: try SignIns.methods(policy.pool, connection),
      blockedUntil: blockedUntil, at: now)
    forecast.enforcement = try enforcement(forecast, at: now, connection)
    return forecast
  }

  /// Returns how the server enforces that the user of a forecast should have a second factor by now;
  /// nil if it doesn't.
  private func enforcement(
    _ forecast: SignInForecast, at now: Instant, _ connection: borrowing Connection
  ) throws -> Enforcement.Mode? {
    let (account, policy) = (forecast.account, forecast.policy)
    guard case .none = forecast.secondFactor, policy.edit.effectiveEnforcement != nil,
      try EnrollmentDuty(of: account, policy, at: now, connection).isDue
    else { return nil }
    return try refusesSessions(of: account, in: policy.pool, at: now, connection)
      ? .refuse : .claim
  }
}

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
    /// The account is locked after its user's report.
    case locked(AccountLock.SignIn)
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
  /// What shows that the clock of the user's device is off; nil if it isn't.
  public internal(set) var drift: DriftEvidence?
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

  /// The required factor whose codes are rejected because its clock is off by more than the window;
  /// nil if there is none.
  public var factorOffTime: (factor: Factor, drift: ClockDrift, window: Window)? {
    guard case .due(let factors, let window, _) = secondFactor, let drift,
      abs(drift.drift.steps) > window.adjacentIntervals,
      let factor = factors.first(where: { $0.id == drift.newest.enrollment })
    else { return nil }
    return (factor, drift.drift, window)
  }

  private static func firstFactor(
    _ account: Account, pool: Pool, methods: SignInMethods, blockedUntil: Instant?
  ) -> FirstFactor {
    if pool.isDisabled { return .poolDisabled }
    if !methods.password { return .passwordLoginDisabled }
    if account.email == nil { return .noEmail }
    if let blockedUntil { return .tooManyAttempts(until: blockedUntil) }
    if !account.hasPassword { return .noPassword }
    if account.disabled { return .userDisabled }
    guard let lock = account.lock, account.isSignInLocked else { return .accepted }
    return .locked(lock.signIn)
  }
}
