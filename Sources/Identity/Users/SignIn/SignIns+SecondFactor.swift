import Crypto
import Database
public import OTP

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
    code: TypedCode, from origin: RequestOrigin = RequestOrigin(),
    by author: Author = Author(actor: .visitor)
  ) async throws -> SessionGrant {
    guard let ticket = Ticket(pendingCredential, .pendingCredential, by: tickets) else {
      throw SignInError.invalidPendingCredential
    }
    let now = store.clock.now()
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
      // Apps show six digits; backup codes are longer.
      let isOfApp = code.isDigits(TOTPFactor.digits)
      // Backup codes have no interval, also if they're rejected.
      let attempt = CodeAttemptRecorder(
        account: account, pool: pool, way: .app, enrollment: factor.id,
        window: isOfApp ? window : nil, origin: origin,
        isClockDoubted: store.expectedTime.isDoubted)
      if let until = account.codesBlocked(at: now) {
        return .failure(try attempt.refuse(until: until, at: now, connection))
      }
      let finding =
        isOfApp
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
          with: .signInWith(claims: ticket.claims, backupCode: !isOfApp), at: now,
          random: store.random, setting: change, connection)
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

extension SignIns {
  var codes: PhoneCodes { PhoneCodes(store: store, tickets: tickets) }

  /// Sends the code that completes a sign-in to the phone of a second factor.
  ///
  /// `tenant` is nil to use that of the credential.
  ///
  /// - Returns: The session that the client sends back with the code.
  public func startPhone(
    project: ID<Project>, tenant: ID<Tenant>?, pendingCredential: String, enrollment: String,
    language: String, address: ClientAddress
  ) async throws -> String {
    guard let ticket = Ticket(pendingCredential, .pendingCredential, by: tickets) else {
      throw SignInError.invalidPendingCredential
    }
    let codes = codes
    return try await store.write { now, connection in
      let pending = try Self.open(
        ticket, project: project, tenant: tenant, lifetime: Ticket.phonePendingLifetime,
        expired: .phonePendingExpired, enrollment: enrollment, unknown: .enrollmentNotFound,
        at: now,
        connection
      ).get()
      let account = pending.account
      guard let factor = account.factors.first(where: { $0.id.text == enrollment }) else {
        throw SignInError.enrollmentNotFound
      }
      guard let number = factor.phoneNumber else { throw SignInError.invalidPhone }
      guard pending.policy.configuration.isSMSOn else { throw SignInError.smsNotEnabled }
      if let until = account.codesBlocked(at: now) {
        throw SignInError.quotaExceeded(until: until)
      }
      let use = PhoneCodes.Use(
        kind: .phoneSecondFactor, purpose: .smsSecondFactor, account: account,
        provider: ticket.provider, factor: factor.id, pending: ticket.id)
      let request = PhoneRequest(phoneNumber: number, language: language, address: address)
      return try codes.send(request, for: use, in: pending.pool, at: now, connection).session()
    }
  }

  /// Signs in with a code sent to the phone of a second factor.
  ///
  /// A wrong code, or one of another sign-in, is counted on the account in the same transaction,
  /// which also records each code attempt. A temporary proof isn't accepted, because wrong codes of
  /// phone sign-in, which it results from, aren't counted on the account.
  ///
  /// `tenant` is nil to use that of the credential.
  public func finalizePhone(
    project: ID<Project>, tenant: ID<Tenant>?, pendingCredential: String, _ proof: PhoneProof,
    from origin: RequestOrigin = RequestOrigin()
  ) async throws -> SessionGrant {
    guard let ticket = Ticket(pendingCredential, .pendingCredential, by: tickets) else {
      throw SignInError.invalidPendingCredential
    }
    guard case .code(let sessionInfo, let code) = proof else {
      throw SignInError.invalidTemporaryProof
    }
    let outcome: Result<SessionGrant, SignInError> = try await store.write {
      now, connection in
      let pending: Pending
      switch try Self.open(
        ticket, project: project, tenant: tenant, lifetime: Ticket.phonePendingLifetime,
        expired: .phonePendingExpired, at: now, connection)
      {
      case .success(let found): pending = found
      case .failure(let error): return .failure(error)
      }
      let account = pending.account
      guard pending.policy.configuration.isSMSOn else { return .failure(.smsNotEnabled) }
      let sent = PhoneCode(sessionInfo, .phoneSecondFactor, by: tickets)
      let known = account.factors.first { $0.id == sent?.factor }
      let attempt = CodeAttemptRecorder(
        account: account, pool: pending.pool, way: .phone, enrollment: known?.id, origin: origin,
        isClockDoubted: store.expectedTime.isDoubted)
      if let until = account.codesBlocked(at: now) {
        return .failure(try attempt.refuse(until: until, at: now, connection))
      }
      let factor: Factor
      switch try Self.factor(sent, code, ticket, attempt, at: now, connection) {
      case .success(let found): factor = found
      case .failure(let error): return .failure(error)
      }
      try ticket.countUse(connection)
      try PhoneFactor.accept(factor.id, of: account, at: now, connection)
      let change = try attempt.accept(CodeFinding(.accepted), at: now, connection)
      return .success(
        try Sessions.begin(
          account, in: pending.pool, provider: ticket.provider,
          secondFactor: SecondFactorClaim(kind: .phone, enrollment: factor.id),
          with: .signInWith(claims: ticket.claims), at: now, random: store.random, setting: change,
          connection))
    }
    return try outcome.get()
  }

