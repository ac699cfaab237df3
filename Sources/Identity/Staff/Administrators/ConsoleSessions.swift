public import Crypto
package import Database

public struct ConsoleSession: Sendable {
  /// The session's ID, which isn't its token.
  public let id: String
  public let administrator: Administrator
  public let csrfToken: String
  public let startedAt: Instant
  /// The time the session expires, regardless of use.
  public let expiresAt: Instant
  /// The time the session expires without further use, to the minute.
  public internal(set) var idleUntil: Instant
  public let limits: SessionLimits
  public let preferences: Preferences
  public let secondFactor: SecondFactorState
  public let factors: Set<ReauthenticationMethod>
  public let provider: SessionProvider
  /// Whether the roles or the instance require a second factor.
  public var mustHaveSecondFactor: Bool {
    administrator.mustHaveSecondFactor || limits.requiresSecondFactor
  }
  /// The digest of the token, which identifies the session in the database.
  let digest: [UInt8]
}

public enum SecondFactorState: Sendable {
  case enrolled
  /// No second factor, and the roles don't require one.
  case optional
  /// No second factor; the roles require one from the next sign-in on.
  case dueNext
  /// No second factor; the administrator must set one up before doing anything else.
  case due
  /// The instance requires a passkey of the roles, and the administrator has none; they must add one
  /// before doing anything else.
  case passkeyDue
  /// The instance requires a passkey of the roles; the administrator must use theirs in this session
  /// before doing anything else.
  case passkeyUnused
}

public struct NewConsoleSession: Sendable {
  /// The token for the cookie; stored only as a digest.
  public let token: Secret
  public let session: ConsoleSession
}

public enum ConsoleSignInError: Error, Sendable {
  /// The email address or the password is incorrect; which one isn't disclosed.
  case refused
  case throttled(until: Instant)
  /// Neither a valid, unused code of the second factor nor a recovery code.
  case wrongCode
  /// A code of the second factor that was accepted before; someone else may have used it.
  case usedCode
  /// The passkey isn't registered, or its response isn't valid.
  case passkeyRefused
  /// The instance requires a passkey instead of a code.
  case passkeyRequired
  /// The password step expired, or the password or factor has changed since.
  case ended
}

public struct ConsoleSessions: Sendable {
  let store: Store
  let hasher: PasswordHasher
  let totp: AdministratorTOTP
  let tickets: Sealer
  let deviceSealer: Sealer

  /// The time an expired session is kept, in seconds, so that an open form can still be matched to
  /// it.
  public static let remembered: Int64 = 12 * 3_600
  /// The precision of the time of last use, in seconds.
  private static let precision: Int64 = 60

