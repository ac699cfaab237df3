import Database

extension Enrollments {
  /// Unenrolls a user's own factor, ends the earlier sessions, and notifies the user by email.
  ///
  /// A session with only a first factor is enough, because applications rely on it, unless the user
  /// pool requires a session with a second factor. A suspended factor remains required at sign-in
  /// and can't be unenrolled.
  ///
  /// - Returns: A new session; nil if the factor was the most recently enrolled of several, or if the
  ///   pool now refuses sessions without a second factor, in which case clients sign the user
  ///   out.
  public func withdraw(
    _ session: UserSession, enrollment: String, by author: Author
  ) async throws -> SessionGrant? {
    let now = store.clock.now()
    let store = store
    let (random, outbox) = (store.random, store.outbox)
    return try await store.write(by: author) { connection in
      let account = try Sessions.check(session, connection)
      let found = account.factors.filter { $0.id.text == enrollment }
      try Self.checkWithdrawal(of: found, from: account, in: session, at: now, connection)
      guard let factor = found.first else { throw EnrollmentError.enrollmentNotFound }
      let codes = try BackupCodeCounts(of: account, at: now, connection)
      try FactorRecord.delete([factor], of: account, in: session.pool, connection)
      try OwnChange.alert.count(of: account.key, at: now, connection)
      let ended = try Sessions.endOwn(of: account.key, at: now, connection)
      var entry = AuditEntry(.factorWithdraw, of: account, in: session.pool)
      entry.add(.factors, lost: .of([factor]))
      entry.addEnded(ended)
      try entry.addEnded(codes, of: account, at: now, connection)
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        .factorWithdrawn(name: factor.label), account, in: session.pool, at: now, connection)
      if account.factors.count > 1, account.newestFactor?.id == factor.id { return nil }
      guard let changed = try AccountRecord.find(key: account.key, connection) else { return nil }
      // A new session without a second factor wouldn't be refreshed either.
      guard
        try session.secondFactor(keptBy: changed) != nil
          || !store.refusesSessions(of: changed, in: session.pool, at: now, connection)
      else { return nil }
      return try Sessions.renew(
        session, from: account, to: changed, with: .renewal(of: session), at: now, random: random,
        connection)
    }
  }

  /// Checks that a user can remove factors of their account in a session.
  ///
  /// - Throws: ``EnrollmentError/changesLocked``, ``EnrollmentError/secondFactorNeeded``,
  ///   ``EnrollmentError/factorSuspended``, database errors.
  static func checkWithdrawal(
    of factors: [Factor], from account: Account, in session: UserSession, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try checkChanges(account)
    let policy = try Policies.stored(session.pool.key, connection)
    if try needsFactor(session, account, policy.configuration, connection) {
      throw EnrollmentError.secondFactorNeeded
    }
    // The session may be open on the lost device itself.
    guard !factors.contains(where: { $0.isSuspended(at: now) }) else {
      throw EnrollmentError.factorSuspended
    }
  }

  /// Returns true if the session must pass a second factor before it can unenroll one.
  ///
  /// If none of the account's factors is required at sign-in, no session could pass one.
  private static func needsFactor(
    _ session: UserSession, _ account: Account, _ configuration: MFAConfiguration,
    _ connection: borrowing Connection
  ) throws -> Bool {
    let isWanted: Bool? = try connection.first(
      "SELECT withdrawal_needs_factor FROM scope WHERE scope_key = \(session.pool.key)"
    ) { try $0.next() }
    guard isWanted == true else { return false }
    let hasPassed = account.factors.contains { $0.id == session.secondFactor?.enrollment }
    return !hasPassed && !SignInForecast.factorsDue(of: account, configuration).isEmpty
  }
}

extension Account {
  var newestFactor: Factor? {
    var newest: Factor?
    for factor in factors where newest.map({ $0.enrolledAt <= factor.enrolledAt }) ?? true {
      newest = factor
    }
    return newest
  }
}
