import Database

/// An entry that a destination refused; it's missing from the stream.
public struct DeadLetter: Sendable {
  /// The position of the entry.
  public let sequence: Int64
  /// The number of attempts.
  public let attempts: Int
  /// When the last one failed.
  public let refusedAt: Instant
  /// Why.
  public let failure: EventFailure
  /// Whether it's sent again, shortly or once its stream is resumed.
  public let isRetried: Bool
  /// The entry; nil if it was deleted because of its age.
  public let row: AuditRow?
}

extension EventStreams {
  /// The number of refused entries that a page lists.
  public static let mostListed = 100

  /// Lists the entries that a destination refused, in order, up to ``mostListed``.
  ///
  /// - Throws: ``EventStreamError/unavailable(_:)``.
  public func deadLetters(_ id: ID<EventStream>) async throws(EventStreamError) -> [DeadLetter] {
    try await store.read(EventStreamError.self) { connection in
      try connection.all(
        """
        SELECT d.sequence, d.attempts, d.refused_at, d.failure, d.retry_asked_at IS NOT NULL,
          (SELECT audit_id FROM audit_link WHERE sequence = d.sequence)
        FROM dead_letter d WHERE d.stream_id = \(id.text) AND d.discarded_at IS NULL
        ORDER BY d.sequence LIMIT \(Self.mostListed)
        """
      ) { row in
        (
          sequence: try row.value(0) as Int64, attempts: try row.value(1) as Int,
          refusedAt: Instant(microseconds: try row.value(2)),
          failure: EventFailure(stored: try row.value(3)), isRetried: try row.value(4) as Bool,
          entry: try row.value(5) as Int64?
        )
      }.map { letter in
        DeadLetter(
          sequence: letter.sequence, attempts: letter.attempts, refusedAt: letter.refusedAt,
          failure: letter.failure, isRetried: letter.isRetried,
          row: try letter.entry.flatMap { try Audit.find($0, connection) })
      }
    }
  }

  /// Has an entry sent again that the destination refused.
  ///
  /// - Returns: False if the stream is paused, so that the entry waits until it's resumed.
  /// - Throws: ``ActionError`` with ``EventStreamError``.
  public func retry(
    _ sequence: Int64, of id: ID<EventStream>, _ request: ActionRequest
  ) async throws(ActionError<EventStreamError>) -> ActionOutcome<Bool> {
    try await store.perform(.retryDeadLetter, request, in: .instance, EventStreamError.self) {
      context, connection in
      let stream = try Self.existing(id, connection)
      let isRetried = try Self.letter(sequence, of: id, connection)
      guard !isRetried else { return stream.pausedAt == nil }
      try connection.run(
        """
        UPDATE dead_letter SET retry_asked_at = \(context.now.microseconds)
        WHERE stream_id = \(id.text) AND sequence = \(sequence)
        """)
      var entry = Self.entry(.eventStreamRetry, stream)
      entry.add(.auditEntry, .number(Int(sequence)))
      try context.record(entry, connection)
      return stream.pausedAt == nil
    }
  }

  /// Gives up on an entry that the destination refused; the gap in the stream remains.
  ///
  /// - Throws: ``ActionError`` with ``EventStreamError``.
  public func discard(
    _ sequence: Int64, of id: ID<EventStream>, _ request: ActionRequest
  ) async throws(ActionError<EventStreamError>) -> ActionOutcome<Void> {
    try await store.perform(.discardDeadLetter, request, in: .instance, EventStreamError.self) {
      context, connection in
      let stream = try Self.existing(id, connection)
      _ = try Self.letter(sequence, of: id, connection)
      try connection.run(
        """
        UPDATE dead_letter SET discarded_at = \(context.now.microseconds), retry_asked_at = NULL
        WHERE stream_id = \(id.text) AND sequence = \(sequence)
        """)
      try Self.forgetDiscarded(id, connection)
      var entry = Self.entry(.eventStreamDiscard, stream)
      entry.add(.auditEntry, lost: .number(Int(sequence)))
      try context.record(entry, connection)
    }
  }

  /// Returns whether a refused entry is sent again already.
  private static func letter(
    _ sequence: Int64, of id: ID<EventStream>, _ connection: borrowing Connection
  ) throws -> Bool {
    let isRetried: Bool? = try connection.first(
      """
      SELECT retry_asked_at IS NOT NULL FROM dead_letter
      WHERE stream_id = \(id.text) AND sequence = \(sequence) AND discarded_at IS NULL
      """
    ) { try $0.value(0) }
    guard let isRetried else { throw EventStreamError.letterNotFound }
    return isRetried
  }

  /// Deletes discarded entries whose gap the destination knows.
  static func forgetDiscarded(
    _ id: ID<EventStream>, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      DELETE FROM dead_letter
      WHERE stream_id = \(id.text) AND discarded_at IS NOT NULL AND is_marked = 1
      """)
  }
}
