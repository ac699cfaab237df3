public import Database

/// What an upgrade would do to a database, with estimates of its time and space.
public struct MigrationPlan: Sendable, Equatable {
  public struct Step: Sendable, Equatable {
    /// The name, such as `m0069_upgrade_of_0_2_0`.
    public let name: String
    /// The tables with data that it reads or rewrites.
    public let tables: [String]
    /// The size of these tables with their indexes, in bytes.
    public let bytes: Int
  }

  public let steps: [Step]
  /// The size of the database, in bytes, which is also that of a backup.
  public let databaseBytes: Int

  /// Bytes that a slow disk reads and rewrites per second.
  private static let rate = 10 << 20
  /// Bytes that each migration needs in any case.
  private static let least = 1 << 20

  /// The estimated space that the migrations use until they're done, in bytes: a rewritten table is
  /// in the write-ahead log and in the file.
  public var extraBytes: Int { steps.reduce(0) { $0 + 2 * $1.bytes + Self.least } }

  /// The estimated time on a slow disk, in seconds.
  public var seconds: Int { (extraBytes + Self.rate - 1) / Self.rate }

  /// Checks the schema of a database, and estimates its migrations from the sizes of its tables,
  /// which reads every page.
  public static func estimate(
    _ database: any Database
  ) async throws -> MigrationPlan {
    let pending = try await SchemaCompatibility.pending(database)
    try await SchemaObjects.check(database)
    let (tables, file) = try await database.read { connection in
      (try sizes(connection), try fileSize(connection))
    }
    let steps = pending.map { migration in
      let touched = self.tables(in: migration.text).filter { tables[$0] != nil }
      return Step(
        name: migration.name, tables: touched.sorted(),
        bytes: touched.reduce(0) { $0 + (tables[$1] ?? 0) })
    }
    return MigrationPlan(steps: steps, databaseBytes: file)
  }

  /// Returns the size of a database with its free pages, in bytes, which is also that of a backup.
  public static func databaseBytes(of database: any Database) async throws -> Int {
    try await database.read { connection in try fileSize(connection) }
  }

  /// Returns the size of each table with its indexes, in bytes.
  private static func sizes(_ connection: borrowing Connection) throws -> [String: Int] {
    let sizes = try connection.all(
      "SELECT name, bytes FROM \(SQL.tableSizes)"
    ) { row in (table: try row.next() as String, bytes: try row.next() as Int) }
    return Dictionary(uniqueKeysWithValues: sizes.map { ($0.table, $0.bytes) })
  }

  private static func fileSize(_ connection: borrowing Connection) throws -> Int {
    try connection.first(
      "SELECT bytes FROM \(SQL.databaseSize)"
    ) { try $0.next() } ?? 0
  }

  /// Returns the names in a migration that can be tables it reads or rewrites; adding a column
  /// doesn't rewrite its table.
  static func tables(in text: String) -> Set<String> {
    let statements = text.split(separator: "\n")
      .map { line -> Substring in line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line }
      .joined(separator: " ")
    let uses =
      #/(?i)\b(?:UPDATE|INTO|FROM|JOIN|ON|DROP\s+TABLE|ALTER\s+TABLE(?=\s+\w+\s+(?:DROP|RENAME)))\s+(\w+)/#
    return Set(statements.matches(of: uses).map { String($0.output.1) })
  }
}
