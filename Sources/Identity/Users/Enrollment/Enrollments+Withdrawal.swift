import Database

extension Enrollments {
  /// Unenrolls a user's own factor, ends the earlier sessions, and notifies the user by email.
  ///
  /// Unless the pool's setting is off, the session must have passed a second factor
  /// (``SignInChange``). A suspended factor remains required at sign-in and can't be unenrolled.
  ///
  /// - Returns: A new session; nil if the factor was the most recently enrolled of several, or if the
  ///   pool now refuses sessions without a second factor, in which case clients sign the user
  ///   out.
  public func withdraw(
    _ session: UserSession, enrollment: String, by author: Author
  ) async throws -> SessionGrant? {
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      let account = try Sessions.check(session, connection)
      let found = account.factors.filter { $0.id.text == enrollment }
      try Self.check(.withdrawal, of: found, from: account, in: session, at: now, connection)
      guard let factor = found.first else { throw EnrollmentError.enrollmentNotFound }
      let codes = try BackupCodeCounts(of: account, at: now, connection)
      try FactorRecord.delete([factor], of: account, in: session.pool, connection)
      let ended = try AccountRecord.endSessions(account.key, at: now, connection)
      var entry = AuditEntry(.factorWithdraw, of: account, in: session.pool)
      entry.add(.factors, lost: .of([factor]))
      entry.addEnded(ended)
      try entry.addEnded(codes, of: account, at: now, connection)
      try entry.record(by: author, limitedBy: .factor, at: now, connection)
      try store.outbox.notifyOwn(
        UserNotice(.factorWithdrawn, [factor.label]), account, in: session.pool, at: now,
        connection)
      if account.factors.count > 1, account.newestFactor?.id == factor.id { return nil }
      guard let changed = try AccountRecord.find(key: account.key, connection) else { return nil }
      // A new session without a second factor wouldn't be refreshed either.
      guard
        try session.secondFactor(keptBy: changed) != nil
          || !store.refusesSessions(of: changed, in: session.pool, at: now, connection)
      else { return nil }
      return try Sessions.renew(
        session, from: account, to: changed, with: .continuation(of: session), at: now,
        random: store.random,
        connection)
    }
  }

  /// Checks that a user can remove factors of their account in a session, by a withdrawal or the
  /// deletion of the account; throws ``EnrollmentError/changesLocked``,
  /// ``EnrollmentError/factorSuspended``, what ``SignInChange`` throws, database errors.
  static func check(
    _ change: SignInChange, of factors: [Factor], from account: Account, in session: UserSession,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    try checkChanges(account)
    try SignInChange.check([change], of: account, in: session, at: now, connection)
    // The session may be open on the lost device itself.
    guard !factors.contains(where: { $0.isSuspended(at: now) }) else {
      throw EnrollmentError.factorSuspended
    }
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
