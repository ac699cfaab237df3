/// The SQL that a database understands.
///
/// A statement is written once. Where the dialects differ, it contains one of the fragments in this
/// file, which have a text for each. Apart from migrations, no other file has SQL that only one
/// database understands.
public enum Dialect: Sendable, Equatable {
  /// SQLite 3.40.
  case sqlite
  /// PostgreSQL 15.
  case postgreSQL

  /// Whether several servers may use the same database; a file has one.
  public var sharesDatabase: Bool { self == .postgreSQL }
}

extension SQL {
  /// Creates a fragment with a text for each dialect.
  fileprivate init(sqlite: StaticString, postgreSQL: StaticString) {
    self.init(pieces: [.only(.sqlite, sqlite), .only(.postgreSQL, postgreSQL)])
  }

  /// Creates a fragment from a name in the source.
  fileprivate init(_ name: StaticString) {
    self.init(pieces: [.literal(name)])
  }
}

// MARK: - Plans

extension SQL {
  /// A join that reads the left table first; the right table and `ON` or `USING` follow.
  ///
  /// SQLite keeps the order of the tables of a `CROSS JOIN`. PostgreSQL knows how many rows have
  /// which values, and chooses the order itself.
  public static let orderedJoin = SQL(sqlite: "CROSS JOIN", postgreSQL: "JOIN")

  /// Requires an index of the table before it; PostgreSQL chooses the index itself.
  public static func index(_ name: StaticString) -> SQL {
    SQL(pieces: [.only(.sqlite, "INDEXED BY "), .only(.sqlite, name)])
  }
}

extension SQL.Interpolation {
  /// Requires an index of the table before it; PostgreSQL chooses the index itself.
  ///
  /// ```swift
  /// "SELECT count(*) FROM outbox \(index: "outbox_waiting") WHERE next_try_at >= 0"
  /// ```
  public mutating func appendInterpolation(index name: StaticString) {
    appendInterpolation(SQL.index(name))
  }
}

extension SQL {
  /// Continues a `GROUP BY` with the primary keys of tables of which each group has one row, so
  /// that their columns can be selected.
  ///
  /// SQLite allows that anyway, and would sort the rows by the keys.
  public static func alsoGrouped(by keys: StaticString) -> SQL {
    SQL(pieces: [.only(.postgreSQL, ", "), .only(.postgreSQL, keys)])
  }
}

// MARK: - Functions

extension SQL {
  /// The name of the function for the larger of two numbers, neither of which is NULL.
  public static let greatest = SQL(sqlite: "max", postgreSQL: "greatest")

  /// The name of the function for the smaller of two numbers, neither of which is NULL.
  public static let least = SQL(sqlite: "min", postgreSQL: "least")

  /// The name of the function for the position of the second text in the first, from 1; 0 if it
  /// isn't there.
  public static let position = SQL(sqlite: "instr", postgreSQL: "strpos")

  /// The name of the function for the first of two values that isn't NULL, as in indexes; other
  /// statements use `coalesce`.
  public static let ifNull = SQL(sqlite: "ifnull", postgreSQL: "coalesce")

  /// Returns a column of texts with a value after all texts in place of NULL.
  ///
  /// - Parameter column: The column, as in the indexes on this expression.
  /// - Returns: The expression.
  public static func orLast(_ column: StaticString) -> SQL {
    ifNull + "(" + SQL(column) + ", " + last + ")"
  }

  /// The value after all texts.
  public static let last = SQL(sqlite: "x'FF'", postgreSQL: "chr(1114111)")

  /// Returns the number of bytes of the texts in a column.
  public static func byteCount(_ column: StaticString) -> SQL {
    SQL(sqlite: "length(CAST(", postgreSQL: "octet_length(") + SQL(column)
      + SQL(sqlite: " AS BLOB))", postgreSQL: ")")
  }

  /// The key that the database chose for the row inserted last on this connection.
  public static let insertedKey = SQL(sqlite: "last_insert_rowid()", postgreSQL: "lastval()")

