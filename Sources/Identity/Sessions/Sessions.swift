import Crypto
import Database

/// The sessions of users: checked, refreshed, ended.
public struct Sessions: Sendable {
  let store: Store

  /// The secret bytes of a refresh token, after those of the session's id.
  private static let secretLength = 24
  /// A refresh token's bytes: the session's id, the secret ones and the key of the user pool.
  private static let tokenLength = TimeOrderedID.length + secretLength + 8

  /// Checks that a session still counts.
  ///
  /// - Returns: The account as it is now.
  /// - Throws: ``SessionError``.
  public func check(_ session: UserSession) async throws(SessionError) -> Account {
    try await store.read(SessionError.self) { connection in
      try Self.check(session, connection)
    }
  }

  static func check(_ session: UserSession, _ connection: borrowing Connection) throws -> Account {
    guard let account = try AccountRecord.find(session.scope, session.account, connection) else {
      throw SessionError.userNotFound
    }
    guard !account.disabled else { throw SessionError.userDisabled }
    guard try isOpen(session, of: account, connection) else { throw SessionError.tokenExpired }
    return account
  }

  /// Whether a session was not ended, by its generation.
  ///
  /// An ID token that doesn't name its session is from before generations, so it is over with the
  /// first end since.
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
    ) { try $0.value(0) as Int } != nil
  }

  /// Grants the session of a refresh token again, with its first sign-in time and second factor.
  ///
  /// - Parameters:
  ///   - token: The refresh token.
  ///   - project: The project of the request; another project's token is as good as none.
  ///   - tenant: The tenant of the request; nil when it names none.
  /// - Returns: The session.
  /// - Throws: ``SessionError``.
  public func refresh(
    _ token: String, project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws(SessionError) -> SessionGrant {
    let now = store.clock.now()
    guard let bytes = Base64URL.decode(token.prefix(100)),
      [Self.tokenLength, Self.tokenLength - 8].contains(bytes.count)
    else { throw .invalidRefreshToken }
    let id = Array(bytes.prefix(TimeOrderedID.length))
    let digest = Store.digest(token)
    return try await store.write(SessionError.self) { connection in
      guard let row = try Self.row(id, connection) else {
        throw try Self.isOfDeletedTenant(bytes, of: project, connection)
          ? SessionError.tenantDeleted : .invalidRefreshToken
      }
      guard constantTimeEqual(row.digest, digest),
        let provider = SignInProvider(rawValue: row.provider), row.scope.project == project
      else { throw SessionError.invalidRefreshToken }
      guard tenant == nil || tenant == row.scope.tenant else { throw SessionError.tenantMismatch }
      guard !row.isDeleted else {
        throw row.isProjectDeleted ? SessionError.invalidRefreshToken : .tenantDeleted
      }
      guard !row.scope.isDisabled else { throw SessionError.scopeDisabled(row.scope) }
      guard var account = try AccountRecord.find(key: row.account, connection) else {
        // Somebody else may have the uid now: their user exists, and this session is over.
        let successor = try row.deletedUID.flatMap { uid in
          try AccountRecord.find(row.scope, ID(uid), connection)
        }
        guard let successor else { throw SessionError.userNotFound }
        throw successor.disabled ? SessionError.userDisabled : .tokenExpired
      }
      guard !account.disabled else { throw SessionError.userDisabled }
      guard row.generation == account.generation else { throw SessionError.tokenExpired }
      try connection.run(
        "UPDATE session SET last_refresh_at = \(now.microseconds) WHERE session_id = \(id)")
      try connection.run(
        """
        UPDATE account SET last_refresh_at = \(now.microseconds) WHERE account_key = \(row.account)
        """)
      account.lastRefreshAt = now
      var claim: SecondFactorClaim?
      if let kind = row.kind.flatMap(Factor.Kind.init(rawValue:)), let id = row.enrollment {
        claim = SecondFactorClaim(kind: kind, enrollment: ID(id))
      }
      // The clock may have been put back since the sign-in.
      let session = UserSession(
        id: ID(id), scope: row.scope, account: account.id, authTime: min(row.authTime, now.seconds),
        provider: provider, secondFactor: claim, claims: row.claims)
      return SessionGrant(session: session, account: account, refreshToken: token)
    }
  }

  /// What is kept of a session.
  private struct Row {
    let scope: Scope
    let account: Int64
    let authTime: Int64
    let provider: String
    let kind: String?
    let enrollment: String?
    let digest: [UInt8]
    let claims: String?
    let generation: Int64
    let deletedUID: String?
    /// Whether the user pool was deleted.
    let isDeleted: Bool
    let isProjectDeleted: Bool
  }

  private static func row(_ id: [UInt8], _ connection: borrowing Connection) throws -> Row? {
    try connection.first(
      """
      SELECT \(Scope.columns), t.account_key, t.auth_time_s, t.provider, t.factor_kind,
        t.enrollment_id, t.token_digest, t.claims, t.generation, t.deleted_uid,
        s.deleted_at IS NOT NULL, p.deleted_at IS NOT NULL
      FROM session t JOIN scope s ON s.scope_key = t.account_key >> 40
        JOIN project p USING (project_id)
      WHERE t.session_id = \(id)
      """
    ) { row in
      Row(
        scope: try Scope(row), account: try row.value(7), authTime: try row.value(8),
        provider: try row.value(9), kind: try row.value(10), enrollment: try row.value(11),
        digest: try row.value(12), claims: try row.value(13), generation: try row.value(14),
        deletedUID: try row.value(15), isDeleted: try row.value(16),
        isProjectDeleted: try row.value(17))
    }
  }

  /// Whether a refresh token whose session is gone is one of a tenant that was deleted, by the key of
  /// the pool at its end, which proves nothing and need not.
  private static func isOfDeletedTenant(
    _ token: [UInt8], of project: ID<Project>, _ connection: borrowing Connection
  ) throws -> Bool {
    guard token.count == tokenLength else { return false }
    let scope = token.suffix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    return try connection.first(
      """
      SELECT 1 FROM scope s JOIN project p USING (project_id)
      WHERE s.scope_key = \(scope) AND s.project_id = \(project.text) AND s.tenant_id <> ''
        AND s.deleted_at IS NOT NULL AND p.deleted_at IS NULL
      """
    ) { try $0.value(0) as Int } != nil
  }

  private static func makeToken(_ id: [UInt8], in scope: Scope, random: RandomSource) -> String {
    let pool = stride(from: Int64(56), through: 0, by: -8).map { shift in
      UInt8(truncatingIfNeeded: scope.key >> shift)
    }
    return Base64URL.encode(id + random.bytes(secretLength) + pool)
  }

  /// How many sessions an account has.
  ///
  /// - Throws: ``SessionError/unavailable(_:)``.
  public func count(_ account: Account) async throws(SessionError) -> Int {
    try await store.read(SessionError.self) { connection in
      try Self.count(account.key, connection)
    }
  }

  static func count(_ account: Int64, _ connection: borrowing Connection) throws -> Int {
    try connection.first(
      """
      SELECT count(*) FROM session s JOIN account a USING (account_key)
      WHERE a.account_key = \(account) AND s.generation = a.generation
      """
    ) { try $0.value(0) } ?? 0
  }

  /// Ends all sessions of an account and writes the audit row.
  ///
  /// - Returns: How many there were.
  /// - Throws: ``SessionError``.
  @discardableResult
  public func endAll(
    _ scope: Scope, _ id: ID<Account>, by author: Author
  ) async throws(SessionError) -> Int {
    let now = store.clock.now()
    return try await store.write(SessionError.self) { connection in
      guard let account = try AccountRecord.find(scope, id, connection) else {
        throw SessionError.userNotFound
      }
      let ended = try AccountRecord.endSessions(account.key, at: now, connection)
      var entry = AuditEntry("sessions.end", "account", id.text, name: account.label, in: scope)
      entry.from = Words.count(ended, "session", "sessions")
      entry.to = "none"
      try entry.record(by: author, at: now, connection)
      return ended
    }
  }

  /// Begins a session inside the transaction of a sign-in, whose time it takes, or of a change
  /// that ended the user's sessions and goes on with a new one.
  ///
  /// Its time is now, never later. It is told from sessions that were ended in this second by the
  /// account's generation. Where the clock was put back, the time that SDKs compare goes back too.
  static func begin(
    _ account: Account, in scope: Scope, provider: SignInProvider,
    secondFactor: SecondFactorClaim?, claims: String? = nil, isSignIn: Bool = true, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws -> SessionGrant {
    let id = TimeOrderedID.make(at: now, random: random)
    let token = makeToken(id, in: scope, random: random)
    try connection.run(
      """
      INSERT INTO session (session_id, token_digest, account_key, auth_time_s, provider, factor_kind,
        enrollment_id, claims, created_at, generation)
      VALUES (\(id), \(Store.digest(token)), \(account.key), \(now.seconds), \(provider.rawValue),
        \(secondFactor?.kind.rawValue), \(secondFactor?.enrollment.text), \(claims),
        \(now.microseconds),
        (SELECT generation FROM account WHERE account_key = \(account.key)))
      """)
    var account = account
    let lastDay = account.lastLoginAt?.day
    if isSignIn { account.lastLoginAt = now }
    account.lastRefreshAt = now
    try connection.run(
      """
      UPDATE account SET last_login_at = \(account.lastLoginAt?.microseconds),
        last_refresh_at = \(now.microseconds), valid_since_s = min(valid_since_s, \(now.seconds))
      WHERE account_key = \(account.key)
      """)
    if let day = account.lastLoginAt?.day, day != lastDay {
      try connection.run(
        "UPDATE account SET last_login_day = \(day) WHERE account_key = \(account.key)")
    }
    let session = UserSession(
      id: ID(id), scope: scope, account: account.id, authTime: now.seconds, provider: provider,
      secondFactor: secondFactor, claims: claims)
    return SessionGrant(session: session, account: account, refreshToken: token)
  }

  /// Begins a new session for a user whose old one has ended without fault of theirs.
  ///
  /// - Throws: ``SessionError``.
  public func renew(_ old: UserSession) async throws(SessionError) -> SessionGrant {
    let now = store.clock.now()
    let random = store.random
    return try await store.write(SessionError.self) { connection in
      guard let account = try AccountRecord.find(old.scope, old.account, connection)
      else { throw SessionError.userNotFound }
      guard !account.disabled else { throw SessionError.userDisabled }
      return try Self.renew(old, of: account, at: now, random: random, connection)
    }
  }

  /// Begins a new session for a user whose credentials have just changed under an old one.
  ///
  /// An anonymous user who was given a password has signed in with it from then on.
  static func renew(
    _ old: UserSession, of account: Account, at now: Instant, random: RandomSource,
    _ connection: borrowing Connection
  ) throws -> SessionGrant {
    let kept = account.factors.contains { $0.id == old.secondFactor?.enrollment }
    let isLinked =
      old.provider == .anonymous && !account.isAnonymous
      && (account.hasPassword || account.signsInByLink)
    return try begin(
      account, in: old.scope, provider: isLinked ? .password : old.provider,
      secondFactor: kept ? old.secondFactor : nil, claims: try claims(of: old, connection),
      isSignIn: false, at: now, random: random, connection)
  }

  /// The claims that a session has from its custom token, also where only its ID token is known.
  static func claims(
    of session: UserSession, _ connection: borrowing Connection
  ) throws -> String? {
    if let claims = session.claims { return claims }
    guard let id = session.id else { return nil }
    return try connection.first("SELECT claims FROM session WHERE session_id = \(id.bytes)") {
      try $0.value(0) as String?
    } ?? nil
  }
}
