import Testing

/// A statement is one text for SQLite and PostgreSQL; what differs is in `Dialect.swift`.
struct DialectTests {
  @Test func `SQL outside of Dialect.swift is the same for every database`() throws {
    let files = try SourceTree.files(
      in: "Sources/Database", "Sources/Identity", "Sources/Demo", "Sources/countersign",
      "Tests/Bench", "Tests/LargeDemo")
    #expect(files.flatMap(breaches) == [])
  }

  @Test(arguments: [
    "SELECT 1 FROM outbox INDEXED BY outbox_due", "SELECT 1 FROM a CROSS JOIN b",
    "SELECT json_extract(members, '$.a') FROM scope", "SELECT key FROM texts WHERE texts MATCH $1",
    "SELECT rowid FROM a", "INSERT OR REPLACE INTO a (b) VALUES (1)", "REPLACE INTO a VALUES (1)",
    "UPDATE OR IGNORE a SET b = 1", "SELECT name FROM sqlite_schema", "SELECT max(a, b) FROM c",
    "SELECT min(c.a, \\(limit)) FROM c", "SELECT ifnull(a, 0) FROM b",
    "SELECT instr(a, 'b') FROM c",
    "SELECT iif(a, 1, 0) FROM b", "SELECT x'00'", "DELETE FROM a WHERE b IS \\(value)",
    "SELECT 1 FROM a WHERE b IN ()", "SELECT group_concat(a) FROM b",
    "SELECT a FROM b WHERE a GLOB 'c'",
    "SELECT last_insert_rowid()", "SELECT CAST(a AS BLOB) FROM b",
    "SELECT a FROM pragma_table_list",
    "SELECT a::text FROM b", "SELECT a FROM b WHERE a ILIKE 'c'", "SELECT pg_sleep(1)",
    "SELECT greatest(a, b) FROM c", "SELECT DISTINCT ON (a) b FROM c", "SELECT a FROM b FOR UPDATE",
  ])
  func `each difference is found`(_ statement: String) {
    let line = SourceFile(path: "A.swift", text: "let sql: SQL = \"\(statement)\"")
    let block = SourceFile(
      path: "A.swift", text: "run(\n  \"\"\"\n  \(statement)\n  \"\"\")")
    #expect(breaches(line).count == 1)
    #expect(breaches(block).count == 1)
  }

  @Test(arguments: [
    "let most = max(a, b)", "// CROSS JOIN", "let sql: SQL = \"SELECT \\(max(a, b)) FROM c\"",
    "let sql: SQL = \"SELECT max(a), min(b) FROM c WHERE d IS NULL AND e IS NOT NULL\"",
    "let sql: SQL = \"SELECT a FROM b \\(index: \"c\") WHERE d IS NOT DISTINCT FROM \\(e)\"",
  ])
  func `what both databases understand is no difference`(_ text: String) {
    #expect(breaches(SourceFile(path: "A.swift", text: text)) == [])
  }

  /// The files that choose a statement by the database, although both understand it, and why.
  private static let choices = [
    "Sources/Identity/Users/SignIn/Ticket.swift":
      "a lookup in PostgreSQL would conflict with all sign-ins that begin at the same time"
  ]

