public import Crypto
public import Database

/// The tables that a move copies, with the digests of their rows.
public struct MoveInventory: Sendable {
  public struct Table: Sendable {
    let stored: StoredTable
    public let digest: TableDigest
    /// The last key that the source chose; nil if it doesn't store one.
    let lastKey: Int64?

    public var name: String { stored.name.text }
  }

  public let tables: [Table]
  public let bytes: Int

  public var rows: Int { tables.reduce(0) { $0 + $1.digest.rows } }

  /// Rows that a slow disk stores per second.
  private static let rate = 2_000

  /// The estimated time of the copy on a slow disk, in seconds.
  public var seconds: Int { rows / Self.rate + 1 }
}

extension InstanceMove {
  /// The table that describes the schema of each database, which isn't copied.
  static let migrationTable = "schema_migration"

  /// Reads the whole source, and checks that it can be moved.
  ///
  /// Call it in a snapshot of the source, together with ``fill(_:from:_:progress:)``.
  ///
  /// `keys` are the master keys that have to have sealed it.
  public static func inspect(
    _ source: any Database, keys: KeyRing, progress: Progress
  ) async throws -> MoveInventory {
    do {
      let stored = try await Identity.inspect(source, keys: keys)
      guard stored.pendingMigrations.isEmpty else {
        throw MoveError.notMigrated(stored.pendingMigrations)
      }
      // Here, unlike at a start, even a newer schema that this version could use.
      let migrations = Identity.migrations(for: source.dialect)
      do { _ = try await source.pending(migrations) } catch let error as MigrationError {
        throw BackupFault.migration(error)
      }
      var tables: [MoveInventory.Table] = []
      for table in try await source.read({ try self.tables($0) }) {
        let digest = try await read(table, of: source, progress)
        let last = try await source.read { try $0.catalog.lastKey(of: table.name, $0) }
        tables.append(MoveInventory.Table(stored: table, digest: digest, lastKey: last))
      }
      let bytes = try await source.read { connection in
        try connection.first("SELECT bytes FROM \(SQL.databaseSize)") { try $0.next() as Int }
      }
      return MoveInventory(tables: tables, bytes: bytes ?? 0)
    } catch {
      throw MoveError.translated(error)
    }
  }

  static func tables(_ connection: borrowing Connection) throws -> [StoredTable] {
    try connection.catalog.tables(connection).filter { $0.name.text != migrationTable }
      .sorted { $0.name < $1.name }
  }

  /// Reads a table, and checks that each text can be stored.
  private static func read(
    _ table: StoredTable, of source: any Database, _ progress: Progress
  ) async throws -> TableDigest {
    var digest = TableDigest()
    var reader = TableReader(table, table.columns)
    while true {
      let next = reader
      let rows = try await source.read { try next.rows($0) }
      guard reader.advance(past: rows) else { return digest }
      for row in rows {
        try checkStorable(row, of: table)
        digest.add(row)
      }
      progress(table.name.text, digest.rows)
    }
  }

  private static func checkStorable(_ row: [SQLValue], of table: StoredTable) throws {
    for (column, value) in zip(table.columns, row) {
      guard case .text(let text) = value, text.utf8.contains(0) else { continue }
      let key = zip(table.columns, row).filter { table.key.contains($0.0) }
      throw MoveError.unstorableText(
        table: table.name.text, column: column.text,
        key: key.map { "\($0.0)=\(TableReader.shown($0.1))" }.joined(separator: ", "))
    }
  }
}