  /// The time of the clock of the database's machine, in microseconds since 1970; SQLite's is
  /// precise to the millisecond.
  public static let machineTime = SQL(
    sqlite: "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000",
    postgreSQL: "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)")
}

extension SQL {
  /// Returns the next number of a table whose key is a pool and a number, which no row had before.
  ///
  /// SQLite chooses numbers only for a key of one column, so the table `key_sequence` has the last
  /// number of each of these tables, and a trigger of the table advances it. A statement inserts
  /// one row, since it would get the same number for all.
  ///
  /// - Parameters:
  ///   - column: The column of the number.
  ///   - table: The table.
  /// - Returns: The expression.
  public static func nextNumber(_ column: StaticString, of table: StaticString) -> SQL {
    SQL(sqlite: "(SELECT last + 1 FROM key_sequence WHERE name = '", postgreSQL: "nextval('")
      + SQL(table) + SQL(pieces: [.only(.postgreSQL, "_"), .only(.postgreSQL, column)])
      + SQL(sqlite: "')", postgreSQL: "_seq')")
  }
}

// MARK: - JSON

extension SQL {
  /// Returns the text of a member of the JSON object in a column: an object as JSON; NULL if it's
  /// missing, or the column isn't valid JSON.
  ///
  /// - Parameters:
  ///   - path: The names of the objects it's in and its own, separated by periods.
  ///   - column: A column of texts.
  /// - Returns: The expression.
  public static func member(_ path: StaticString, of column: StaticString) -> SQL {
    SQL(sqlite: "CASE WHEN json_valid(", postgreSQL: "(json_or_null(") + SQL(column)
      + SQL(sqlite: ") THEN json_extract(", postgreSQL: ") #>> string_to_array(")
      + SQL(pieces: [.only(.sqlite, column)]) + SQL(sqlite: ", '$.", postgreSQL: "'") + SQL(path)
      + SQL(sqlite: "') || '' END", postgreSQL: "', '.'))")
  }

  /// Returns a Boolean member of the JSON object in a column as 0 or 1; NULL if it's missing, or
  /// the column isn't valid JSON.
  ///
  /// - Parameters:
  ///   - path: The names of the objects it's in and its own, separated by periods.
  ///   - column: A column of texts.
  /// - Returns: The expression.
  public static func flag(_ path: StaticString, of column: StaticString) -> SQL {
    "CASE " + member(path, of: column)
      + " WHEN '1' THEN 1 WHEN 'true' THEN 1 WHEN '0' THEN 0 WHEN 'false' THEN 0 END"
  }
}

// MARK: - Search

/// An index that finds any three or more characters in a column of texts.
///
/// In SQLite, it's an FTS5 table that is updated along with the table of the texts. In PostgreSQL,
/// it's an index of the latter.
public struct TextIndex: Sendable {
  private let table: StaticString
  private let texts: StaticString
  private let key: StaticString
  private let text: StaticString

  /// Describes an index.
  ///
  /// - Parameters:
  ///   - table: The FTS5 table.
  ///   - texts: The table of the texts.
  ///   - key: The integer primary key of that table.
  ///   - text: The column of the texts in both tables.
  public init(
    table: StaticString, of texts: StaticString, key: StaticString, text: StaticString
  ) {
    self.table = table
    self.texts = texts
    self.key = key
    self.text = text
  }

  /// Adds a text that was added to the table of the texts.
  ///
  /// - Throws: ``DatabaseError``.
  public func insert(
    _ key: Int64, _ text: String, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    guard connection.dialect == .sqlite else { return }
    try connection.run(
      "INSERT INTO \(SQL(table)) (rowid, \(SQL(self.text))) VALUES (\(key), \(text))")
  }

  /// Removes a text that is about to be removed from the table of the texts.
  ///
  /// - Throws: ``DatabaseError``.
  public func remove(
    _ key: Int64, _ text: String, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    guard connection.dialect == .sqlite else { return }
    try connection.run(
      """
      INSERT INTO \(SQL(table)) (\(SQL(table)), rowid, \(SQL(self.text)))
      VALUES ('delete', \(key), \(text))
      """)
  }

