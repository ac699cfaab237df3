import Testing

/// A pool can be moved to another database only if each statement on its data names the pool.
struct PoolKeyTests {
  @Test func `docs/reference/statements.md lists the statements that don't name the pool`() throws {
    let page = try SourceTree.file("docs/reference/statements.md")
    let listed = Set(page.lines.compactMap(Listed.init))
    let files = try SourceTree.files(
      in: "Sources/Identity", "Sources/Demo", "Sources/countersign", "Tests/Bench",
      "Tests/LargeDemo")
    let found = try files.flatMap { try statements($0, Self.tables()) }
    let missing = found.filter { !listed.contains($0.listed) }
    #expect(missing.map(\.breach) == [], "name the pool in the statement, or list it with a reason")
    let unknown = listed.subtracting(found.map(\.listed))
    #expect(unknown.map { "\($0)" }.sorted() == [], "no longer in the code")
    #expect(listed.count > 90)
  }

  @Test(arguments: [
    "SELECT uid FROM account WHERE uid = \\(uid)",
    "DELETE FROM outbox WHERE message_id = \\(id)",
    "UPDATE session SET claims = NULL WHERE session_id = \\(id)",
    "INSERT INTO ticket (ticket_id, uses) VALUES (\\(id), 1)",
    "SELECT 1 FROM bulk_item i JOIN account a ON a.scope_key = \\(key) WHERE i.job_id = \\(job)",
    "SELECT 1 FROM oob_code c JOIN scope s USING (scope_key) WHERE c.code_digest = \\(digest)",
    "SELECT 1 FROM approval v \\(SQL.orderedJoin) scope s USING (scope_key) WHERE v.state = 'x'",
    "DELETE FROM outbox WHERE (scope_key, message_id) IN (SELECT scope_key, message_id FROM outbox)",
    "SELECT 1 FROM alert WHERE scope_key > 0", "SELECT 1 FROM factor WHERE \\(condition)",
  ])
  func `a statement without the pool is found`(_ statement: String) throws {
    let line = SourceFile(path: "Sources/Identity/A.swift", text: "let sql: SQL = \"\(statement)\"")
    let block = SourceFile(
      path: "Sources/Identity/A.swift", text: "run(\n  \"\"\"\n  \(statement)\n  \"\"\")")
    #expect(try statements(line, Self.tables()).count == 1)
    #expect(try statements(block, Self.tables()).count == 1)
  }

  @Test(arguments: [
    "SELECT uid FROM account WHERE scope_key = \\(key) AND uid = \\(uid)",
    "UPDATE session SET claims = NULL WHERE account_key = \\(key) AND session_id = \\(id)",
    "INSERT INTO ticket (scope_key, ticket_id, uses) VALUES (\\(scope), \\(id), 1)",
    "DELETE FROM factor WHERE account_key BETWEEN \\(keys.lowerBound) AND \\(keys.upperBound)",
    "SELECT 1 FROM factor f \\(SQL.orderedJoin) account a ON a.account_key = f.account_key WHERE a.scope_key = \\(key)",
    "SELECT 1 FROM ticket WHERE scope_key = 0 AND ticket_id = \\(id)",
    "SELECT email FROM administrator WHERE administrator_id = \\(id)",
    "SELECT users FROM scope WHERE project_id = \\(project)",
  ])
  func `a statement with the pool is no exception`(_ statement: String) throws {
    let file = SourceFile(path: "Sources/Identity/A.swift", text: "let sql: SQL = \"\(statement)\"")
    #expect(try statements(file, Self.tables()).map(\.breach) == [])
  }

  /// A line of the page.
  fileprivate struct Listed: Hashable {
    let path: String
    let statement: String
  }

  private struct Found {
    let listed: Listed
    let breach: String
  }

  /// The tables of pools' data: those with the pool, without administrators' own.
  private static func tables() throws -> Set<String> {
    let schema = try SourceTree.file("docs/reference/schema.md")
    var (tables, table): (Set<String>, String) = ([], "")
    for line in schema.lines {
      if line.hasPrefix("## ") { table = String(line.dropFirst(3)) }
      if line.hasPrefix("| `scope_key`") || line.hasPrefix("| `account_key`") {
        tables.insert(table)
      }
    }
    return tables.subtracting(["scope"])
  }

  /// Returns the statements of a file that don't name the pool of each table that they name.
  private func statements(_ file: SourceFile, _ tables: Set<String>) throws -> [Found] {
    let literals = try #require(StringLiteral.all(in: file), "a literal without an end: \(file)")
    return literals.compactMap { literal in
      let text = Self.normalized(literal.text)
      let names = text.matches(of: /\b(?:FROM|JOIN|INTO|UPDATE) (\w+)/).map { $0.output.1 }
      let own = names.count { tables.contains(String($0)) }
      guard own > 0, text.contains(/\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b|^FROM\b/) else {
        return nil
      }
      // A pool's row says nothing about which pool it is.
      let wanted = own + text.matches(of: /\b(?:FROM|JOIN) scope\b/).count
      guard Self.poolCount(text) < wanted else { return nil }
      let start = text.firstMatch(of: /\b(?:UPDATE|DELETE FROM|INSERT INTO|FROM)\b/)?.range
        .lowerBound
      let statement = String(text[(start ?? text.startIndex)...])
      let path = file.path.replacing("Sources/Identity/", with: "", maxReplacements: 1)
      return Found(
        listed: Listed(path: path, statement: statement),
        breach: file.breach(literal.line, statement))
    }
  }

  /// Returns the text in one line, with `?` for each interpolated value and without names of
  /// indexes.
  private static func normalized(_ text: String) -> String {
    text.replacing("⟦SQL.orderedJoin⟧", with: "JOIN").replacing(/⟦index: [^⟧]*⟧/, with: "")
      .replacing(/⟦[^⟧]*⟧/, with: "?")
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// Returns how many conditions, columns of inserted rows, and joins have the pool.
  private static func poolCount(_ text: String) -> Int {
    let inserted = text.firstMatch(of: /INSERT INTO \w+ \(([^)]*)\)/)
    let columns = inserted?.output.1 ?? ""
    let isInserted = columns.contains(/\b(?:scope_key|account_key)\b/)
    let rest = inserted.map { String(text[$0.range.upperBound...]) } ?? text
    let conditions = [
      // A value, or 0 for administrators.
      rest.matches(of: /(?:scope_key|account_key) (?:=|IN|BETWEEN|>=) \(?\?/).count,
      rest.matches(of: /scope_key = 0\b/).count,
      rest.matches(of: /\btenant_id = \?/).count,
      // The pool of another table of the statement.
      rest.matches(of: /(?:scope_key|account_key)(?: >> 40)? = \w+\.(?:scope_key|account_key)/)
        .count,
      rest.matches(of: /USING \((?:\w+, )*(?:scope_key|account_key)/).count,
      rest.matches(of: /\((?:scope_key|account_key), \w+\) (?:IN|=) \( ?SELECT/).count,
      rest.matches(of: /(?:scope_key|account_key) (?:NOT )?IN \( ?SELECT/).count,
    ]
    return conditions.reduce(isInserted ? 1 : 0, +)
  }
}

extension PoolKeyTests.Listed {
  /// Reads a row of a table, which has a file and a statement.
  fileprivate init?(_ line: Substring) {
    guard let row = line.wholeMatch(of: /\| `([^`]+\.swift)` \| `(.+)` \|/) else { return nil }
    self.init(
      path: String(row.output.1), statement: String(row.output.2).replacing("\\|", with: "|"))
  }
}
