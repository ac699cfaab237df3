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

/// The number of rows of a table, and a digest of all of them in the order of the key.
///
/// It doesn't depend on the database: values are encoded with their type, and columns are in the
/// order of their names.
public struct TableDigest: Sendable, Equatable {
  public private(set) var rows = 0

  /// SHA-256 of the value before a row followed by that row.
  public private(set) var value = [UInt8](repeating: 0, count: HashFunction.sha256.digestLength)

  public init() {}

  public mutating func add(_ row: some Sequence<SQLValue>) {
    var bytes = value
    for value in row { Self.append(value, to: &bytes) }
    value = HashFunction.sha256.digest(bytes)
    rows += 1
  }

  private static func append(_ value: SQLValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(0)
    case .integer(let number):
      bytes.append(1)
      append(UInt64(bitPattern: number), to: &bytes)
    case .real(let number):
      bytes.append(2)
      append(number.bitPattern, to: &bytes)
    case .text(let text):
      bytes.append(3)
      append(UInt64(text.utf8.count), to: &bytes)
      bytes += text.utf8
    case .blob(let blob):
      bytes.append(4)
      append(UInt64(blob.count), to: &bytes)
      bytes += blob
    }
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}

/// Reads a table in the order of its key, a batch at a time, so that any number of rows needs
/// little memory.
struct TableReader: Sendable {
  private static let batch = 256

  private let table: StoredTable
  private let columns: [SQLName]
  private var last: [SQLValue]?

  init(_ table: StoredTable, _ columns: [SQLName]) {
    self.table = table
    self.columns = columns
  }

  func rows(_ connection: borrowing Connection) throws -> [[SQLValue]] {
    guard !table.key.isEmpty else {
      throw MoveError.differentSchema([table.name.text])
    }
    return try connection.all(table.rows(columns, after: last, limit: Self.batch)) { row in
      var values: [SQLValue] = []
      var fault: DatabaseError?
      values.reserveCapacity(columns.count)
      for _ in columns {
        do throws(DatabaseError) {
          values.append(try row.next())
        } catch {
          fault = fault ?? error
          values.append(.text("?"))
        }
      }
      if let fault {
        throw MoveError.unreadableValue(
          table: table.name.text, key: key(of: values), reason: fault.message)
      }
      return values
    }
  }

  /// Continues after rows that were read; returns false if there were none.
  mutating func advance(past rows: [[SQLValue]]) -> Bool {
    guard let row = rows.last else { return false }
    last = table.key.map { name in
      columns.firstIndex(of: name).map { row[$0] } ?? .null
    }
    return true
  }

  private func key(of row: [SQLValue]) -> String {
    zip(columns, row).filter { table.key.contains($0.0) }
      .map { name, value in "\(name)=\(Self.shown(value))" }.joined(separator: ", ")
  }

  /// Returns a value of a key, for operators.
  static func shown(_ value: SQLValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text.replacing("\0", with: "\\0")
    case .blob(let bytes): Hex.encode(bytes)
    }
  }
}
