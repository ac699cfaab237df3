public import Database

struct NewerProgramRequired: Error {
  let oldest: ProgramVersion
}

/// Which versions of the program can use a database.
///
/// Migrations expand the schema where possible, so that the previous version still works after an
/// upgrade. One that earlier versions can't work with raises `oldest_program` in the table
/// `instance`, in its own transaction.
enum SchemaCompatibility {
  private static let name = "oldest_program"

  /// Returns the pending migrations, without changing anything.
  ///
  /// Migrations of a newer version are tolerated if the database says that this one can use it.
  static func pending(_ database: any Database) async throws -> [Migration] {
    try await database.pending(
      Identity.migrations(for: database.dialect), toleratesNewer: try await toleratesNewer(database)
    )
  }

  /// Returns whether this version can use the database after migrations of newer versions.
  ///
  /// - Throws: `NewerProgramRequired` if the database says that it can't.
  static func toleratesNewer(_ database: any Database) async throws -> Bool {
    let text = try await database.read { connection -> String? in
      let isThere = try connection.first(
        "SELECT 1 FROM \(SQL.tables) WHERE name = 'instance'"
      ) { _ in true }
      return isThere == nil ? nil : try InstanceValue(name).read(connection)
    }
    guard let text else { return false }
    guard let oldest = ProgramVersion(text) else { throw Failure("unknown \(name)") }
    guard oldest <= .current else { throw NewerProgramRequired(oldest: oldest) }
    return true
  }
}

extension Identity {
  /// Returns whether this version can use the database, which another server may have migrated since
  /// this one started.
  public func canUseSchema() async throws -> Bool {
    do {
      _ = try await SchemaCompatibility.toleratesNewer(store.database)
      return true
    } catch is NewerProgramRequired {
      return false
    }
  }

  /// Returns the names of the migrations that a start would apply, without changing anything.
  public func pendingMigrations() async throws -> [String] {
    try await Self.pendingMigrations(of: store.database)
  }

  public static func pendingMigrations(
    of database: any Database
  ) async throws -> [String] {
    try await SchemaCompatibility.pending(database).map(\.name)
  }
}

extension StartError {
  public static func translated(_ error: any Error) -> any Error {
    switch error {
    case let error as MigrationError: StartError.migration(error)
    case let error as NewerProgramRequired: StartError.newerProgramRequired(error.oldest)
    default: error
    }
  }
}

/// A version of the program, such as 0.3.0.
public struct ProgramVersion: Sendable, Hashable, Comparable {
  /// The running version.
  public static let current = ProgramVersion(major: 0, minor: 3, patch: 0)
  /// The oldest version whose databases this one upgrades.
  public static let oldestUpgradable = ProgramVersion(major: 0, minor: 2, patch: 0)

  private let major: Int
  private let minor: Int
  private let patch: Int

  private init(major: Int, minor: Int, patch: Int) {
    (self.major, self.minor, self.patch) = (major, minor, patch)
  }

  /// Parses three numbers separated by periods; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { part in
      part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
    }
    guard parts.count == 3, let major = parts[0], let minor = parts[1], let patch = parts[2] else {
      return nil
    }
    self.init(major: major, minor: minor, patch: patch)
  }

  public static func < (a: ProgramVersion, b: ProgramVersion) -> Bool {
    (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
  }
}

extension ProgramVersion: CustomStringConvertible {
  public var description: String { "\(major).\(minor).\(patch)" }
}

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
  /// What the migrations drop.
  public let dropped: [DroppedSetting]
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
    let (tables, file, dropped) = try await database.read { connection in
      (
        try sizes(connection), try fileSize(connection),
        try DroppedSetting.all(droppedBy: pending.map(\.name), connection)
      )
    }
    let steps = pending.map { migration in
      let touched = self.tables(in: migration.text).filter { tables[$0] != nil }
      return Step(
        name: migration.name, tables: touched.sorted(),
        bytes: touched.reduce(0) { $0 + (tables[$1] ?? 0) })
    }
    return MigrationPlan(steps: steps, dropped: dropped, databaseBytes: file)
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