  @Test func `a statement isn't chosen by the database, except in the listed files`() throws {
    let files = try SourceTree.files(
      in: "Sources/Identity", "Sources/Demo", "Sources/countersign", "Tests/Bench",
      "Tests/LargeDemo")
    let choosing = files.filter { !choices($0).isEmpty }
    #expect(
      choosing.filter { Self.choices[$0.path] == nil }.flatMap(choices) == [])
    #expect(Set(Self.choices.keys).subtracting(choosing.map(\.path)) == [], "unused entries")
  }

  @Test(arguments: [
    "let a =\n  connection.dialect.sharesDatabase\n  ? \"\"\"\n  SELECT 1\n  \"\"\" : \"SELECT 2\"",
    "run(dialect == .sqlite ? \"SELECT 1\" : \"SELECT 2\")",
    "if connection.dialect.sharesDatabase {\n  run(\"SELECT 1\")\n}",
    "guard dialect == .sqlite else {\n  return try first(\"SELECT 1\")\n}",
    "switch connection.dialect {\ncase .sqlite: \"SELECT 1\"\ncase .postgreSQL: \"SELECT 2\"\n}",
  ])
  func `each choice is found`(_ text: String) {
    #expect(choices(SourceFile(path: "A.swift", text: "let a = 1\n\(text)")).count == 1)
  }

  @Test(arguments: [
    "let seconds = dialect.sharesDatabase ? 5 : 0\nrun(\"SELECT 1\")",
    "guard dialect.sharesDatabase else { return }\nrun(\"SELECT 1\")",
    "// if dialect.sharesDatabase {\nrun(\"SELECT 1\")",
    "if isNew { migrate(migrations(for: connection.dialect)) }\nrun(\"SELECT 1\")",
  ])
  func `other uses of the dialect are no choices`(_ text: String) {
    #expect(choices(SourceFile(path: "A.swift", text: text)) == [])
  }

  private func choices(_ file: SourceFile) -> [String] {
    guard file.text.contains("sharesDatabase") || file.text.contains("dialect") else { return [] }
    let text = file.lines.map { $0.drop { $0 == " " }.hasPrefix("//") ? "" : $0 }
      .joined(separator: "\n")
    let choice =
      #/
      (?: sharesDatabase | dialect\ [=!]=\ \.\w+ ) \s* \? \s* "
      | \b (?: if | guard | switch ) \s [^{}]* (?: sharesDatabase | dialect ) [^{}]* \{ [^}]* "
      /#
    return text.matches(of: choice).map { match in
      let line = text[..<match.range.lowerBound].count { $0 == "\n" }
      return file.breach(line, "a statement chosen by the database")
    }
  }

  /// What only one of the databases understands, in lowercase, with `?` for an interpolation.
  private static let differences = [
    #"\bindexed by\b"#, #"\bcross join\b"#, #"\bjson_\w+\("#, #"\bmatch \?"#, #"\bmatch \$"#,
    #"\browid\b"#, #"\b(insert|update) or \w"#, #"\breplace into\b"#, #"\bsqlite_\w"#,
    #"\bpragma_"#,
    #"\b(max|min)\((\?|[\w.]+), "#, #"\b(ifnull|instr|iif|group_concat|strftime|unixepoch)\("#,
    #"\b(last_insert_rowid|total_changes|changes|typeof|printf|hex|quote)\(\)?"#,
    #"\bx'[0-9a-f]*'"#,
    #"\bis (not )?\?"#, #"\bin \(\)"#, #"\bglob '"#, #"\bas blob\)"#, #"\bdbstat\b"#,
    #"\w::[a-z]"#, #"\bilike\b"#, #"\bpg_(?!dump|restore)\w+"#,
    #"\b(greatest|least|strpos|string_agg)\("#,
    #"\bdistinct on\b"#, #"\bfor update\b"#, #"\bcollate\b"#,
  ]

  private func breaches(_ file: SourceFile) -> [String] {
    guard file.path != "Sources/Database/Dialect.swift" else { return [] }
    let literals = Literals(file)
    guard literals.areWhole else { return ["\(file.path): a literal without an end"] }
    guard let pattern = try? Regex(Self.differences.joined(separator: "|")) else {
      return ["invalid pattern"]
    }
    return literals.lines.compactMap { line, text in
      guard
        text.contains(/\b(select|insert|update|delete|from|where|and|or|set|on|join|replace)\b/),
        let match = text.firstMatch(of: pattern)
      else { return nil }
      return file.breach(line, "SQL of one database only: \(text[match.range])")
    }
  }
}

/// The string literals of a file by line, in lowercase, with `?` for each interpolation.
private struct Literals {
  private enum Place { case code, line, block }

  private(set) var lines: [(line: Int, text: String)] = []
  /// Whether every literal ends.
  let areWhole: Bool

  init(_ file: SourceFile) {
    // A literal in an interpolation is on top of the literal with the interpolation.
    var places: [(place: Place, depth: Int)] = [(.code, 0)]
    for (number, line) in file.lines.enumerated() {
      var text = ""
      while places.last?.place == .line { places.removeLast() }
      var rest = Substring(line)
      while let first = rest.first {
        switch places[places.count - 1].place {
        case .code:
          if rest.hasPrefix("//") { rest = "" }
          if rest.hasPrefix("\"\"\"") {
            places.append((.block, 0))
            rest = rest.dropFirst(3)
            continue
          }
          if first == "\"" { places.append((.line, 0)) }
          if first == "(" { places[places.count - 1].depth += 1 }
          if first == ")" {
            places[places.count - 1].depth -= 1
            if places[places.count - 1].depth == 0, places.count > 1 { places.removeLast() }
          }
        case let place:
          if rest.hasPrefix("\\(") {
            text += "?"
            places.append((.code, 1))
            rest = rest.dropFirst(2)
            continue
          }
          let isEnd = place == .line ? first == "\"" : rest.hasPrefix("\"\"\"")
          if isEnd {
            places.removeLast()
            rest = rest.dropFirst(place == .line ? 1 : 3)
            text += " "
            continue
          }
          if first == "\\" { rest = rest.dropFirst() }
          text.append(rest.first ?? " ")
        }
        rest = rest.dropFirst()
      }
      if !text.isEmpty { lines.append((number, text.lowercased())) }
    }
    while places.last?.place == .line { places.removeLast() }
    areWhole = places.count == 1
  }
}
