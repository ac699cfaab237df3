public import Database

/// Why PostgreSQL's index doesn't help all searches of users.
public enum SearchIndexFault: Sendable {
  /// There's none, since PostgreSQL had no extension `pg_trgm` that the schema could use when it was
  /// created: each search reads the texts of all users.
  case missing
  /// It has only the letters of ASCII, since the database was created with the LC_CTYPE C: searches
  /// for other letters read the texts of all users.
  case onlyASCII
}

extension Identity {
  /// SQLite has no such faults.
  public static func searchIndexFaults(
    of database: any Database
  ) async throws -> [SearchIndexFault] {
    guard database.dialect.sharesDatabase else { return [] }
    return try await database.read { connection in
      let index = try connection.first(
        "SELECT 1 FROM \(SQL.indexes) WHERE name = 'account_text_by_part'"
      ) { _ in true }
      let isASCII = try connection.first(
        "SELECT \(SQL.characterLocale) IN ('C', 'POSIX')"
      ) { try $0.next() as Bool }
      return (index == nil ? [.missing] : []) + (isASCII == true ? [.onlyASCII] : [])
    }
  }
}
