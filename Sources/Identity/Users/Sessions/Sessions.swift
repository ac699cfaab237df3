package import Crypto
package import Database

/// Verifies, refreshes, and ends the sessions of users.
public struct Sessions: Sendable {
  let store: Store

  /// The number of secret bytes in a refresh token, which follow those of the session's ID.
  private static let secretLength = 24
  /// The length of a refresh token in bytes: the session's ID, the secret, and the key of the user
  /// pool.
  private static let tokenLength = TimeOrderedID.length + secretLength + 8

  /// Checks that a session is still valid, and returns the account's current state.
  public func check(_ session: UserSession) async throws -> Account {
    try await store.read { connection in
      try Self.check(session, connection)
    }
  }

  /// Checks that a session is still valid, and that it would be refreshed: one without a second factor
  /// isn't if the user should have one by now and the pool refuses such sessions.
  public func checkContinuing(_ session: UserSession) async throws -> Account {
    try await store.read { now, connection in
      let account = try Self.check(session, connection)
      guard try !store.refusesToContinue(session, of: account, at: now, connection) else {
        throw SessionError.enrollmentRequired
      }
      return account
    }
  }

  static func check(_ session: UserSession, _ connection: borrowing Connection) throws -> Account {
    guard let account = try AccountRecord.find(session.pool, session.account, connection) else {
      throw SessionError.userNotFound
    }
    guard !account.disabled else { throw SessionError.userDisabled }
    // As in production, where sign-in that is off says so only when someone signs in. The pool may
    // have been disabled or deleted since the session was read.
    guard try SignIns.isOpen(session.pool, connection) else { throw SessionError.tokenExpired }
    guard try isOpen(session, of: account, connection) else { throw SessionError.tokenExpired }
    return account
  }

  /// Returns whether a session is still open, by its generation.
  ///
  /// An ID token that doesn't name its session predates generations and becomes invalid the next
  /// time the account's sessions are ended.
  private static func isOpen(
    _ session: UserSession, of account: Account, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let id = session.id else {
      return account.generation == 0 && session.authTime >= account.validSince
    }
    return try connection.first(
      """
      SELECT 1 FROM session WHERE session_id = \(id.bytes) AND account_key = \(account.key)
        AND generation = \(account.generation)
      """
    ) { try $0.next() as Int } != nil
  }