  package static func begin(
    _ id: ID<Administrator>, address: String, userAgent: String, requestID: String,
    proof: AdministratorTOTP.Proof? = nil, provider: ProviderProof? = nil, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws -> NewConsoleSession {
    try connection.run(
      """
      UPDATE administrator SET sign_ins = sign_ins + 1, last_sign_in_at = \(now)
      WHERE administrator_id = \(id)
      """)
    let token = random.token(bytes: 32)
    let digest = Store.digest(token)
    let isProved = proof != nil || provider == .secondFactor
    let issuer =
      provider == nil ? nil : try AdministratorProviderLink.find(id, connection)?.issuer
    try connection.run(
      """
      INSERT INTO console_session (token_digest, administrator_id, csrf_token, created_at,
        last_seen_at, address, user_agent, proved_at, passkey_at, provider_issuer,
        provider_mfa_at)
      VALUES (\(digest), \(id), \(random.token(bytes: 24)), \(now),
        \(now), \(address), \(RequestOrigin(userAgent: userAgent).userAgent),
        \(isProved ? now : nil),
        \(proof?.method == .passkey ? now : nil), \(issuer),
        \(provider == .secondFactor ? now : nil))
      """)
    guard let session = try find(digest, at: now, connection)?.session else {
      throw Failure("session vanished")
    }
    let administrator = session.administrator
    var entry = AuditEntry(.administratorSignIn, of: administrator)
    if let provider {
      let name = try ConsoleProvider.name(connection)
      entry.add(.signInProvider, .text(name ?? issuer ?? ""))
      if proof == nil { entry.add(.verification, .code(provider.rawValue)) }
    }
    if let proof { entry.add(proof) }
    try entry.record(
      by: administrator.author(address: address, requestID: requestID), at: now, connection)
    return NewConsoleSession(token: Secret(token), session: session)
  }

  /// Records that a session's administrator re-authenticated, and renews the session.
  ///
  /// - Returns: The session with its new token; nil if it has ended.
  static func reauthenticate(
    _ session: ConsoleSession, with proof: AdministratorTOTP.Proof, by author: Author,
    at now: Instant, random: RandomSource, _ connection: borrowing Connection
  ) throws -> NewConsoleSession? {
    var entry = AuditEntry(.administratorStepUp, of: session.administrator)
    entry.add(proof)
    try entry.record(by: author, at: now, connection)
    return try renew(session, with: proof.method, at: now, random: random, connection)
  }

  /// Replaces a session's token, which becomes invalid, after its administrator re-authenticated;
  /// nil if the session has ended.
  static func renew(
    _ session: ConsoleSession, with method: ReauthenticationMethod = .totp, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws -> NewConsoleSession? {
    let passkey = method == .passkey ? now : nil
    return try renewToken(
      session,
      changing: ", proved_at = \(now), passkey_at = coalesce(\(passkey), passkey_at)", at: now,
      random: random, connection)
  }

  /// Replaces a session's token after its administrator confirmed their identity at the provider.
  ///
  /// - Returns: The session with its new token; nil if it has ended.
  static func renew(
    _ session: ConsoleSession, with proof: ProviderProof, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws -> NewConsoleSession? {
    let proved = proof == .secondFactor ? now : nil
    try connection.run(
      """
      UPDATE console_session SET provider_at = \(now),
        proved_at = coalesce(\(proved), proved_at),
        provider_mfa_at = coalesce(\(proved), provider_mfa_at)
      WHERE \(isSame(session))
      """)
    return try renewToken(session, at: now, random: random, connection)
  }

  /// Replaces a session's token and what else changes with it; the old token becomes invalid.
  ///
  /// - Returns: The session with its new token; nil if it has ended.
  static func renewToken(
    _ session: ConsoleSession, changing columns: SQL = "", at now: Instant, random: RandomSource,
    _ connection: borrowing Connection
  ) throws -> NewConsoleSession? {
    let token = random.token(bytes: 32)
    let digest = Store.digest(token)
    try connection.run(
      """
      UPDATE console_session SET token_digest = \(digest)\(columns) WHERE \(isSame(session))
      """)
    return try find(digest, at: now, connection).map {
      NewConsoleSession(token: Secret(token), session: $0.session)
    }
  }

  /// Matches a session by its CSRF token, because its own token may have been replaced in another tab.
  static func isSame(_ session: ConsoleSession) -> SQL {
    """
    administrator_id = \(session.administrator.id) AND csrf_token = \(session.csrfToken)
    """
  }

  public func find(token: String) async throws -> ConsoleSession? {
    guard (20...100).contains(token.utf8.count) else { return nil }
    let now = store.clock.now()
    let digest = Store.digest(token)
    let found = try await store.read { connection in
      try Self.find(digest, at: now, connection)
    }
    guard var found else { return nil }
    if now.seconds - found.lastSeenAt.seconds >= Self.precision {
      // A full disk must not break read-only pages.
      let updated = try? await store.database.write { connection in
        try connection.run(
          """
          UPDATE console_session SET last_seen_at = \(now)
          WHERE token_digest = \(digest)
          """)
      }
      if updated == 1 {
        found.session.idleUntil = now.advanced(bySeconds: found.session.limits.idle)
      }
    }
    return found.session
  }

  static func find(
    _ digest: [UInt8], at now: Instant, _ connection: borrowing Connection
  ) throws -> (session: ConsoleSession, lastSeenAt: Instant)? {
    // One query reads the session and its grants, one row per grant, because every page starts with
    // it.
    var head: SessionHead?
    let grants = try connection.all(
      """
      SELECT a.administrator_id, a.email, a.display_name, s.csrf_token, s.created_at,
        s.last_seen_at, a.sign_ins, a.totp_enrolled_at IS NOT NULL, a.time_zone,
        a.theme, s.passkey_at IS NOT NULL,
        EXISTS (SELECT 1 FROM passkey p WHERE p.administrator_id = a.administrator_id),
        EXISTS (SELECT 1 FROM instance WHERE name = \(PasskeyRequirement.setting.name)),
        \(SessionLimits.columns), s.provider_mfa_at IS NOT NULL, s.provider_issuer IS NOT NULL,
        s.provider_at,
        (SELECT p.name FROM administrator_provider_link l
          \(SQL.orderedJoin) sign_in_provider p ON p.provider_id = 1 AND p.issuer = l.issuer
          WHERE l.administrator_id = a.administrator_id),
        g.role, g.project_id, g.tenant_id
      FROM console_session s JOIN administrator a USING (administrator_id)
        LEFT JOIN administrator_grant g
          ON g.administrator_id = a.administrator_id AND \(Administrators.inForce(at: now))
      WHERE s.token_digest = \(digest) ORDER BY g.role, g.project_id, g.tenant_id
      """
    ) { row -> Grant? in
      head = try SessionHead(&row)
      return try Administrators.joinedGrant(&row)
    }
    guard let head else { return nil }
    guard head.limits.allow(since: head.createdAt, lastSeenAt: head.lastSeenAt, at: now) else {
      return nil
    }
    let administrator = Administrator(
      id: head.id, email: head.email, displayName: head.name, grants: grants.compactMap { $0 })
    let session = ConsoleSession(
      id: name(of: head.csrf), administrator: administrator, csrfToken: head.csrf,
      startedAt: head.createdAt,
      expiresAt: head.createdAt.advanced(bySeconds: head.limits.lifetime),
      idleUntil: head.lastSeenAt.advanced(bySeconds: head.limits.idle), limits: head.limits,
      preferences: head.preferences,
      secondFactor: head.secondFactor(of: administrator), factors: head.factors,
      provider: head.provider, digest: digest)
    return (session, head.lastSeenAt)
  }

  /// Returns the ID of the session with this CSRF token, which stays the same when the session's own
  /// token is replaced.
  static func name(of csrfToken: String) -> String {
    Hex.encode(Array(Store.digest(csrfToken).prefix(12)))
  }

  /// Signs out: ends a session and writes an audit row; does nothing if it has ended since it was
  /// read.
  public func end(
    _ session: ConsoleSession, by author: Author
  ) async throws {
    let now = store.clock.now()
    try await store.write(by: author) { connection in
      let isEnded =
        try connection.run("DELETE FROM console_session WHERE \(Self.isSame(session))") > 0
      guard isEnded else { return }
      let entry = AuditEntry(.administratorSignOut, of: session.administrator)
      try entry.record(by: author, at: now, connection)
    }
  }
}

/// The session data every page reads, without the grants.
struct SessionHead {
  let id: ID<Administrator>
  let email: String
  let name: String
  let csrf: String
  let createdAt: Instant
  let lastSeenAt: Instant
  let signIns: Int
  let factors: Set<ReauthenticationMethod>
  let hasUsedPasskey: Bool
  let requiresPasskeys: Bool
  let preferences: Preferences
  let limits: SessionLimits
  let hasUsedProviderMFA: Bool
  let provider: SessionProvider

  init(_ row: inout Row) throws {
    id = try row.next()
    email = try row.next()
    name = try row.next()
    csrf = try row.next()
    createdAt = try row.next()
    lastSeenAt = try row.next()
    signIns = try row.next()
    let hasTOTP: Bool = try row.next()
    preferences = Preferences(timeZone: try row.next(), theme: try row.next())
    hasUsedPasskey = try row.next()
    factors = ReauthenticationMethod.all(totp: hasTOTP, passkey: try row.next())
    requiresPasskeys = try row.next()
    let limits = SessionLimits(
      idle: try row.next(), lifetime: try row.next(), secondFactor: try row.next())
    hasUsedProviderMFA = try row.next()
    let isFromProvider: Bool = try row.next()
    self.limits = limits.of(sessionFromProvider: isFromProvider)
    let provedAt: Instant? = try row.next()
    provider = SessionProvider(name: try row.next(), isOrigin: isFromProvider, provedAt: provedAt)
  }

  /// Returns the state of the second factor; administrators who need one can sign in once without
  /// it to set it up, unless all administrators need one.
  func secondFactor(of administrator: Administrator) -> SecondFactorState {
    if requiresPasskeys, !hasUsedPasskey, administrator.managesOthers {
      return factors.contains(.passkey) ? .passkeyUnused : .passkeyDue
    }
    if !factors.isEmpty || hasUsedProviderMFA { return .enrolled }
    if limits.requiresSecondFactor { return .due }
    guard administrator.mustHaveSecondFactor else { return .optional }
    // Sessions from before sign-ins were counted have a count of 0.
    return signIns < 1 ? .optional : signIns == 1 ? .dueNext : .due
  }
}
