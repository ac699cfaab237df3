public import Database

extension Identity {
  /// Returns whether searches of users read all of their texts, since PostgreSQL had no extension
  /// `pg_trgm` that the schema could use when it was created.
  ///
  /// - Parameter database: A database with the schema, which is only read.
  /// - Returns: Whether the index is missing.
  /// - Throws: ``StartError``.
  public static func lacksSearchIndex(of database: any Database) async throws(StartError) -> Bool {
    guard database.dialect.sharesDatabase else { return false }
    do {
      return try await database.read { connection in
        try connection.first(
          "SELECT 1 FROM \(SQL.indexes) WHERE name = 'account_text_by_part'"
        ) { _ in true } == nil
      }
    } catch {
      throw StartError(error)
    }
  }
}
