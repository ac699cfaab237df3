import Database

/// Numbers for monitoring.
public struct Measurements: Sendable, Equatable {
  /// Emails that wait to be sent by this server.
  public let queuedMail: Int
  /// When the oldest of them was created; nil if there are none.
  public let oldestMail: Instant?
  /// Sessions of users that are stored, including ended ones that aren't deleted yet.
  public let userSessions: Int
  /// Sessions of administrators.
  public let consoleSessions: Int
}

extension Identity {
  /// Reads the numbers for monitoring.
  ///
  /// - Throws: ``StartError/unavailable(_:)``.
  public func measurements() async throws(StartError) -> Measurements {
    let now = clock.now()
    return try await store.read(StartError.self) { connection in
      let limits = try SessionLimits.find(connection)
      let oldest = now.advanced(bySeconds: -limits.lifetime)
      return Measurements(
        queuedMail: try Self.count(
          "SELECT count(*) FROM outbox WHERE channel = 'mail' AND next_try_at >= 0", connection),
        oldestMail: try Deliveries.oldest(connection),
        userSessions: try Self.count(
          "SELECT count(*) FROM session WHERE session_id > \([UInt8]())", connection),
        consoleSessions: try Self.count(
          "SELECT count(*) FROM console_session WHERE created_at >= \(oldest.microseconds)",
          connection))
    }
  }

  private static func count(_ statement: SQL, _ connection: borrowing Connection) throws -> Int {
    try connection.first(statement) { try $0.value(0) } ?? 0
  }
}

extension Deliveries {
  /// Returns when the oldest email that waits to be sent was created; nil if none waits.
  ///
  /// - Throws: ``OutboxError/unavailable(_:)``.
  public func oldest() async throws(OutboxError) -> Instant? {
    try await store.read(OutboxError.self) { try Self.oldest($0) }
  }

  fileprivate static func oldest(_ connection: borrowing Connection) throws -> Instant? {
    try connection.first(
      """
      SELECT min(created_at) FROM outbox WHERE channel = 'mail' AND next_try_at >= 0
      """
    ) { (try $0.value(0) as Int64?).map(Instant.init(microseconds:)) } ?? nil
  }
}