  /// Refreshes the session of a refresh token, keeping its sign-in time and second factor.
  ///
  /// Tokens of another `project` are invalid; `tenant` is nil if the request names none.
  public func refresh(
    _ token: String, project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> SessionGrant {
    guard let bytes = Self.bytes(of: token) else { throw SessionError.invalidRefreshToken }
    let id = Array(bytes.prefix(TimeOrderedID.length))
    let digest = Store.digest(token)
    return try await store.write { now, connection in
      guard let row = try Self.row(id, connection) else {
        throw try Self.isOfDeletedTenant(bytes, of: project, connection)
          ? SessionError.tenantDeleted : .invalidRefreshToken
      }
      guard constantTimeEqual(row.digest, digest), row.pool.project == project else {
        throw SessionError.invalidRefreshToken
      }
      guard tenant == nil || tenant == row.pool.tenant else { throw SessionError.tenantMismatch }
      guard !row.isDeleted else {
        throw row.isProjectDeleted ? SessionError.invalidRefreshToken : .tenantDeleted
      }
      guard !row.pool.isDisabled else { throw CallError.poolDisabled(row.pool) }
      guard var account = try AccountRecord.find(key: row.account, connection) else {
        // If another account has the uid now, the response is that of an ended session, because the
        // user exists.
        let successor = try row.deletedUID.flatMap { uid in
          try AccountRecord.find(row.pool, uid, connection)
        }
        guard let successor else { throw SessionError.userNotFound }
        throw successor.disabled ? SessionError.userDisabled : .tokenExpired
      }
      guard !account.disabled else { throw SessionError.userDisabled }
      guard row.generation == account.generation else { throw SessionError.tokenExpired }
      var mustEnroll = false
      if row.kind == nil {
        guard try !store.refusesSessions(of: account, in: row.pool, at: now, connection) else {
          throw SessionError.enrollmentRequired
        }
        mustEnroll = try EnforcedEnrollment.isDue(account, in: row.pool, at: now, connection)
      }
      try connection.run(
        """
        UPDATE session SET last_refresh_at = \(now)
        WHERE account_key = \(row.account) AND session_id = \(id)
        """)
      try AccountRecord.set("last_refresh_at = \(now)", of: row.account, connection)
      account.lastRefreshAt = now
      var claim: SecondFactorClaim?
      if let kind = row.kind, let enrollment = row.enrollment {
        claim = SecondFactorClaim(kind: kind, enrollment: enrollment)
      }
      let session = UserSession(
        id: ID(id), pool: row.pool, account: account.id,
        authTime: Self.authTime(row.authTime, of: account, at: now),
        provider: row.provider, secondFactor: claim, claims: row.claims)
      return SessionGrant(
        session: session, account: account, refreshToken: token, mustEnroll: mustEnroll)
    }
  }

  /// The time of a sign-in for its next ID token, in Unix seconds.
  ///
  /// One by a clock that was ahead doesn't count as recent once the clock is set back, but stays within
  /// what the account's tokens are valid since.
  private static func authTime(_ stored: Int64, of account: Account, at now: Instant) -> Int64 {
    guard Instant(seconds: stored).isInFuture(at: now) else { return min(stored, now.seconds) }
    return min(max(now.seconds - Enrollments.freshSignIn - 1, account.validSince), now.seconds)
  }

  private struct Row {
    let pool: Pool
    let account: Int64
    let authTime: Int64
    let provider: SignInProvider
    let kind: Factor.Kind?
    let enrollment: ID<Factor>?
    let digest: [UInt8]
    let claims: String?
    let generation: Int64
    let deletedUID: ID<Account>?
    let isDeleted: Bool
    let isProjectDeleted: Bool
  }

  private static func row(_ id: [UInt8], _ connection: borrowing Connection) throws -> Row? {
    try connection.first(
      """
      SELECT \(Pool.columns), t.account_key, t.auth_time_s, t.provider, t.factor_kind,
        t.enrollment_id, t.token_digest, t.claims, t.generation, t.deleted_uid,
        s.deleted_at IS NOT NULL, p.deleted_at IS NOT NULL
      FROM session t JOIN scope s ON s.scope_key = t.account_key >> 40
        JOIN project p USING (project_id)
      WHERE t.session_id = \(id)
      """
    ) { row in
      Row(
        pool: try Pool(&row), account: try row.next(), authTime: try row.next(),
        provider: try row.next(), kind: try row.next(), enrollment: try row.next(),
        digest: try row.next(), claims: try row.next(), generation: try row.next(),
        deletedUID: try row.next(), isDeleted: try row.next(), isProjectDeleted: try row.next())
    }
  }

  /// Returns whether a refresh token without a session is one of a deleted tenant.
  ///
  /// Relies on the pool's key at the end of the token, which isn't proof and doesn't need to be.
  private static func isOfDeletedTenant(
    _ token: [UInt8], of project: ID<Project>, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let pool = poolNumber(of: token) else { return false }
    return try connection.first(
      """
      SELECT 1 FROM scope s JOIN project p USING (project_id)
      WHERE s.scope_key = \(pool) AND s.project_id = \(project) AND s.tenant_id <> ''
        AND s.deleted_at IS NOT NULL AND p.deleted_at IS NULL
      """
    ) { try $0.next() as Int } != nil
  }

  /// Returns the pool of a refresh token; nil if the token was never issued for one of the
  /// project.
  public func pool(
    of token: String, project: ID<Project>
  ) async throws -> Pool? {
    guard let bytes = Self.bytes(of: token) else { return nil }
    let digest = Store.digest(token)
    return try await store.read { connection in
      let row = try Self.row(Array(bytes.prefix(TimeOrderedID.length)), connection)
      guard let row, constantTimeEqual(row.digest, digest), row.pool.project == project else {
        return nil
      }
      return row.pool
    }
  }

  /// Returns the bytes of a refresh token; nil if its length is wrong.
  private static func bytes(of token: String) -> [UInt8]? {
    guard let bytes = Base64URL.decode(token.prefix(100)),
      [tokenLength, tokenLength - 8].contains(bytes.count)
    else { return nil }
    return bytes
  }

  private static func poolNumber(of token: [UInt8]) -> Int64? {
    guard token.count == tokenLength else { return nil }
    return token.suffix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
  }

  private static func makeToken(_ id: [UInt8], in pool: Pool, random: RandomSource) -> String {
    let poolBytes = stride(from: Int64(56), through: 0, by: -8).map { shift in
      UInt8(truncatingIfNeeded: pool.key >> shift)
    }
    return Base64URL.encode(id + random.bytes(secretLength) + poolBytes)
  }

  public func count(_ account: Account) async throws -> Int {
    try await store.read { connection in
      try Self.count(account.key, connection)
    }
  }

  static func count(_ account: Int64, _ connection: borrowing Connection) throws -> Int {
    try connection.first(
      """
      SELECT count(*) FROM session s JOIN account a USING (account_key)
      WHERE a.account_key = \(account) AND s.generation = a.generation
      """
    ) { try $0.next() } ?? 0
  }

  /// Ends all sessions of an account and records it in the audit log.
  ///
  /// - Returns: The number of sessions ended.
  @discardableResult
  public func endAll(
    _ pool: Pool, _ id: ID<Account>, by author: Author
  ) async throws -> Int {
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      guard let account = try AccountRecord.find(pool, id, connection) else {
        throw SessionError.userNotFound
      }
      let ended = try AccountRecord.endSessions(account.key, at: now, connection)
      var entry = AuditEntry(.sessionsEnd, .account, id.text, name: account.label, in: pool)
      entry.add(.sessionsEnded, .number(ended))
      try entry.record(by: author, at: now, connection)
      return ended
    }
  }

