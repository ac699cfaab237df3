public import Database

extension Identity {
  /// Returns the schema migrations for a database.
  ///
  /// PostgreSQL's begin with a baseline, the schema that those of SQLite had ended with by then.
  /// Later ones have the same names in both dialects, and leave the same tables and columns.
  public static func migrations(for dialect: Dialect) -> [Migration] {
    switch dialect {
    case .sqlite: migrations
    case .postgreSQL:
      [
        migration("m0059_baseline", PackageResources.m0059_baseline_postgresql_sql),
        migration(
          "m0060_console_storage", PackageResources.m0060_console_storage_postgresql_sql),
        migration("m0061_count_changes", PackageResources.m0061_count_changes_postgresql_sql),
        migration(
          "m0062_room_for_changes", PackageResources.m0062_room_for_changes_postgresql_sql),
        migration("m0063_pool_keys", PackageResources.m0063_pool_keys_postgresql_sql),
      ]
    }
  }
}
