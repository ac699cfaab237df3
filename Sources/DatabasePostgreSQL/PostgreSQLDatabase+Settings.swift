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
        let isOn = [
          "fsync": try row.value(2) as Bool, "full_page_writes": try row.value(3) as Bool,
        ]
        return ServerSettings(
          connections: try row.value(0), preparedTransactions: try row.value(1),
          turnedOff: isOn.filter { !$0.value }.keys.sorted(), losesOnFailover: try row.value(4))
      }
    }
    guard let found else { throw DatabaseError(.unexpectedValue, "the server has no settings") }
    return found
  }
}
