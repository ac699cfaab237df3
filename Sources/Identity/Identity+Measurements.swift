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
  /// When the oldest entry of the audit log happened that isn't sealed; nil if all are.
  public let unsealedSince: Instant?
  /// Whether the latest check of the audit log found a fault.
  public let hasAuditFault: Bool
  /// Since when no server has held the lease of the tasks; nil if one does.
  public let tasksUnheldSince: Instant?
  /// When each connected project was read.
  public let readAt: [ID<Project>: Instant]
}

extension Identity {
  public func measurements() async throws -> Measurements {
    let (now, readAt) = (clock.now(), try await connections.readAt())
    return try await store.read { connection in
      let limits = try SessionLimits.find(connection)
      let oldest = now.advanced(bySeconds: -limits.lifetime)
      return Measurements(
        queuedMail: try Deliveries.queued(.mail, connection),
        oldestMail: try Deliveries.oldest(.mail, connection),
        queuedTextMessages: try Deliveries.queued(.sms, connection),
        oldestTextMessage: try Deliveries.oldest(.sms, connection),
        consoleSessions: try connection.first(
          "SELECT count(*) FROM console_session WHERE created_at >= \(oldest)"
        ) { try $0.next() } ?? 0,
        unsealedSince: try AuditChain.unsealedSince(connection),
        hasAuditFault: try AuditChain.storedFault(connection) != nil,
        tasksUnheldSince: try TaskLease.unheldSince(at: now, connection),
        readAt: readAt)
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

extension Identity {
  /// Whether there's a key to sign tokens with; the emulator profile doesn't sign tokens.
  public var hasSigningKey: Bool { profile == .emulator || !signingKeys.publicKeys().isEmpty }

  /// Refuses all writes from now on, or permits them again; nothing that one of several servers does is
  /// done while they're refused.
  public func setUsable(_ isUsable: Bool) { store.isUsable = isUsable }

  /// Whether the database may be used by this program.
  public var isUsable: Bool { store.isUsable }

  /// Checks that the database is writable by writing to it.
  public func checkWritable() async throws {
    let now = String(clock.now().microseconds)
    // Also while other writes are refused, so that a database that can be used again is noticed.
    try await store.database.write { connection in
      try InstanceValue("probed_at").store(now, connection)
    }
  }

  /// Deletes old code attempts of the next pools; does nothing while the clock isn't trusted.
  public func expireCodeAttempts() async throws -> Bool {
    guard clockGuard.doubt == nil else { return false }
    return try await codeAttempts.age()
  }

  /// Indexes one batch of users again whom a node of the previous version changed during an upgrade, so
  /// that searches find them; does nothing from a day after the upgrade.
  public func indexUsers() async throws -> Bool {
    try await SearchIndex.replaceNext(store)
  }

  /// Removes one batch of audit log entries that are past the retention; does nothing while the
  /// clock isn't trusted.
  public func removeExpiredAuditEntries() async throws -> Bool {
    guard clockGuard.doubt == nil else { return false }
    return try await auditChain.removeExpired()
  }
}

extension Identity {
  public var passwordAttempts: PasswordAttempts { store.passwordAttempts }
}

extension PasswordAttempts.Result {
  init(_ error: any Error) {
    self =
      switch error {
      case SignInError.emailNotFound, SignInError.wrongPassword, ConsoleSignInError.refused:
        .incorrect
      case SignInError.tooManyAttempts, ConsoleSignInError.throttled: .blocked
      default: .other
      }
  }
}
