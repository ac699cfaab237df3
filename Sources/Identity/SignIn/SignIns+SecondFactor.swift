import Crypto
import Database

extension SignIns {
  /// Returns a pending credential like that of `password`, for an account that passed its first
  /// factor elsewhere.
  public func pendingCredential(
    _ pool: Pool, _ account: Account
  ) throws -> String {
    let ticket = Ticket(
      pool: pool, account: account, provider: .password, at: store.clock.now(),
      random: store.random)
    return try ticket.sealed(.pendingCredential, by: tickets)
  }

  /// Returns the pool of a pending credential; nil if the credential was never issued for one
  /// of the project.
  public func pool(
    of pendingCredential: String, project: ID<Project>
  ) async throws -> Pool? {
    guard let ticket = Ticket(pendingCredential, .pendingCredential, by: tickets) else {
      return nil
    }
    return try await store.read { connection in
      do {
        let pool = try Policies.stored(ticket.pool, connection).pool
        return pool.project == project ? pool : nil
      } catch PolicyError.poolNotFound { return nil }
    }
  }

  /// Signs in with a code from an authenticator app, or with a backup code.
  ///
  /// A wrong code is counted in the transaction that checked it, which also records each code
  /// attempt. From the fifth wrong code in a row, codes aren't checked for a while, and after the
  /// pool's limit not until they're unlocked.
  ///
  /// `tenant` is nil to use that of the credential.
  public func finalize(
    project: ID<Project>, tenant: ID<Tenant>?, pendingCredential: String, enrollment: String,
    code: String, from origin: RequestOrigin = RequestOrigin(),
    by author: Author = Author(actor: .visitor)
  ) async throws -> SessionGrant {
    guard let ticket = Ticket(pendingCredential, .pendingCredential, by: tickets) else {
      throw SignInError.invalidPendingCredential
    }
    let now = store.clock.now()
    let (random, totp) = (store.random, totp)
    let outcome: Result<SessionGrant, SignInError> = try await store.write(
      by: author
    ) {
      connection in
      let pending: Pending
      switch try Self.open(
        ticket, project: project, tenant: tenant, lifetime: Ticket.pendingLifetime,
        expired: .pendingExpired, enrollment: enrollment, at: now, connection)
      {
      case .success(let found): pending = found
      case .failure(let error): return .failure(error)
      }
      let (account, pool) = (pending.account, pending.pool)
      guard let factor = account.factors.first(where: { $0.id.text == enrollment }),
        factor.kind == .totp
      else {
        return .failure(.invalidEnrollment)
      }
      // A factor of a kind that was turned off doesn't stand in for one that's required.
      let due = SignInForecast.factorsDue(of: account, pending.policy.configuration)
      guard due.isEmpty || due.contains(where: { $0.id == factor.id }) else {
        return .failure(.totpNotEnabled)
      }
      let window = pending.policy.configuration.window
      // Backup codes have no interval, also if they're rejected.
      let attempt = CodeAttemptRecorder(
        account: account, pool: pool, way: .app, enrollment: factor.id,
        window: Self.isOfApp(code) ? window : nil, origin: origin,
        isClockDoubted: store.expectedTime.isDoubted)
      if let until = account.codesBlocked(at: now) {
        return .failure(try attempt.refuse(until: until, at: now, connection))
      }
      let finding =
        Self.isOfApp(code)
        ? try totp.check(
          code, for: factor.id, of: account, in: pool, window: window, at: now, connection)
        : try checkBackupCode(code, of: account, in: pool, by: author, at: now, connection)
      guard finding.result.isSuccess else {
        return .failure(try attempt.fail(finding, at: now, connection))
      }
      let change = try attempt.accept(finding, at: now, connection)
      try ticket.countUse(connection)
      return .success(
        try Sessions.begin(
          account, in: pool, provider: ticket.provider,
          secondFactor: SecondFactorClaim(kind: factor.kind, enrollment: factor.id),
          with: .signInWith(claims: ticket.claims, backupCode: !Self.isOfApp(code)), at: now,
          random: random, setting: change, connection)
      )
    }
    return try outcome.get()
  }

  /// A sign-in that a valid pending credential represents, as read in the current transaction.
  struct Pending {
    let policy: StoredPolicy
    let account: Account
    var pool: Pool { policy.pool }
  }

  /// Checks that a pending credential is still valid.
  ///
  /// `lifetime` is in seconds. `expired` is the error for an expired credential, and `unknown` that
  /// for an `enrollment` that the account doesn't have, which is rejected before the credential's
  /// revocation is checked.
  ///
  /// - Returns: The sign-in that the credential represents, or why it's rejected.
  static func open(
    _ ticket: Ticket, project: ID<Project>, tenant: ID<Tenant>?, lifetime: Int64,
    expired: SignInError, enrollment: String? = nil, unknown: SignInError = .invalidEnrollment,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Result<Pending, SignInError> {
    let policy: StoredPolicy
    do { policy = try Policies.stored(ticket.pool, connection) } catch PolicyError
      .poolNotFound
    {
      return .failure(.invalidPendingCredential)
    }
    let pool = policy.pool
    guard pool.project == project else { return .failure(.projectMismatch) }
    guard tenant == nil || tenant == pool.tenant else { return .failure(.tenantMismatch) }
    guard ticket.issuedAt.lasts(lifetime, at: now) else { return .failure(expired) }
    guard let account = try AccountRecord.find(key: ticket.account, connection) else {
      return .failure(.userNotFound)
    }
    guard !pool.isDisabled else { return .failure(.poolDisabled(pool)) }
    guard !account.disabled else { return .failure(.userDisabled) }
    if let enrollment, !account.factors.contains(where: { $0.id.text == enrollment }) {
      return .failure(unknown)
    }
    // The sessions were revoked after the credential was issued, so the first factor is required
    // again.
    guard ticket.generation == account.generation else {
      return .failure(.invalidPendingCredential)
    }
    guard try ticket.record(connection).uses == 0 else {
      return .failure(.invalidPendingCredential)
    }
    return .success(Pending(policy: policy, account: account))
  }
}
