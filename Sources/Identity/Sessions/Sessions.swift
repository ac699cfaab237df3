import Crypto
import Database

/// The sessions of users: checked, refreshed, ended.
public struct Sessions: Sendable {
  let store: Store

  /// The bytes of a refresh token: the session's id and 24 random ones.
  private static let tokenLength = TimeOrderedID.length + 24

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
    guard session.authTime >= account.validSince else { throw SessionError.tokenExpired }
    return account
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
    guard let bytes = Base64URL.decode(token.prefix(100)), bytes.count == Self.tokenLength else {
      throw .invalidRefreshToken
    }
    let id = Array(bytes.prefix(TimeOrderedID.length))
    let digest = Store.digest(token)
    return try await store.write(SessionError.self) { connection in
      let row = try connection.first(
        """
        SELECT \(Scope.columns), t.account_key, t.auth_time_s, t.provider, t.factor_kind,
          t.enrolment_id, t.token_digest, t.claims
        FROM session t JOIN scope s ON s.scope_key = t.account_key >> 40
          JOIN project p USING (project_id)
        WHERE t.session_id = \(id) AND s.deleted_at IS NULL
        """
      ) { row in
        (
          scope: try Scope(row), account: try row.value(7) as Int64,
          authTime: try row.value(8) as Int64, provider: try row.value(9) as String,
          kind: try row.value(10) as String?, enrolment: try row.value(11) as String?,
          digest: try row.value(12) as [UInt8], claims: try row.value(13) as String?
        )
      }
      guard let row, constantTimeEqual(row.digest, digest),
        let provider = SignInProvider(rawValue: row.provider)
      else { throw SessionError.invalidRefreshToken }
      guard row.scope.project == project else { throw SessionError.invalidRefreshToken }
      guard tenant == nil || tenant == row.scope.tenant else { throw SessionError.tenantMismatch }
      guard !row.scope.isDisabled else { throw SessionError.scopeDisabled }
      guard var account = try AccountRecord.find(key: row.account, connection) else {
        throw SessionError.userNotFound
      }
      guard !account.disabled else { throw SessionError.userDisabled }
      guard row.authTime >= account.validSince else { throw SessionError.tokenExpired }
      try connection.run(
        "UPDATE session SET last_refresh_at = \(now.microseconds) WHERE session_id = \(id)")
      try connection.run(
        """
        UPDATE account SET last_refresh_at = \(now.microseconds) WHERE account_key = \(row.account)
        """)
      account.lastRefreshAt = now
      var claim: SecondFactorClaim?
      if let kind = row.kind.flatMap(Factor.Kind.init(rawValue:)), let id = row.enrolment {
        claim = SecondFactorClaim(kind: kind, enrolment: ID(id))
      }
      let session = UserSession(
        scope: row.scope, account: account.id, authTime: row.authTime, provider: provider,
        secondFactor: claim, claims: row.claims)
      return SessionGrant(session: session, account: account, refreshToken: token)
    }
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
      WHERE a.account_key = \(account) AND s.auth_time_s >= a.valid_since_s
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
  /// The time of sign-in is not before `validSince`, so that a session which begins in the second
  /// of a revocation is not taken for one from before it.
  static func begin(
    _ account: Account, in scope: Scope, provider: SignInProvider,
    secondFactor: SecondFactorClaim?, claims: String? = nil, isSignIn: Bool = true, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws -> SessionGrant {
    let authTime = max(now.seconds, account.validSince)
    let id = TimeOrderedID.make(at: now, random: random)
    let token = Base64URL.encode(id + random.bytes(Self.tokenLength - id.count))
    try connection.run(
      """
      INSERT INTO session (session_id, token_digest, account_key, auth_time_s, provider, factor_kind,
        enrolment_id, claims, created_at)
      VALUES (\(id), \(Store.digest(token)), \(account.key), \(authTime), \(provider.rawValue),
        \(secondFactor?.kind.rawValue), \(secondFactor?.enrolment.text), \(claims),
        \(now.microseconds))
      """)
    var account = account
    let lastDay = account.lastLoginAt?.day
    if isSignIn { account.lastLoginAt = now }
    account.lastRefreshAt = now
    try connection.run(
      """
      UPDATE account SET last_login_at = \(account.lastLoginAt?.microseconds),
        last_refresh_at = \(now.microseconds)
      WHERE account_key = \(account.key)
      """)
    if let day = account.lastLoginAt?.day, day != lastDay {
      try connection.run(
        "UPDATE account SET last_login_day = \(day) WHERE account_key = \(account.key)")
    }
    let session = UserSession(
      scope: scope, account: account.id, authTime: authTime, provider: provider,
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
    let kept = account.factors.contains { $0.id == old.secondFactor?.enrolment }
    let isLinked =
      old.provider == .anonymous && !account.isAnonymous
      && (account.hasPassword || account.signsInByLink)
    return try begin(
      account, in: old.scope, provider: isLinked ? .password : old.provider,
      secondFactor: kept ? old.secondFactor : nil, claims: try claims(of: old, account, connection),
      isSignIn: false, at: now, random: random, connection)
  }

  /// The claims that a session has from its custom token, also where only its ID token is known.
  ///
  /// An ID token does not say of which session it is, only when that began. Where several began in
  /// that second with other claims none are kept, so that nobody gains claims by it.
  static func claims(
    of session: UserSession, _ account: Account, _ connection: borrowing Connection
  ) throws -> String? {
    if let claims = session.claims { return claims }
    guard session.provider == .custom else { return nil }
    let begun = try connection.all(
      """
      SELECT claims FROM session
      WHERE account_key = \(account.key) AND auth_time_s = \(session.authTime)
        AND provider = \(SignInProvider.custom.rawValue)
      """
    ) { row in try row.value(0) as String? }
    guard let first = begun.first, begun.allSatisfy({ $0 == first }) else { return nil }
    return first
  }
}
