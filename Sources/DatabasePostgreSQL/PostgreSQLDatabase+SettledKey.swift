import Database

extension PostgreSQLDatabase {
  /// Returns a key up to which the rows of a table are settled.
  ///
  /// A write locks the table before the sequence gives it a key, and unlocks it when it has ended
  /// and others see its rows. So the rows up to the last key that was given are settled once none of
  /// the writes that have the lock then is in progress. No write waits for this.
  ///
  /// - Parameters:
  ///   - column: The column with the key, an identity column.
  ///   - table: The table.
  /// - Returns: The key; nil when a write in progress didn't end within a second.
  /// - Throws: ``DatabaseError``.
  public nonisolated(nonsending) func settledKey(
    _ column: StaticString, of table: StaticString
  ) async throws -> Int64? {
    let (column, table) = (column.description, table.description)
    // In this order: a write that is given a key later can have the lock, but not the reverse.
    let (key, writes) = try await read { connection in
      (try Self.lastKey(column, of: table, connection), try Self.writes(to: table, connection))
    }
    var earlier = writes
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(1)
    while !earlier.isEmpty {
      guard clock.now < deadline else { return nil }
      try await clock.sleep(for: .milliseconds(10))
      earlier.formIntersection(try await read { try Self.writes(to: table, $0) })
    }
    return key
  }

  /// Returns the last key that the sequence of a column has given; 0 for none.
  private static func lastKey(
    _ column: String, of table: String, _ connection: borrowing Connection
  ) throws -> Int64 {
    try connection.first(
      """
      SELECT coalesce(pg_catalog.pg_sequence_last_value(
        pg_catalog.pg_get_serial_sequence(\(table), \(column))::regclass), 0)
      """
    ) { try $0.value(0) } ?? 0
  }

  /// Returns the transactions that have inserted rows into a table, or are about to.
  private static func writes(
    to table: String, _ connection: borrowing Connection
  ) throws -> Set<String> {
    Set(
      try connection.all(
        """
        SELECT l.virtualtransaction FROM pg_catalog.pg_locks AS l
        WHERE l.locktype = 'relation' AND l.relation = \(table)::regclass AND l.granted
          AND l.mode = 'RowExclusiveLock' AND l.database = (
            SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
        """
      ) { try $0.value(0) as String })
  }
}
