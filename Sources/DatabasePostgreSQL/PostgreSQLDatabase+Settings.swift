public import Database

extension PostgreSQLDatabase {
  /// Returns the settings of the server that decide how much it can do and what a failure loses.
  ///
  /// - Throws: ``DatabaseError``.
  public func settings() async throws -> ServerSettings {
    let sql: SQL = """
      SELECT current_setting('max_connections')::bigint,
        current_setting('max_prepared_transactions')::bigint,
        current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',
        current_setting('synchronous_standby_names') = ''
          AND EXISTS (SELECT 1 FROM pg_catalog.pg_stat_replication)
      """
    let found = try await read { connection in
      try connection.first(sql) { row in
        let (connections, preparedTransactions): (Int, Int) = (try row.next(), try row.next())
        let isOn = ["fsync": try row.next() as Bool, "full_page_writes": try row.next() as Bool]
        return ServerSettings(
          connections: connections, preparedTransactions: preparedTransactions,
          turnedOff: isOn.filter { !$0.value }.keys.sorted(), losesOnFailover: try row.next())
      }
    }
    guard let found else { throw DatabaseError(.unexpectedValue, "the server has no settings") }
    return found
  }
}
