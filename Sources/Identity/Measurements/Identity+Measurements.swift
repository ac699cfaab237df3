public import Database

/// Numbers for monitoring.
public struct Measurements: Sendable, Equatable {
  /// Emails that wait to be sent by this server.
  public let queuedMail: Int
  /// When the oldest of them was created; nil if there are none.
  public let oldestMail: Instant?
  /// Text messages that wait to be sent by this server.
  public let queuedTextMessages: Int
  /// When the oldest of them was created; nil if there are none.
  public let oldestTextMessage: Instant?
  public let consoleSessions: Int
}

extension Identity {
  public func measurements() async throws -> Measurements {
    let now = clock.now()
    return try await store.read { connection in
      let limits = try SessionLimits.find(connection)
      let oldest = now.advanced(bySeconds: -limits.lifetime)
      return Measurements(
        queuedMail: try Deliveries.queued(.mail, connection),
        oldestMail: try Deliveries.oldest(.mail, connection),
        queuedTextMessages: try Deliveries.queued(.sms, connection),
        oldestTextMessage: try Deliveries.oldest(.sms, connection),
        consoleSessions: try Self.count(
          "SELECT count(*) FROM console_session WHERE created_at >= \(oldest)",
          connection))
    }
  }

  /// Returns when the instance was created; a restored one is as old as its backup's.
  public func creationTime() async throws -> Instant? {
    try await store.read { connection in
      try connection.first("SELECT min(applied_at) FROM schema_migration") {
        try $0.next() as Int64?
      }?.map(Instant.init(milliseconds:))
    }
  }

  private static func count(_ statement: SQL, _ connection: borrowing Connection) throws -> Int {
    try connection.first(statement) { try $0.next() } ?? 0
  }
}

/// Emails of a database that didn't arrive.
public struct MailBacklog: Sendable, Equatable {
  /// When the oldest email that waits to be sent was created; nil if none waits.
  public let oldest: Instant?
  public let failed: Int
}

extension Identity {
  /// Reads which emails wait, and how many failed since a time, in a database that may be in use.
  public static func mailBacklog(
    of database: any Database, since: Instant
  ) async throws -> MailBacklog {
    try await database.read { connection in
      let failed = try connection.first(
        """
        SELECT count(*) FROM outbox
        WHERE channel = 'mail' AND failed_at IS NOT NULL AND failed_at >= \(since)
        """
      ) { try $0.next() as Int }
      return MailBacklog(oldest: try Deliveries.oldest(.mail, connection), failed: failed ?? 0)
    }
  }
}

extension Deliveries {
  /// Returns when the oldest email that waits to be sent was created; nil if none waits.
  public func oldest() async throws -> Instant? {
    try await store.read { try Self.oldest(.mail, $0) }
  }

  fileprivate static func queued(
    _ channel: OutboxEntry.Channel, _ connection: borrowing Connection
  ) throws -> Int {
    try connection.first(
      """
      SELECT count(*) FROM outbox WHERE channel = \(channel) AND next_try_at >= 0
      """
    ) { try $0.next() } ?? 0
  }

  fileprivate static func oldest(
    _ channel: OutboxEntry.Channel, _ connection: borrowing Connection
  ) throws -> Instant? {
    try connection.first(
      """
      SELECT min(created_at) FROM outbox WHERE channel = \(channel) AND next_try_at >= 0
      """
    ) { try $0.next() as Instant? } ?? nil
  }
}
