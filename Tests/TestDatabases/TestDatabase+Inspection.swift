public import Foundation

extension TestDatabase {
  /// Runs a text that isn't a literal, outside of the program's connections.
  ///
  /// - Parameter text: A query in the dialect of the database.
  /// - Returns: The first column of its rows.
  /// - Throws: ``TestDatabaseError``.
  public func query(_ text: String) async throws -> [String] {
    if let name {
      return try await PostgreSQLServer.shared.value.connection(to: name).run(text)
    }
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/sqlite3")
    process.arguments = ["-readonly", path ?? "", text]
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw TestDatabaseError("sqlite3 failed") }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Returns the bytes of the files in which the database is stored.
  ///
  /// SQLite's write-ahead log can have pages that are no longer in the file. PostgreSQL has all of
  /// them in its files after a checkpoint.
  public func files() async throws -> [Data] {
    if let path { return try ["", "-wal"].map { try Data(contentsOf: URL(filePath: path + $0)) } }
    let server = try await PostgreSQLServer.shared.value
    let paths = try await query(
      """
      CHECKPOINT;
      SELECT pg_relation_filepath(oid) FROM pg_class
      WHERE relkind IN ('r', 'i', 't') AND pg_relation_filepath(oid) LIKE 'base/%'
      """)
    return try paths.map {
      try Data(contentsOf: URL(filePath: server.folder + "/data/" + $0))
    }
  }

  /// Looks for tables of which PostgreSQL reads every row, since no index finds those that a
  /// statement needs.
  ///
  /// The database of a test is so small that reading everything is fastest. Therefore the planner
  /// may do that only where it has no other plan, and plans for values that it doesn't know. It may
  /// still read a whole index instead of a table. That's a scan as well, unless the index only has
  /// rows that meet a condition, or the statement reads several tables: with so few rows, a join
  /// begins with any of them.
  ///
  /// - Parameter texts: Statements, as passed to `trace`.
  /// - Returns: For each statement, its scans.
  /// - Throws: ``TestDatabaseError``.
  public func scans(in texts: [String]) async throws -> [String: [String]] {
    guard let name, !texts.isEmpty else { return [:] }
    let connection = try await PostgreSQLServer.shared.value.connection(to: name)
    try await connection.run(
      """
      SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off;
      SET enable_hashjoin = off; SET enable_mergejoin = off
      """)
    let partial = try await connection.run(
      "SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL")
    var found: [String: [String]] = [:]
    for text in texts {
      let numbers = text.matches(of: /\$(\d+)/).compactMap { Int($0.1) }
      let count = numbers.max() ?? 0
      let values = Array(repeating: "NULL", count: count).joined(separator: ", ")
      try await connection.run("PREPARE statement AS \(text)")
      let plan = try await connection.run(
        "EXPLAIN (FORMAT JSON, COSTS OFF) EXECUTE statement\(count > 0 ? "(\(values))" : "")")
      try await connection.run("DEALLOCATE statement")
      found[text] = try Self.scans(inPlan: plan.joined(separator: "\n"), partial: Set(partial))
    }
    return found
  }

  private static func scans(inPlan text: String, partial: Set<String>) throws -> [String] {
    let plan = try JSONSerialization.jsonObject(with: Data(text.utf8))
    var (tables, indexes, nodes) = ([String](), [String](), 0)
    var waiting: [Any] = [plan]
    while let next = waiting.popLast() {
      if let list = next as? [Any] { waiting += list }
      guard let node = next as? [String: Any] else { continue }
      waiting += ["Plan", "Plans"].compactMap { node[$0] }
      let (table, index) = (node["Relation Name"] as? String, node["Index Name"] as? String)
      switch node["Node Type"] as? String {
      case "Seq Scan", "Sample Scan": tables.append(table ?? "?")
      case "Index Scan", "Index Only Scan", "Bitmap Index Scan":
        nodes += 1
        guard node["Index Cond"] == nil, let index, !partial.contains(index) else { continue }
        indexes.append(index)
      default: break
      }
    }
    return tables + (nodes == 1 ? indexes : [])
  }
}