  /// Returns the account's factor that a correct code was sent to, and uses the code up.
  private static func factor(
    _ sent: PhoneCode?, _ code: TypedCode, _ ticket: Ticket, _ attempt: CodeAttemptRecorder,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Result<Factor, SignInError> {
    let account = attempt.account
    guard let sent else { return .failure(.invalidSessionInfo) }
    guard sent.ticket.account == account.key, sent.pending == ticket.id else {
      // A session of another sign-in is counted as a guess, too.
      let refusal = try attempt.fail(CodeFinding(.wrong), at: now, connection)
      if case .quotaExceeded = refusal { return .failure(refusal) }
      return .failure(.invalidSessionInfo)
    }
    let factor = account.factors.first {
      $0.id == sent.factor && $0.phoneNumber == sent.phoneNumber
    }
    guard let factor else { return .failure(.invalidEnrollment) }
    let isSuspended = factor.isSuspended(at: now)
    let codeAttempt =
      isSuspended
      ? try sent.checkSuspended(code, at: now, connection)
      : try sent.check(code, at: now, connection)
    switch codeAttempt {
    case .right where !isSuspended: break
    case .right:
      return .failure(try attempt.fail(CodeFinding(.suspended), at: now, connection))
    case .wrong: return .failure(try attempt.fail(CodeFinding(.wrong), at: now, connection))
    case .over:
      try attempt.note(CodeFinding(.expired), at: now, connection)
      return .failure(.sessionExpired)
    }
    try sent.use(connection)
    return .success(factor)
  }
}

extension PhoneCodes.Sent {
  /// - Throws: ``SignInError`` if none was sent.
  func session() throws(SignInError) -> String {
    switch self {
    case .session(let info): return info
    case .refusedRegion: throw .regionNotAllowed
    case .blocked(let until): throw .quotaExceeded(until: until)
    }
  }
}

extension SignIns {
  /// Verifies a code that replaces the authenticator app's: a temporary code or a recovery code.
  ///
  /// It's accepted like a code of the app, even if the app is suspended. While codes aren't checked
  /// after too many wrong ones, it isn't checked either.
  ///
  /// - Returns: The result; a valid code is used up.
  func checkBackupCode(
    _ code: TypedCode, of account: Account, in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> CodeFinding {
    guard let kind = BackupCodeStore.Kind(of: code) else { return CodeFinding(.unreadable) }
    let settings = try SupportRules.find(pool, connection)
    guard settings.accepts(kind),
      try backupCodes.use(
        code, kind, of: account, in: pool, at: now, connection)
    else { return CodeFinding(.wrong) }
    let action: AuditAction =
      kind == .temporary ? .factorUseTemporaryCode : .factorUseRecoveryCode
    var entry = AuditEntry(action, of: account, in: pool)
    if kind == .recovery {
      let left = try BackupCodeStore.left(.recovery, of: account.key, at: now, connection)
      entry.add(.codesLeft, .number(left?.count ?? 0))
      try store.outbox.notify(
        UserNotice(.recoveryCodeUsed, left: left?.count ?? 0), account, in: pool, within: nil,
        at: now,
        connection)
    }
    try entry.record(by: author.user(account), limitedBy: .code, at: now, connection)
    return CodeFinding(kind == .temporary ? .temporary : .recovery)
  }
}
