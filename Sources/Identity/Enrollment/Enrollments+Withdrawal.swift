import Database

extension Enrollments {
  /// Withdraws a factor of the user's own, ends the earlier sessions and tells the user by mail.
  ///
  /// A session that has passed the first factor only will do, since applications rely on it, unless
  /// the scope wants one that has passed a second one. A suspended factor stays due, and so is not
  /// withdrawn.
  ///
  /// - Returns: A new session; nil when the factor was the newest of several, for then clients
  ///   shall sign the user out.
  /// - Throws: ``EnrollmentError``.
  public func withdraw(
    _ session: UserSession, enrollment: String, by author: Author
  ) async throws(EnrollmentError) -> SessionGrant? {
    let now = store.clock.now()
    let (random, outbox, profile) = (store.random, store.outbox, store.profile)
    return try await store.write(EnrollmentError.self) { connection in
      let account = try EnrollmentError.translating { try Sessions.check(session, connection) }
      try Self.checkChanges(account)
      let policy = try Policies.find(session.scope.key, connection)
      if try Self.needsFactor(session, account, policy.configuration, connection) {
        throw EnrollmentError.secondFactorNeeded
      }
      guard let factor = account.factors.first(where: { $0.id.text == enrollment }) else {
        throw EnrollmentError.enrollmentNotFound
      }
      // The session may be one that is open on the very device that is lost.
      guard !factor.isSuspended(at: now) else { throw EnrollmentError.factorSuspended }
      try FactorRecord.delete([factor], of: account, in: session.scope, connection)
      try EnrollmentError.translating {
        try Sessions.endOwn(of: account.key, profile: profile, at: now, connection)
      }
      var entry = AuditEntry(
        "factor.withdraw", "account", account.id.text, name: account.label, in: session.scope)
      entry.from = factor.words
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        .factorWithdrawn(name: factor.label), account, in: session.scope, at: now, connection)
      if account.factors.count > 1, account.newestFactor?.id == factor.id { return nil }
      guard let changed = try AccountRecord.find(key: account.key, connection) else { return nil }
      let kept = changed.factors.contains { $0.id == session.secondFactor?.enrollment }
      return try Sessions.begin(
        changed, in: session.scope, provider: session.provider,
        secondFactor: kept ? session.secondFactor : nil,
        claims: try Sessions.claims(of: session, connection), isSignIn: false, at: now,
        random: random, connection)
    }
  }

  /// Whether a session may not withdraw a factor before it has passed one.
  ///
  /// Where no factor of the account is asked for at sign-in, no session could pass one.
  private static func needsFactor(
    _ session: UserSession, _ account: Account, _ configuration: MFAConfiguration,
    _ connection: borrowing Connection
  ) throws -> Bool {
    let isWanted: Bool? = try connection.first(
      "SELECT withdrawal_needs_factor FROM scope WHERE scope_key = \(session.scope.key)"
    ) { try $0.value(0) }
    guard isWanted == true else { return false }
    let hasPassed = account.factors.contains { $0.id == session.secondFactor?.enrollment }
    return !hasPassed && !SignInForecast.factorsDue(of: account, configuration).isEmpty
  }
}

extension Account {
  /// The factor that was enrolled last.
  var newestFactor: Factor? {
    var newest: Factor?
    for factor in factors where newest.map({ $0.enrolledAt <= factor.enrolledAt }) ?? true {
      newest = factor
    }
    return newest
  }
}
