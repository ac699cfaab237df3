public import Database
import Text

/// The tables, views, and code of a schema: what could hide data or change it on its own.
struct SchemaObjects {
  struct Object: Hashable {
    /// `table`, `view`, `trigger`, `rule`, or `function`.
    let kind: UntrustedText
    let name: UntrustedText
    /// The table of a trigger or rule; otherwise the same as the name.
    let table: UntrustedText

    init(_ kind: String, _ name: String, table: String) {
      self.kind = UntrustedText(kind)
      self.name = UntrustedText(name)
      self.table = UntrustedText(table)
    }

    /// The object in words, such as `trigger a on b`.
    var description: String {
      kind == "trigger" || kind == "rule"
        ? "\(kind.text) \(name.text) on \(table.text)" : "\(kind.text) \(name.text)"
    }
  }

  /// The number of objects that are named in an error.
  private static let most = 5

  /// The code of triggers and functions, without differences of white space; empty for a table.
  private var code: [Object: [UInt8]] = [:]
  /// The tables that pending migrations drop, with their triggers.
  private var dropped: Set<UntrustedText> = []

  /// Checks that a database has no tables, views, or code but those of its migrations.
  ///
  /// Triggers of a restored file would run in each write from then on.
  ///
  /// - Throws: `MigrationError.foreign`, `DatabaseError`.
  static func check(_ database: any Database) async throws {
    let migrations = Identity.migrations(for: database.dialect)
    let pending = try await SchemaCompatibility.pending(database)
    guard pending.first != migrations.baseline else { return }
    let expected = SchemaObjects(migrations, pending: pending)
    let faults = try await database.read { try expected.faults($0, isCurrent: pending.isEmpty) }
    guard faults.isEmpty else { throw MigrationError.foreign(Array(faults.prefix(most))) }
  }

  /// Creates the objects that migrations create, in the form in which the files are written: a
  /// statement begins a line, and its end ends one.
  init(_ migrations: Migrations, pending: [Migration]) {
    addTable("schema_migration")
    for migration in [migrations.baseline] + migrations.later {
      read(migration.text)
    }
    for migration in pending where migration != migrations.baseline {
      for line in migration.text.split(separator: "\n") where line.hasPrefix("DROP TABLE ") {
        dropped.insert(
          UntrustedText(String(line.dropFirst("DROP TABLE ".count).prefix { $0 != ";" })))
      }
    }
  }

  private mutating func read(_ text: String) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    var bodies: [Substring: [UInt8]] = [:]
    while let line = lines.popFirst() {
      let words = line.split(whereSeparator: { " (".contains($0) })
      switch words.first {
      case "CREATE":
        switch words.dropFirst().first {
        case "TABLE": addTable(words[2])
        case "VIRTUAL":
          addTable(words[3])
          for part in ["config", "data", "docsize", "idx"] { addTable("\(words[3])_\(part)") }
        case "TRIGGER":
          let statement = Self.statement(line, &lines, end: ";")
          let words = Self.words(statement)
          guard let on = words.firstIndex(of: "ON"), words.indices.contains(on + 1) else {
            continue
          }
          let called = words.firstIndex(of: "FUNCTION").map { words[$0 + 1].prefix { $0 != "(" } }
          let object = Object("trigger", String(words[2]), table: String(words[on + 1]))
          code[object] = called.map { bodies[$0] ?? [] } ?? Self.spaced(statement)
        case "FUNCTION":
          let statement = Self.statement(line, &lines, end: "$$;")
          let body = Self.spaced(statement.split(separator: "$$").dropFirst().first ?? "")
          bodies[words[2]] = body
          code[Object("function", String(words[2]), table: String(words[2]))] = body
        default: break
        }
      case "DROP" where words.count > 2 && words[1] == "TABLE":
        let table = words[2].prefix { $0 != ";" }
        code = code.filter { $0.key.table != UntrustedText(String(table)) }
      case "DROP" where words.count > 2 && words[1] == "TRIGGER":
        let name = words[2].prefix { $0 != ";" }
        code = code.filter {
          $0.key.kind != "trigger" || $0.key.name != UntrustedText(String(name))
        }
      default: break
      }
    }
  }

  private mutating func addTable(_ name: some StringProtocol) {
    code[Object("table", String(name), table: String(name))] = []
  }

  /// Returns the lines until one that ends with `end`, or that ends a block, without the semicolon.
  private static func statement(
    _ first: Substring, _ lines: inout ArraySlice<Substring>, end: String
  ) -> String {
    var (statement, isBlock) = (String(first), false)
    while !statement.hasSuffix(isBlock ? "END;" : end), let line = lines.popFirst() {
      if line == "BEGIN", end == ";" { isBlock = true }
      statement += "\n\(line)"
    }
    return String(statement.dropLast())
  }

  /// Returns text with one space for all white space between two words.
  private static func spaced(_ text: some StringProtocol) -> [UInt8] {
    Array(words(text).joined(separator: " ").utf8)
  }

  private static func words(_ text: some StringProtocol) -> [Substring] {
    Substring(text).split(whereSeparator: \.isWhitespace)
  }

  /// Returns the objects that aren't expected, or have other code, and those that are missing.
  private func faults(
    _ connection: borrowing Connection, isCurrent: Bool
  ) throws -> [String] {
    let stored = try connection.catalog.objects(connection).map { object in
      (object: Object(object.kind, object.name, table: object.table), code: object.code)
    }
    let foreign = stored.filter { object, text in
      guard !dropped.contains(object.table) else { return false }
      guard let code = code[object] else { return true }
      return object.kind != "table" && code != Self.spaced(text)
    }
    let names = foreign.map(\.object.description).sorted()
    guard isCurrent else { return names }
    let missing = Set(code.keys).subtracting(stored.map(\.object)).map { "no \($0.description)" }
    return names + missing.sorted()
  }
}

extension Identity {
  public static func checkSchema(of database: any Database) async throws {
    try await SchemaObjects.check(database)
  }
}
