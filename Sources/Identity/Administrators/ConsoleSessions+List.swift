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
      now < session.startedAt.advanced(bySeconds: Self.longest)
        && now < session.lastSeenAt.advanced(bySeconds: Self.idle)
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
      let ended = try Self.end(of: administrator.id, connection, where: isMeant)
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
    of id: ID<Administrator>, but name: String?, _ connection: borrowing Connection
  ) throws -> Int {
    try end(of: id, connection) { $0 != name }
  }

  private static func end(
    of id: ID<Administrator>, _ connection: borrowing Connection, where isMeant: (String) -> Bool
  ) throws -> Int {
    let digests = try connection.all(
      "SELECT token_digest FROM console_session WHERE administrator_id = \(id.text)"
    ) { try $0.value(0) as [UInt8] }
    let meant = digests.filter { isMeant(Self.name(of: $0)) }
    for digest in meant {
      try connection.run("DELETE FROM console_session WHERE token_digest = \(digest)")
    }
    return meant.count
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
