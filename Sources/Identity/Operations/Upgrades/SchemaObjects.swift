public import Database
import Text

/// The definitions of everything in a schema: what could hide data or change it on its own, and what
/// keeps data apart.
struct SchemaObjects {
  private struct Object: Hashable {
    let kind: UntrustedText
    let name: UntrustedText
    /// The table of a part, a trigger, or a rule; otherwise the same as the name.
    let table: UntrustedText

    init(_ object: StoredObject) {
      kind = UntrustedText(object.kind)
      name = UntrustedText(object.name)
      table = UntrustedText(object.table)
    }

    init(table: UntrustedText) {
      (kind, name, self.table) = (UntrustedText("table"), table, table)
    }

    /// The object in words, such as `trigger a on b`.
    var description: String {
      name == table ? "\(kind.text) \(name.text)" : "\(kind.text) \(name.text) on \(table.text)"
    }
  }

  /// The number of objects that are named in an error.
  private static let most = 5
  /// The index of searches, which a server without the extension can't have.
  private static let optional = UntrustedText("account_text_by_part")
  /// What a database of the previous release has as well, with other columns.
  private static let released = ["table", "view", "trigger", "rule", "function"]

  /// Checks that a database has what its migrations create, defined alike, and nothing else.
  ///
  /// Triggers of a restored file would run in each write from then on, and without a unique index a
  /// code would be accepted twice. Of a database of the previous release, names are compared, since
  /// its definitions are only known once it's migrated.
  ///
  /// - Throws: `MigrationError.foreign`, `DatabaseError`.
  static func check(_ database: any Database) async throws {
    let migrations = Identity.migrations(for: database.dialect)
    let pending = try await SchemaCompatibility.pending(database)
    guard pending.first != migrations.baseline else { return }
    guard database.dialect.sharesDatabase else {
      return try await database.read { try check($0, migrations, pending) }
    }
    try await database.write { connection in
      // Another server that migrates changes what is read here, and leaves less to migrate.
      try connection.waitForOtherMigrations()
      let applied = try connection.all(
        "SELECT name FROM schema_migration ORDER BY name"
      ) { try $0.next() as String }
      try check(connection, migrations, pending.filter { !applied.contains($0.name) })
    }
  }

  /// Checks the schema that a migration of a database of the previous release leaves.
  ///
  /// - Throws: `MigrationError.foreign`, `DatabaseError`.
  static func check(after migration: Migration, _ connection: borrowing Connection) throws {
    let migrations = Identity.migrations(for: connection.dialect)
    guard migration == migrations.upgrade else { return }
    try check(connection, migrations, migrations.later)
  }

  private static func check(
    _ connection: borrowing Connection, _ migrations: Migrations, _ pending: [Migration]
  ) throws {
    let isReleased = pending.contains(migrations.upgrade)
    let applied =
      [migrations.baseline] + migrations.later.filter { isReleased || !pending.contains($0) }
    let catalog = connection.catalog
    let expected = try definitions(
      catalog.objects(createdBy: [Migrations.table] + applied.map(\.text), connection),
      isReleased: isReleased)
    let stored = try definitions(catalog.objects(connection), isReleased: isReleased)
    let dropped = isReleased ? tables(droppedBy: migrations.upgrade) : []
    let foreign = stored.filter { object, definition in
      guard let known = expected[object] else { return !dropped.contains(object.table) }
      return known != definition && !(isReleased && object.kind == UntrustedText("table"))
    }
    let missing = isReleased ? [] : Set(expected.keys).subtracting(stored.keys)
    /// Parts of a table that is a fault itself say nothing more.
    func isPart(_ object: Object, of faults: some Collection<Object>) -> Bool {
      let table = Object(table: object.table)
      return object != table && object.kind != UntrustedText("trigger") && faults.contains(table)
    }
    let faults =
      foreign.keys.filter { !isPart($0, of: foreign.keys) }.map(\.description).sorted()
      + missing.filter { !isPart($0, of: missing) }.map { "no \($0.description)" }.sorted()
    guard faults.isEmpty else { throw MigrationError.foreign(Array(faults.prefix(most))) }
  }

  private static func definitions(
    _ objects: [StoredObject], isReleased: Bool
  ) -> [Object: [UInt8]] {
    var found: [Object: [UInt8]] = [:]
    for object in objects where !isReleased || released.contains(object.kind) {
      found[Object(object)] = Array(spaced(object.definition).utf8)
    }
    return found.filter { $0.key.name != optional }
  }

  /// Returns text with one space for all white space between two words.
  private static func spaced(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private static func tables(droppedBy migration: Migration) -> Set<UntrustedText> {
    let start = "DROP TABLE "
    return Set(
      migration.text.split(separator: "\n").filter { $0.hasPrefix(start) }.map { line in
        UntrustedText(String(line.dropFirst(start.count).prefix { $0 != ";" }))
      })
  }
}

extension Identity {
  public static func checkSchema(of database: any Database) async throws {
    try await SchemaObjects.check(database)
  }
}
