import Crypto
import Database

public struct OpenConsoleSession: Sendable {
  /// The session's ID, which isn't its token.
  public let id: String
  public let startedAt: Instant
  /// The time of last use, to the minute.
  public let lastSeenAt: Instant
  /// The IP address the session began from.
  public let address: String
  public let userAgent: String
  public let provider: String?
}

/// An expired session that a form may still refer to.
public struct EndedConsoleSession: Sendable {
  public let administrator: ID<Administrator>
  public let csrfToken: String
}

extension ConsoleSessions {
  /// Lists an administrator's open sessions, newest first.
  public func list(
    of id: ID<Administrator>
  ) async throws -> [OpenConsoleSession] {
    let now = store.clock.now()
    let (sessions, limits) = try await store.read { connection in
      let name = try ConsoleProvider.name(connection)
      let sessions = try connection.all(
        """
        SELECT csrf_token, created_at, last_seen_at, address, user_agent, provider_issuer
        FROM console_session WHERE administrator_id = \(id)
        """
      ) { row in
        OpenConsoleSession(
          id: Self.name(of: try row.next()), startedAt: try row.next(),
          lastSeenAt: try row.next(), address: try row.next(), userAgent: try row.next(),
          provider: (try row.next() as String?).map { name ?? $0 })
      }
      return (sessions, try SessionLimits.find(connection))
    }
    return sessions.filter { session in
      limits.of(sessionFromProvider: session.provider != nil)
        .allow(since: session.startedAt, lastSeenAt: session.lastSeenAt, at: now)
    }.sorted { ($0.startedAt, $0.id) > ($1.startedAt, $1.id) }
  }

  /// - Returns: False if there is no session with this ID and nothing changed.
  @discardableResult
  public func end(
    _ name: String, of administrator: Administrator, by author: Author
  ) async throws -> Bool {
    try await end(of: administrator, by: author) { $0.name == name } > 0
  }

  /// - Returns: The number of sessions ended.
  @discardableResult
  public func endOthers(
    than name: String, of administrator: Administrator, by author: Author
  ) async throws -> Int {
    try await end(of: administrator, by: author) { $0.name != name }
  }

  private func end(
    of administrator: Administrator, by author: Author,
    where isMeant: @escaping @Sendable (StoredSession) -> Bool
  ) async throws -> Int {
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      let ended = try Self.end(of: administrator.id, at: now, connection, where: isMeant)
      guard ended > 0 else { return 0 }
      var entry = AuditEntry(.administratorEndSessions, of: administrator)
      entry.add(.sessionsEnded, .number(ended))
      try entry.record(by: author, at: now, connection)
      return ended
    }
  }

  @discardableResult
  static func endAll(
    of id: ID<Administrator>, but name: String?, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    try end(of: id, at: now, connection) { $0.name != name }
  }

  struct StoredSession {
    fileprivate let digest: [UInt8]
    fileprivate let isOpen: Bool
    let name: String
  }

  /// Deletes the matching sessions; expired sessions are deleted too, but not counted.
  static func end(
    of id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection,
    where isMeant: (StoredSession) -> Bool
  ) throws -> Int {
    let limits = try SessionLimits.find(connection)
    let sessions = try connection.all(
      """
      SELECT token_digest, created_at, last_seen_at, csrf_token, provider_issuer IS NOT NULL
      FROM console_session
      WHERE administrator_id = \(id)
      """
    ) { row in
      let digest: [UInt8] = try row.next()
      let (startedAt, lastSeenAt): (Instant, Instant) = (try row.next(), try row.next())
      let name = Self.name(of: try row.next())
      let limits = limits.of(sessionFromProvider: try row.next())
      return StoredSession(
        digest: digest, isOpen: limits.allow(since: startedAt, lastSeenAt: lastSeenAt, at: now),
        name: name)
    }
    let meant = sessions.filter(isMeant)
    for session in meant {
      try connection.run("DELETE FROM console_session WHERE token_digest = \(session.digest)")
    }
    return meant.count { $0.isOpen }
  }

  /// Returns true if a session is still open when it's used.
  ///
  /// A request reads its session before the transaction that acts for it, so the session may have
  /// been ended in between. It's identified by its CSRF token: its own token is replaced when its
  /// administrator re-authenticates, perhaps in another tab.
  static func isOpen(
    _ session: ConsoleSession, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try SessionProofs.find(session, at: now, connection)?.isOpen ?? false
  }

  /// Returns whether a CSRF token is that of a recently expired session of an administrator.
  ///
  /// It's false for sessions that are still open, were ended, or were deleted.
  public func ranOut(
    csrfToken: String, of id: ID<Administrator>
  ) async throws -> Bool {
    try await store.read { now, connection in
      let limits = try SessionLimits.find(connection)
      let expired = try connection.all(
        """
        SELECT created_at, last_seen_at, csrf_token, provider_issuer IS NOT NULL
        FROM console_session WHERE administrator_id = \(id)
        """
      ) { row -> String? in
        let (startedAt, lastSeenAt): (Instant, Instant) = (try row.next(), try row.next())
        let csrfToken: String = try row.next()
        let limits = limits.of(sessionFromProvider: try row.next())
        return limits.allow(since: startedAt, lastSeenAt: lastSeenAt, at: now) ? nil : csrfToken
      }
      return expired.contains { token in
        token.map { constantTimeEqual(Array($0.utf8), Array(csrfToken.utf8)) } ?? false
      }
    }
  }

  /// Finds a recently expired session by its cookie token; nil if it's still open, was ended, or
  /// was deleted.
  public func ranOut(token: String) async throws -> EndedConsoleSession? {
    guard (20...100).contains(token.utf8.count) else { return nil }
    let digest = Store.digest(token)
    return try await store.read { now, connection in
      guard try Self.find(digest, at: now, connection) == nil else { return nil }
      return try connection.first(
        """
        SELECT administrator_id, csrf_token FROM console_session WHERE token_digest = \(digest)
        """
      ) { row in
        EndedConsoleSession(
          administrator: try row.next(), csrfToken: try row.next())
      }
    }
  }
}

/// When the administrator of a session proved who they are, and whether the session is open.
struct SessionProofs {
  let isOpen: Bool
  let secondFactorAt: Instant?
  /// The time of a sign-in at the provider, which verified the password.
  let providerAt: Instant?
  /// The re-authentication interval.
  let minutes: Int

  static func find(
    _ session: ConsoleSession, at now: Instant, _ connection: borrowing Connection
  ) throws -> Self? {
    try connection.first(
      """
      SELECT created_at, last_seen_at, \(SessionLimits.columns), provider_issuer IS NOT NULL,
        proved_at, provider_at,
        (SELECT value FROM instance WHERE name = \(ReauthenticationInterval.stored.name))
      FROM console_session WHERE \(ConsoleSessions.isSame(session))
      """
    ) { row in
      let (startedAt, lastSeenAt): (Instant, Instant) = (try row.next(), try row.next())
      let limits = SessionLimits(
        idle: try row.next(), lifetime: try row.next(), secondFactor: try row.next())
      let isOpen = limits.of(sessionFromProvider: try row.next()).allow(
        since: startedAt, lastSeenAt: lastSeenAt, at: now)
      let times: (Instant?, Instant?) = (try row.next(), try row.next())
      let minutes: String? = try row.next()
      return Self(
        isOpen: isOpen, secondFactorAt: times.0, providerAt: times.1,
        minutes: minutes.flatMap(Int.init) ?? ReauthenticationInterval.usual)
    }
  }
}