  /// Sets how much is collected in memory before it's written; a larger part needs less merging.
  ///
  /// - Throws: ``DatabaseError``.
  public func setMemory(_ bytes: Int, _ connection: borrowing Connection) throws(DatabaseError) {
    guard connection.dialect == .sqlite else { return }
    try connection.run(
      "INSERT INTO \(SQL(table)) (\(SQL(table)), rank) VALUES ('hashsize', \(bytes))")
  }

  /// Writes a part of the index anew without removed texts, which it keeps until then.
  ///
  /// - Parameters:
  ///   - pages: The number of pages to write.
  ///   - connection: The connection.
  /// - Returns: True if there may be more.
  /// - Throws: ``DatabaseError``.
  public func merge(_ pages: Int, _ connection: borrowing Connection) throws -> Bool {
    guard connection.dialect == .sqlite else { return false }
    let before = try Self.changes(connection)
    try connection.run(
      "INSERT INTO \(SQL(table)) (\(SQL(table)), rank) VALUES ('merge', \(pages))")
    // SQLite's documentation: less than two changes mean that nothing was merged.
    return try Self.changes(connection) - before >= 2
  }

  private static func changes(_ connection: borrowing Connection) throws -> Int64 {
    try connection.first("SELECT total_changes()") { try $0.next() } ?? 0
  }

  /// Returns a query for keys of texts that contain certain parts, from the largest.
  ///
  /// - Parameters:
  ///   - alternatives: Lists of parts, each of three or more characters; a text contains all parts
  ///     of at least one of the lists.
  ///   - keys: The keys to search.
  ///   - limit: The maximum number of keys.
  ///   - dialect: The dialect of the connection.
  /// - Returns: The query, with one column.
  public func query(
    containing alternatives: [[String]], in keys: ClosedRange<Int64>, limit: Int,
    _ dialect: Dialect
  ) -> SQL {
    switch dialect {
    case .sqlite:
      """
      SELECT rowid FROM \(SQL(table))
      WHERE \(SQL(table)) MATCH \(Self.expression(alternatives))
        AND rowid BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
      ORDER BY rowid DESC LIMIT \(limit)
      """
    case .postgreSQL:
      """
      SELECT \(SQL(key)) FROM \(SQL(texts))
      WHERE (\(condition(alternatives)))
        AND \(SQL(key)) BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
      ORDER BY \(SQL(key)) DESC LIMIT \(limit)
      """
    }
  }

  private func condition(_ alternatives: [[String]]) -> SQL {
    alternatives.map { parts in
      parts.map { "\(SQL(text)) LIKE \(Self.pattern($0))" as SQL }.joined(separator: " AND ")
    }.joined(separator: " OR ")
  }

  /// Returns an expression of FTS5 in which all text is quoted.
  private static func expression(_ alternatives: [[String]]) -> String {
    let all = alternatives.map { $0.map(quoted).joined(separator: " AND ") }
    return all.count == 1 ? all[0] : all.map { "(\($0))" }.joined(separator: " OR ")
  }

  private static func quoted(_ text: String) -> String {
    "\"" + replaced(text) { $0 == UInt8(ascii: "\"") ? $0 : nil } + "\""
  }

  /// Returns the pattern for texts that contain a part.
  private static func pattern(_ part: String) -> String {
    let special = Array("\\%_".utf8)
    return "%" + replaced(part) { special.contains($0) ? UInt8(ascii: "\\") : nil } + "%"
  }

