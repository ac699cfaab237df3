public import Database

extension SQLiteDatabase: DatabaseWriter {}

struct SQLiteCatalog: DatabaseCatalog {
  func tables(_ connection: borrowing Connection) throws -> [StoredTable] {
    let names = try connection.all(
      """
      SELECT name FROM pragma_table_list
      WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND name <> 'key_sequence'
      """
    ) { try $0.next() as String }
    var tables: [StoredTable] = []
    for name in names {
      let columns = try connection.all(
        "SELECT name, hidden > 1, pk FROM pragma_table_xinfo(\(name))"
      ) { row in
        (
          name: try SQLName.named(row.next()), isGenerated: try row.next() as Bool,
          key: try row.next() as Int
        )
      }
      let references = try connection.all(
        "SELECT \"table\" FROM pragma_foreign_key_list(\(name))"
      ) { try SQLName.named($0.next()) }
      tables.append(
        StoredTable(try .named(name), columns: columns, references: Set(references)))
    }
    return tables
  }

  func objects(_ connection: borrowing Connection) throws -> [StoredObject] {
    try connection.all(
      """
      SELECT type, name, tbl_name, sql FROM sqlite_schema
      WHERE sql IS NOT NULL AND NOT (type = 'table' AND name LIKE 'sqlite\\_%' ESCAPE '\\')
      """
    ) { try StoredObject(&$0) }
    .flatMap(SQLiteDefinition.objects)
  }

  func objects(
    createdBy scripts: [String], _ connection: borrowing Connection
  ) throws -> [StoredObject] {
    let session = try SQLiteSession.inMemory()
    try session.perform(.begin)
    let empty = Connection(session)
    for script in scripts { try empty.runScript(script) }
    return try objects(empty)
  }

  func suspendTriggers(_ connection: borrowing Connection) throws -> [String] {
    let triggers = try connection.all(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"
    ) { row in (name: try SQLName.named(row.next()), text: try row.next() as String) }
    for trigger in triggers { try connection.run("DROP TRIGGER \(trigger.name)") }
    return triggers.map(\.text)
  }

  func lastKey(of table: SQLName, _ connection: borrowing Connection) throws -> Int64? {
    if try choosesKeys(table, connection) {
      return try connection.first(
        "SELECT seq FROM sqlite_sequence WHERE name = \(table.text)"
      ) { try $0.next() }
    }
    guard try hasNumbers(table, connection) else { return nil }
    return try connection.first(
      "SELECT last FROM key_sequence WHERE name = \(table.text)"
    ) { try $0.next() }
  }

  func setLastKey(
    of table: SQLName, to key: Int64?, _ connection: borrowing Connection
  ) throws {
    if try hasNumbers(table, connection) {
      // The triggers that advance it may have been suspended.
      guard let column = try number(of: table, connection) else { return }
      try connection.run(
        """
        UPDATE key_sequence SET last = max(last, \(key ?? 0),
          (SELECT coalesce(max(\(column)), 0) FROM \(table)))
        WHERE name = \(table.text)
        """)
      return
    }
    // The rows that were inserted have set it already.
    guard let key, try choosesKeys(table, connection) else { return }
    guard try lastKey(of: table, connection).map({ $0 < key }) ?? true else { return }
    try connection.run("DELETE FROM sqlite_sequence WHERE name = \(table.text)")
    try connection.run("INSERT INTO sqlite_sequence (name, seq) VALUES (\(table.text), \(key))")
  }

  /// Whether a table stores the last key, so that none is used again.
  private func choosesKeys(_ table: SQLName, _ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM sqlite_schema
      WHERE type = 'table' AND name = \(table.text) AND sql LIKE '%AUTOINCREMENT%'
      """
    ) { _ in true } ?? false
  }

  /// Whether the numbers of a table, the last part of its key, come from `key_sequence`; see
  /// ``SQL/nextNumber(_:of:)``.
  private func hasNumbers(_ table: SQLName, _ connection: borrowing Connection) throws -> Bool {
    let isThere = try connection.first(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'key_sequence'"
    ) { _ in true }
    guard isThere != nil else { return false }
    return try connection.first(
      "SELECT 1 FROM key_sequence WHERE name = \(table.text)"
    ) { _ in true } ?? false
  }

  /// Returns the column of the numbers, the last part of the key.
  private func number(
    of table: SQLName, _ connection: borrowing Connection
  ) throws -> SQLName? {
    try connection.first(
      "SELECT name FROM pragma_table_info(\(table.text)) WHERE pk > 0 ORDER BY pk DESC LIMIT 1"
    ) { try SQLName.named($0.next()) }
  }

  func acquire(_ connection: borrowing Connection) throws -> Bool { true }
}

/// The text with which SQLite stores an object, as its parts in any order: an upgrade adds columns at the
/// end of a table that a new database has elsewhere.
enum SQLiteDefinition {
  /// Returns an object, and the columns and constraints of a table.
  static func objects(_ object: StoredObject) -> [StoredObject] {
    let text = normalized(object.definition)
    guard object.kind == "table", text.hasPrefix("CREATE TABLE "),
      let first = text.firstIndex(of: "("), let last = text.lastIndex(of: ")")
    else { return [object.defined(as: text)] }
    let members = parts(of: text[text.index(after: first)..<last]).map { part in
      let word = part.prefix { $0 != " " && $0 != "(" }
      let isConstraint = constraints.contains(word.uppercased())
      return StoredObject(
        kind: isConstraint ? "constraint" : "column",
        name: String(isConstraint ? part : word), table: object.name, definition: String(part))
    }
    return [object.defined(as: String(text[text.index(after: last)...]))] + members
  }

  private static let constraints: Set = ["CHECK", "CONSTRAINT", "FOREIGN", "PRIMARY", "UNIQUE"]

  /// Returns text outside literals without comments, quotes of names, and white space that means
  /// nothing.
  private static func normalized(_ text: String) -> String {
    var (found, rest) = ([UInt8](), Array(text.utf8)[...])
    var isSpaced = false
    while let byte = rest.first {
      let next = rest.dropFirst().first
      if byte == UInt8(ascii: "-"), next == byte {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
        continue
      }
      let mark = UInt8(ascii: "'")
      let end = byte == mark ? rest.dropFirst().firstIndex(of: mark) ?? rest.endIndex - 1 : nil
      let token = end.map { rest[rest.startIndex...$0] } ?? rest.prefix(1)
      rest = rest.dropFirst(token.count)
      guard byte > 0x20, byte != UInt8(ascii: "\"") else {
        isSpaced = isSpaced || byte <= 0x20
        continue
      }
      if isSpaced, !"(),".utf8.contains(byte), let last = found.last, !"(),".utf8.contains(last) {
        found.append(UInt8(ascii: " "))
      }
      isSpaced = false
      found += token
    }
    return String(decoding: found, as: UTF8.self)
  }

  /// Returns what commas separate outside parentheses and literals.
  private static func parts(of text: Substring) -> [Substring] {
    var (depth, isLiteral) = (0, false)
    return text.split { character in
      if character == "\'" { isLiteral.toggle() }
      guard !isLiteral else { return false }
      depth += character == "(" ? 1 : character == ")" ? -1 : 0
      return depth == 0 && character == ","
    }
  }
}

extension StoredObject {
  fileprivate func defined(as text: String) -> StoredObject {
    StoredObject(kind: kind, name: name, table: table, definition: text)
  }
}
