import Database

/// A session of an administrator, as they see it themselves.
public struct OpenConsoleSession: Sendable {
  /// The stable name of the session that is not its token.
  public let id: String
  /// When it began.
  public let startedAt: Instant
  /// When it was last used, to the minute.
  public let lastSeenAt: Instant
  /// The address it began from.
  public let address: String
  /// What the browser called itself.
  public let userAgent: String
}

/// A session that ran out, as far as a form that was open still knows it.
public struct EndedConsoleSession: Sendable {
  /// Whose it was.
  public let administrator: ID<Administrator>
  /// What its forms carry.
  public let csrfToken: String
}

extension ConsoleSessions {
  /// The open sessions of an administrator, the newest first.
  ///
  /// - Throws: ``ConsoleSignInError/unavailable(_:)``.
  public func list(
    of id: ID<Administrator>
  ) async throws(ConsoleSignInError) -> [OpenConsoleSession] {
    let now = store.clock.now()
    let sessions = try await store.read(ConsoleSignInError.self) { connection in
      try connection.all(
        """
        SELECT token_digest, created_at, last_seen_at, address, user_agent FROM console_session
        WHERE administrator_id = \(id.text)
        """
      ) { row in
        OpenConsoleSession(
          id: Self.name(of: try row.value(0)), startedAt: Instant(microseconds: try row.value(1)),
          lastSeenAt: Instant(microseconds: try row.value(2)), address: try row.value(3),
          userAgent: try row.value(4))
      }
    }
    return sessions.filter { session in
      Self.isOpen(since: session.startedAt, lastSeenAt: session.lastSeenAt, at: now)
    }.sorted { ($0.startedAt, $0.id) > ($1.startedAt, $1.id) }
  }

  /// Ends one of one's own sessions by its name.
  ///
  /// - Returns: False when there is none of that name, which changes nothing.
  /// - Throws: ``ConsoleSignInError/unavailable(_:)``.
  @discardableResult
  public func end(
    _ name: String, of administrator: Administrator, by author: Author
  ) async throws(ConsoleSignInError) -> Bool {
    try await end(of: administrator, by: author) { $0 == name } > 0
  }

  /// Ends all of one's own sessions but one.
  ///
  /// - Returns: How many ended.
  /// - Throws: ``ConsoleSignInError/unavailable(_:)``.
  @discardableResult
  public func endOthers(
    than name: String, of administrator: Administrator, by author: Author
  ) async throws(ConsoleSignInError) -> Int {
    try await end(of: administrator, by: author) { $0 != name }
  }

  private func end(
    of administrator: Administrator, by author: Author,
    where isMeant: @escaping @Sendable (String) -> Bool
  ) async throws(ConsoleSignInError) -> Int {
    let now = store.clock.now()
    return try await store.write(ConsoleSignInError.self) { connection in
      let ended = try Self.end(of: administrator.id, at: now, connection, where: isMeant)
      guard ended > 0 else { return 0 }
      var entry = AuditEntry(
        "administrator.end-sessions", "administrator", administrator.id.text,
        name: administrator.displayName)
      entry.to = "\(Words.count(ended, "session", "sessions")) ended"
      try entry.record(by: author, at: now, connection)
      return ended
    }
  }

  /// Ends the sessions of an administrator, but the one with a name, and says how many.
  @discardableResult
  static func endAll(
    of id: ID<Administrator>, but name: String?, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    try end(of: id, at: now, connection) { $0 != name }
  }

  /// Those that had run out go too, and are not counted.
  private static func end(
    of id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection,
    where isMeant: (String) -> Bool
  ) throws -> Int {
    let sessions = try connection.all(
      """
      SELECT token_digest, created_at, last_seen_at FROM console_session
      WHERE administrator_id = \(id.text)
      """
    ) { row in
      (
        digest: try row.value(0) as [UInt8],
        isOpen: isOpen(
          since: Instant(microseconds: try row.value(1)),
          lastSeenAt: Instant(microseconds: try row.value(2)), at: now)
      )
    }
    let meant = sessions.filter { isMeant(Self.name(of: $0.digest)) }
    for session in meant {
      try connection.run("DELETE FROM console_session WHERE token_digest = \(session.digest)")
    }
    return meant.count { $0.isOpen }
  }

  private static func isOpen(
    since start: Instant, lastSeenAt: Instant, at now: Instant
  ) -> Bool {
    now < start.advanced(bySeconds: longest) && now < lastSeenAt.advanced(bySeconds: idle)
  }

  /// The session of a cookie's token when it ran out a while ago; nil when it is still open, was
  /// ended, or is forgotten.
  ///
  /// - Throws: ``ConsoleSignInError/unavailable(_:)``.
  public func ranOut(token: String) async throws(ConsoleSignInError) -> EndedConsoleSession? {
    guard (20...100).contains(token.utf8.count) else { return nil }
    let digest = Store.digest(token)
    let now = store.clock.now()
    return try await store.read(ConsoleSignInError.self) { connection in
      guard try Self.find(digest, at: now, connection) == nil else { return nil }
      return try connection.first(
        """
        SELECT administrator_id, csrf_token FROM console_session WHERE token_digest = \(digest)
        """
      ) { row in
        EndedConsoleSession(
          administrator: ID(try row.value(0)), csrfToken: try row.value(1))
      }
    }
  }
}