  /// Begins a session inside the transaction of a sign-in, or of a change that ended the user's
  /// sessions and continues with a new one.
  ///
  /// Its time is the current time, never later; the account's generation distinguishes it from
  /// sessions ended in the same second. If the clock was set back, the time that SDKs compare is
  /// set back too.
  ///
  /// `change` sets other columns of the account: writing the row once takes half as much.
  ///
  /// - Throws: ``CallError`` if sign-in is disabled in the pool, or the pool was deleted;
  ///   ``SignInError/userDisabled`` if the account is locked (``AccountLock``); the database's error.
  package static func begin(
    _ account: Account, in pool: Pool, provider: SignInProvider,
    secondFactor: SecondFactorClaim?, with start: SessionStart,
    at now: Instant, random: RandomSource, setting change: SQL? = nil,
    _ connection: borrowing Connection
  ) throws -> SessionGrant {
    // It may have been disabled or deleted after the call found it, as while a password was hashed.
    let current = try SignIns.stored(pool, connection)
    guard !current.isDeleted else { throw CallError.poolDeleted(pool) }
    guard !current.isDisabled else { throw CallError.poolDisabled(pool) }
    guard !account.isSignInLocked else { throw SignInError.userDisabled }
    let origin = try start.origin(account, connection)
    let id = TimeOrderedID.make(at: now, random: random)
    let token = makeToken(id, in: pool, random: random)
    try connection.run(
      """
      INSERT INTO session (session_id, token_digest, account_key, auth_time_s, provider, factor_kind,
        enrollment_id, claims, created_at, used_backup_code, signed_in_at_s, generation)
      VALUES (\(id), \(Store.digest(token)), \(account.key), \(now.seconds), \(provider),
        \(secondFactor?.kind), \(secondFactor?.enrollment), \(origin.claims),
        \(now), \(origin.usedBackupCode ? 1 : 0), \(origin.signedInAt),
        (SELECT generation FROM account WHERE account_key = \(account.key)))
      """)
    // Looking costs as much as a sign-in's other statements, so one sign-in in 16 looks.
    if id.last.map({ $0 % 16 == 0 }) ?? false {
      try endOldest(of: account.key, before: id, connection)
    }
    var account = account
    let lastDay = account.lastLoginAt?.day
    if start.isSignIn { account.lastLoginAt = now }
    account.lastRefreshAt = now
    // Indexes have the day, so it's written only when it changes.
    let day = account.lastLoginAt?.day
    let newDay: SQL = day == lastDay ? "" : ", last_login_day = \(day)"
    let others: SQL = change.map { ", \($0)" } ?? ""
    try AccountRecord.set(
      """
      last_login_at = \(account.lastLoginAt), last_refresh_at = \(now),
        valid_since_s = \(SQL.least)(valid_since_s, \(now.seconds))\(newDay)\(others)
      """, of: account.key, connection)
    let session = UserSession(
      id: ID(id), pool: pool, account: account.id, authTime: now.seconds, provider: provider,
      secondFactor: secondFactor, claims: origin.claims)
    let mustEnroll =
      try secondFactor == nil && EnforcedEnrollment.isDue(account, in: pool, at: now, connection)
    return SessionGrant(
      session: session, account: account, refreshToken: token, mustEnroll: mustEnroll)
  }

  /// The number of sessions of a user, above which the oldest ones end, so that a user who signs in
  /// without end, such as one of automated tests, doesn't fill the database.
  static let mostPerUser = 1_000

  /// Ends the oldest sessions before a new one, which has the largest ID unless the clock was set back.
  private static func endOldest(
    of account: Int64, before id: [UInt8], _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      DELETE FROM session WHERE account_key = \(account) AND session_id IN (
        SELECT session_id FROM session WHERE account_key = \(account) AND session_id <= \(id)
        ORDER BY session_id DESC LIMIT \(mostPerUser) OFFSET \(mostPerUser))
      """)
  }

  /// Begins a new session for a user whose credentials just changed.
  ///
  /// If the user has added a password or an email link, it has the password provider. With a second
  /// factor it keeps its provider: the session may not have passed the factor, which a sign-in with
  /// the password requires.
  static func renew(
    _ old: UserSession, from before: Account, to account: Account, with start: SessionStart,
    at now: Instant, random: RandomSource, _ connection: borrowing Connection
  ) throws -> SessionGrant {
    let hasNewProvider = account.addsPasswordProvider(to: before) && account.factors.isEmpty
    return try begin(
      account, in: old.pool, provider: hasNewProvider ? .password : old.provider,
      secondFactor: old.secondFactor(keptBy: account), with: start, at: now,
      random: random, connection)
  }
}
