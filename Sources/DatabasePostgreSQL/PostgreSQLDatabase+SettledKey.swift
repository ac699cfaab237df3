import Database

extension PostgreSQLDatabase {
  /// Returns a key up to which the rows of a table are settled.
  ///
  /// A write locks the table before the sequence gives it a key, and unlocks it when it has ended
  /// and others see its rows. So the rows up to the last key that was given are settled once none
  /// of the writes that have the lock then is in progress. No write waits for this.
  ///
  /// The connections are those for writes: after a failover, one for reads may still be to the
  /// server before it, where none of the writes is in progress.
  ///
  /// - Parameters:
  ///   - column: The column with the key, an identity column.
  ///   - table: The table.
  /// - Returns: The key; nil when a write in progress didn't end within a second, or the server
  ///   isn't the same at the end.
  /// - Throws: ``DatabaseError``.
  public nonisolated(nonsending) func settledKey(
    _ column: StaticString, of table: StaticString
  ) async throws -> Int64? {
    let (column, table) = (column.description, table.description)
    let first = try await look(column, table)
    var earlier = first.writes
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(1)
    while !earlier.isEmpty {
      guard clock.now < deadline else { return nil }
      try await clock.sleep(for: .milliseconds(10))
      let next = try await look(column, table)
      guard next.server == first.server else { return nil }
      earlier.formIntersection(next.writes)
    }
    return first.key
  }

  /// What a look at a table finds.
  private struct Finding {
    /// When the server was started, which distinguishes it from its copies.
    var server: String
    /// The last key that was given; 0 for none.
    var key: Int64
    /// The transactions that have inserted rows, or are about to.
    var writes: Set<String>
  }

  /// Looks at a table of the server that accepts writes.
  private nonisolated(nonsending) func look(
    _ column: String, _ table: String
  ) async throws -> Finding {
    let retries = retries
    return try await writers.use { session in
      try session.write(retries) { connection in
        // In this order: a write that is given a key later can have the lock, but not the reverse.
        let (server, key) = try Self.lastKey(column, of: table, connection)
        return Finding(server: server, key: key, writes: try Self.writes(to: table, connection))
      }
    }
  }

  /// Returns the server, and the last key that the sequence of a column has given.
  private static func lastKey(
    _ column: String, of table: String, _ connection: borrowing Connection
  ) throws -> (server: String, key: Int64) {
    try connection.first(
      """
      SELECT pg_catalog.pg_postmaster_start_time()::text,
        coalesce(pg_catalog.pg_sequence_last_value(
          pg_catalog.pg_get_serial_sequence(\(table), \(column))::regclass), 0)
      """
    ) { (try $0.next(), try $0.next()) } ?? ("", 0)
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
      ) { try $0.next() as String })
  }
}
