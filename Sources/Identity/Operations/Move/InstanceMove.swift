public import Database

/// Copies an instance from its file to an empty database on a PostgreSQL server, and compares the
/// copy.
public enum InstanceMove {
  public typealias Progress = @Sendable (_ table: String, _ rows: Int) -> Void

  /// Creates the schema in an empty database, copies all rows, compares them with the source, and
  /// records the move in the audit log of the copy.
  ///
  /// The destination's transaction has to be rolled back if this throws.
  ///
  /// `source` is the database that was inspected, in the same snapshot, and `inventory` what
  /// ``inspect(_:keys:progress:)`` returned.
  public static func fill(
    _ destination: any DatabaseWriter, from source: any Database, _ inventory: MoveInventory,
    at now: Instant, progress: Progress
  ) async throws {
    do {
      let order = try await prepare(destination, for: inventory, at: now)
      let scripts = try await destination.write { connection in try dropParts(connection) }
      for table in order.reversed() {
        try await destination.write { try $0.run("DELETE FROM \(table.name)") }
      }
      for table in order {
        try await copy(table, from: source, to: destination, progress)
      }
      for script in scripts { try await destination.write { try $0.runScript(script) } }
      try await destination.write { connection in
        for table in inventory.tables {
          try connection.catalog.setLastKey(of: table.stored.name, to: table.lastKey, connection)
        }
      }
      try await compare(destination, with: inventory)
      try await destination.write { try record(at: now, $0) }
    } catch {
      throw MoveError.translated(error)
    }
  }

  /// Checks that a database has no tables.
  ///
  /// `isAlone` says whether the transaction acquires the database, so that nothing else can use it.
  ///
  /// - Throws: ``MoveError``: `.notEmpty`, `.inUse`.
  public static func checkEmpty(
    _ connection: borrowing Connection, isAlone: Bool = true
  ) throws {
    if isAlone, try !connection.catalog.acquire(connection) {
      throw MoveError.inUse
    }
    let tables = try connection.all(
      "SELECT name FROM \(SQL.tables) ORDER BY name LIMIT 5"
    ) { try $0.next() as String }
    guard tables.isEmpty else { throw MoveError.notEmpty(tables) }
  }

  /// Creates the schema, and returns the tables with those that others refer to first.
  private static func prepare(
    _ destination: any DatabaseWriter, for inventory: MoveInventory, at now: Instant
  ) async throws -> [StoredTable] {
    let tables = try await destination.write { connection in
      try checkEmpty(connection)
      try connection.createSchema(
        Identity.migrations(for: connection.dialect), at: now.milliseconds)
      return try self.tables(connection)
    }
    let differences = differences(inventory.tables.map(\.stored), tables)
    guard differences.isEmpty else { throw MoveError.differentSchema(differences) }
    return try ordered(tables)
  }

  private static func differences(_ some: [StoredTable], _ others: [StoredTable]) -> [String] {
    func columns(_ tables: [StoredTable]) -> Set<[SQLName]> {
      Set(tables.flatMap { table in table.columns.map { [table.name, $0] } + [[table.name]] })
    }
    return columns(some).symmetricDifference(columns(others))
      .map { $0.map(\.text).joined(separator: ".") }.sorted()
  }

  /// Returns the tables with those that others refer to first.
  static func ordered(_ tables: [StoredTable]) throws -> [StoredTable] {
    var (ordered, names, rest) = ([StoredTable](), Set<SQLName>(), tables)
    while !rest.isEmpty {
      let ready = rest.filter { $0.references.subtracting(names).isSubset(of: [$0.name]) }
      guard !ready.isEmpty else {
        throw MoveError.differentSchema(rest.map(\.name.text))
      }
      ordered += ready
      names.formUnion(ready.map(\.name))
      rest.removeAll { names.contains($0.name) }
    }
    return ordered
  }

  /// Turns off triggers, whose effects are copied, and drops indexes, which are faster to create
  /// when the rows are there; returns the scripts that bring them back.
  private static func dropParts(_ connection: borrowing Connection) throws -> [String] {
    let indexes = try connection.all(
      "SELECT name, text FROM \(SQL.indexes) ORDER BY name"
    ) { row in (name: try SQLName.named(row.next()), text: try row.next() as String) }
    for index in indexes { try connection.run("DROP INDEX \(index.name)") }
    return indexes.map(\.text) + (try connection.catalog.suspendTriggers(connection))
  }

  private static func copy(
    _ table: StoredTable, from source: any Database, to destination: any DatabaseWriter,
    _ progress: Progress
  ) async throws {
    var reader = TableReader(table, table.stored)
    var count = 0
    while true {
      let next = reader
      let rows = try await source.read { try next.rows($0) }
      guard reader.advance(past: rows) else { return }
      try await destination.write { connection in
        for row in rows { try connection.runLater(table.insertion(of: row)) }
      }
      count += rows.count
      progress(table.name.text, count)
    }
  }

  private static func compare(
    _ destination: any DatabaseWriter, with inventory: MoveInventory
  ) async throws {
    var differing: [String] = []
    for table in inventory.tables {
      var digest = TableDigest()
      var reader = TableReader(table.stored, table.stored.columns)
      while true {
        let next = reader
        let rows = try await destination.write { try next.rows($0) }
        guard reader.advance(past: rows) else { break }
        for row in rows { digest.add(row) }
      }
      if digest != table.digest { differing.append(table.name) }
    }
    guard differing.isEmpty else { throw MoveError.differentRows(differing) }
  }

  /// Records a move in the audit log of the copy.
  static func record(at now: Instant, _ connection: borrowing Connection) throws {
    var entry = AuditEntry(.instanceMove, .instance, "", name: "")
    entry.add(.database, from: .text("SQLite"), to: .text("PostgreSQL"))
    try entry.record(by: Author(actor: .commandLine), at: now, connection)
    // The file may still be used.
    try Connections.pauseAll(because: .moved, at: now, connection)
  }
}

public enum MoveError: Error, Sendable {
  /// The source can't be used: it isn't an instance, it's damaged, or another key sealed it.
  case source(BackupFault)
  case notMigrated([String])
  /// A server or a command uses the destination.
  case inUse
  case notEmpty([String])
  /// A text has a character that PostgreSQL can't store.
  case unstorableText(table: String, column: String, key: String)
  case unreadableValue(table: String, key: String, reason: String)
  case differentSchema([String])
  case differentRows([String])
  /// The schema can't be created in the destination.
  case schema(MigrationError)
  case failed(DatabaseError)
  /// Everything was copied, but the destination may have none of it: its last step wasn't confirmed.
  case unconfirmed(DatabaseError)

  public static func translated(_ error: any Error) -> any Error {
    switch error {
    case let error as BackupFault: MoveError.source(error)
    case let error as MigrationError: MoveError.schema(error)
    case let error as DatabaseError where error.code == .outcomeUnknown:
      MoveError.unconfirmed(error)
    case let error as DatabaseError: MoveError.failed(error)
    default: error
    }
  }

  /// Whether another attempt can succeed, although nobody changes the configuration.
  public var isTemporary: Bool {
    switch self {
    case .inUse: true
    case .failed(let error), .unconfirmed(let error), .schema(.failed(_, let error)):
      error.isTemporary
    case .source, .notMigrated, .notEmpty, .unstorableText, .unreadableValue, .differentSchema,
      .differentRows, .schema:
      false
    }
  }
}
