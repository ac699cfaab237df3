/// A migration of the database schema.
public struct Migration: Sendable, Equatable {
  /// The name, such as `m0001_foundation`; names are unique, and sort in the order of migration.
  public let name: String

  /// The SQL statements.
  public let text: String

  /// A digest of the SQL, which detects that an applied migration was edited.
  public let digest: String

  /// Creates a migration.
  public init(name: String, text: String, digest: String) {
    self.name = name
    self.text = text
    self.digest = digest
  }
}

/// All migrations of a schema.
public struct Migrations: Sendable, Equatable {
  /// Creates the schema in an empty database.
  public let baseline: Migration
  /// Leaves the schema of the baseline in a database whose last migration is ``upgradable``.
  public let upgrade: Migration
  /// The name of the last migration before the baseline; the rows of earlier ones stay recorded.
  public let upgradable: String
  /// The migrations after the baseline, in order.
  public let later: [Migration]

  /// Creates the table of the applied migrations, unless it's there.
  public static let table = """
    CREATE TABLE IF NOT EXISTS schema_migration (
      name TEXT NOT NULL PRIMARY KEY, digest TEXT NOT NULL, applied_at BIGINT NOT NULL)
    """

  /// Creates a list of migrations.
  public init(
    baseline: Migration, upgrade: Migration, from upgradable: String, later: [Migration] = []
  ) {
    self.baseline = baseline
    self.upgrade = upgrade
    self.upgradable = upgradable
    self.later = later
  }
}

/// The reason a database schema doesn't match the program.
public enum MigrationError: Error, Sendable, Equatable {
  /// The migration was edited after this database applied it.
  case changed(String)
  /// The database applied a migration that the program doesn't know, from a newer version.
  case unknown(String)
  /// The last migration of the database, which is older than those that can be upgraded.
  case tooOld(String)
  /// The migration comes before one that was already applied.
  case late(String)
  /// The database has objects that no migration created, or that are defined otherwise, or lacks some.
  case foreign([String])
  /// The migration failed and was undone.
  case failed(String, DatabaseError)
}

extension MigrationError: CustomStringConvertible {
  /// A description for operators.
  public var description: String {
    switch self {
    case .changed(let name):
      "Migration \(name) differs from the one applied to this database: it was edited since."
    case .unknown(let name):
      "This database has applied migration \(name), which this version doesn't know: "
        + "it was used by a newer version."
    case .tooOld(let name):
      "The last migration of this database, \(name), is too old for this version to continue."
    case .late(let name):
      "Migration \(name) is new, but comes before one that this database has applied."
    case .foreign(let objects):
      "The schema of this database differs from that of Countersign: "
        + objects.joined(separator: ", ") + "."
    case .failed(let name, let error):
      "Migration \(name) failed and had no effect: \(error)"
    }
  }
}

extension Database {
  /// Applies pending migrations, each in its own transaction.
  ///
  /// Applied migrations are recorded in the table `schema_migration`. Nothing is applied when the
  /// recorded migrations don't match the list.
  ///
  /// - Parameters:
  ///   - migrations: All migrations.
  ///   - time: The current time to record, in milliseconds since 1970.
  ///   - toleratesNewer: Whether applied migrations that aren't in the list are accepted, if no
  ///     migration is pending.
  ///   - progress: Called before each migration, with its name, its number from 1, and how many
  ///     there are.
  ///   - check: Called after each migration in its transaction, which an error undoes.
  /// - Returns: The names of the migrations that were applied.
  /// - Throws: ``MigrationError``; ``DatabaseError`` when the table can't be read or created.
  @discardableResult
  public func migrate(
    _ migrations: Migrations, at time: Int64, toleratesNewer: Bool = false,
    progress: (_ name: String, _ number: Int, _ count: Int) -> Void = { _, _, _ in },
    check: @escaping @Sendable (Migration, borrowing Connection) throws -> Void = { _, _ in }
  ) async throws -> [String] {
    let missing = try await write { connection in
      try connection.waitForOtherServers()
      try connection.createMigrationTable()
      return try Self.missing(of: migrations, in: connection, toleratesNewer: toleratesNewer)
    }
    for (index, migration) in missing.enumerated() {
      progress(migration.name, index + 1, missing.count)
      try await write { connection in
        try connection.waitForOtherMigrations()
        let stillMissing = try Self.missing(
          of: migrations, in: connection, toleratesNewer: toleratesNewer)
        guard stillMissing.contains(migration) else { return }
        try connection.apply(migration, at: time)
        try check(migration, connection)
      }
    }
    return missing.map(\.name)
  }