  /// Inserts a byte before some others.
  ///
  /// Works on bytes because Swift treats a quotation mark with a combining accent as a different
  /// character.
  private static func replaced(_ text: String, _ prefix: (UInt8) -> UInt8?) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if let prefix = prefix(byte) { bytes.append(prefix) }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

// MARK: - Migrations

extension Connection {
  /// Waits until no other server creates the table of migrations, and keeps others waiting until
  /// the transaction ends; a file of SQLite has one writer anyway.
  func waitForOtherServers() throws(DatabaseError) {
    guard dialect == .postgreSQL else { return }
    try runScript("SELECT pg_catalog.pg_advisory_xact_lock(728264573)")
  }

  /// Waits until no other server migrates, and keeps others waiting until the transaction ends.
  ///
  /// It must be the first statement: locking a table doesn't begin the snapshot, so that the next
  /// statement sees what the other server did.
  ///
  /// - Throws: ``DatabaseError``.
  public func waitForOtherMigrations() throws(DatabaseError) {
    guard dialect == .postgreSQL else { return }
    // A script may take as long as the migrations of the other server.
    try runScript("LOCK TABLE schema_migration IN SHARE ROW EXCLUSIVE MODE")
  }
}

// MARK: - The schema and the files

extension SQL {
  /// The tables, with the column `name`.
  public static let tables = SQL(
    sqlite: "(SELECT name FROM sqlite_schema WHERE type = 'table') AS tables",
    postgreSQL: """
      (SELECT tablename::text AS name FROM pg_catalog.pg_tables
      WHERE schemaname = current_schema()) AS tables
      """)

  /// The indexes that can be dropped and created again, with the columns `name`, `table_name`, and
  /// `text`, the statement that creates it.
  public static let indexes = SQL(
    sqlite: """
      (SELECT name, tbl_name AS table_name, sql AS text FROM sqlite_schema
      WHERE type = 'index' AND sql IS NOT NULL) AS indexes
      """,
    postgreSQL: """
      (SELECT indexname::text AS name, tablename::text AS table_name, indexdef AS text
      FROM pg_catalog.pg_indexes WHERE schemaname = current_schema() AND NOT EXISTS (
        SELECT 1 FROM pg_catalog.pg_constraint AS c
        WHERE c.conname = indexname AND c.connamespace = current_schema()::regnamespace
      )) AS indexes
      """)

  /// The size of each table with its indexes, with the columns `name` and `bytes`.
  public static let tableSizes = SQL(
    sqlite: """
      (SELECT coalesce(part.tbl_name, page.name) AS name, sum(page.pgsize) AS bytes
      FROM dbstat AS page LEFT JOIN sqlite_schema AS part ON part.name = page.name
      WHERE page.aggregate = TRUE GROUP BY 1) AS sizes
      """,
    postgreSQL: """
      (SELECT relname::text AS name, pg_catalog.pg_total_relation_size(oid) AS bytes
      FROM pg_catalog.pg_class
      WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace) AS sizes
      """)

  /// The size of the database, with the column `bytes`.
  public static let databaseSize = SQL(
    sqlite: """
      (SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()) AS size
      """,
    postgreSQL: "(SELECT pg_catalog.pg_database_size(current_database()) AS bytes) AS size")

  /// The locale that decides which characters PostgreSQL treats as letters; C has only ASCII letters.
  public static let characterLocale = SQL(
    sqlite: "''",
    postgreSQL: "(SELECT datctype FROM pg_catalog.pg_database WHERE datname = current_database())")

  /// The first five faults of the file, with the column `fault`; PostgreSQL has none, since it
  /// checks its files itself.
  public static let faults = SQL(
    sqlite: """
      (SELECT integrity_check AS fault FROM pragma_integrity_check(5)
      WHERE integrity_check <> 'ok') AS faults
      """,
    postgreSQL: "(SELECT '' AS fault WHERE false) AS faults")

  /// The tables with rows that refer to a missing row, with the column `name`; PostgreSQL has
  /// none, since it never skips the check.
  public static let orphans = SQL(
    sqlite: "(SELECT DISTINCT \"table\" AS name FROM pragma_foreign_key_check) AS orphans",
    postgreSQL: "(SELECT '' AS name WHERE false) AS orphans")
}