  /// Returns the pending migrations, without changing anything.
  ///
  /// - Parameters:
  ///   - migrations: All migrations.
  ///   - toleratesNewer: Whether applied migrations that aren't in the list are accepted, if no
  ///     migration is pending.
  /// - Returns: The migrations in order, which begin with the baseline for an empty database.
  /// - Throws: ``MigrationError``; ``DatabaseError`` when the table can't be read.
  public func pending(
    _ migrations: Migrations, toleratesNewer: Bool = false
  ) async throws -> [Migration] {
    try await read { connection in
      let isThere = try connection.first(
        "SELECT 1 FROM \(SQL.tables) WHERE name = 'schema_migration'"
      ) { _ in true }
      guard isThere != nil else { return [migrations.baseline] + migrations.later }
      return try Self.missing(of: migrations, in: connection, toleratesNewer: toleratesNewer)
    }
  }

  private static func missing(
    of migrations: Migrations, in connection: borrowing Connection, toleratesNewer: Bool
  ) throws -> [Migration] {
    let applied = try connection.all(
      "SELECT name, digest FROM schema_migration ORDER BY name"
    ) { row in (name: try row.next() as String, digest: try row.next() as String) }
    let digests = Dictionary(uniqueKeysWithValues: applied.map { ($0.name, $0.digest) })
    let isNew = applied.isEmpty || digests[migrations.baseline.name] != nil
    let ordered = [isNew ? migrations.baseline : migrations.upgrade] + migrations.later
    let known = Set(ordered.map(\.name))
    let newer = applied.filter { $0.name > migrations.upgradable }
    let unknown = newer.first { !known.contains($0.name) }
    if let unknown, !toleratesNewer { throw MigrationError.unknown(unknown.name) }
    if newer.isEmpty, let last = applied.last, last.name != migrations.upgradable {
      throw MigrationError.tooOld(last.name)
    }
    var missing: [Migration] = []
    for migration in ordered {
      guard let digest = digests[migration.name] else {
        missing.append(migration)
        continue
      }
      guard digest == migration.digest else { throw MigrationError.changed(migration.name) }
      if let late = missing.first { throw MigrationError.late(late.name) }
    }
    // A newer version applied all earlier migrations first.
    if let unknown, !missing.isEmpty { throw MigrationError.unknown(unknown.name) }
    return missing
  }
}

extension Connection {
  /// Applies the baseline and the later migrations to an empty database in this transaction.
  ///
  /// - Parameters:
  ///   - migrations: All migrations.
  ///   - time: The current time to record, in milliseconds since 1970.
  /// - Throws: ``MigrationError``; ``DatabaseError`` when the table of migrations exists.
  public func createSchema(_ migrations: Migrations, at time: Int64) throws {
    try waitForOtherServers()
    try createMigrationTable()
    for migration in [migrations.baseline] + migrations.later { try apply(migration, at: time) }
  }

  fileprivate func createMigrationTable() throws { try runScript(Migrations.table) }

  fileprivate func apply(_ migration: Migration, at time: Int64) throws {
    do throws(DatabaseError) {
      try runScript(migration.text)
    } catch {
      throw MigrationError.failed(migration.name, error)
    }
    try run(
      """
      INSERT INTO schema_migration (name, digest, applied_at)
      VALUES (\(migration.name), \(migration.digest), \(time))
      """)
  }
}
