import Database

extension Audit {
  /// The most rows of one download.
  public static let longestExport = 100_000
  private static let batch = 1_000
  /// How often a download searches on, where few rows fit.
  private static let searches = 200

  /// What a download holds.
  public struct Export<Table: Sendable>: Sendable {
    /// The rows as they were taken.
    public let table: Table
    /// How many there are.
    public let count: Int
    /// True when older rows were left out.
    public let isCut: Bool
  }

  /// Takes the rows that fit, the newest first, at most ``longestExport``, and records that they
  /// were taken: who reads the log in bulk stands in it.
  ///
  /// - Parameters:
  ///   - filter: Which rows.
  ///   - words: The filter in words; empty for all rows.
  ///   - table: What the rows are added to.
  ///   - author: Who takes them.
  ///   - add: Adds one row.
  /// - Returns: The table with its rows.
  /// - Throws: ``AuditError``.
  public func export<Table: Sendable>(
    _ filter: AuditFilter, words: String, into table: Table, by author: Author,
    add: @Sendable (inout Table, AuditRow) -> Void
  ) async throws(AuditError) -> Export<Table> {
    var table = table
    var count = 0
    var after: String?
    for _ in 0..<Self.searches {
      let found = try await search(
        filter, after: after, limit: min(Self.batch, Self.longestExport - count))
      for row in found.rows { add(&table, row) }
      count += found.rows.count
      after = found.next
      if after == nil || count == Self.longestExport { break }
    }
    let (total, now) = (count, store.clock.now())
    try await store.write(AuditError.self) { connection in
      var entry =
        filter.scope.map { scope in
          AuditEntry(
            "audit.download", "scope", Policies.objectID(scope), name: scope.name, in: scope)
        } ?? AuditEntry("audit.download", "instance", "", name: "the instance")
      entry.to = Words.count(total, "entry", "entries")
      if !words.isEmpty { entry.note = words }
      try entry.record(by: author, at: now, connection)
    }
    return Export(table: table, count: count, isCut: after != nil)
  }

  /// The administrators and service tokens that left rows, at most fifty of each kind.
  ///
  /// - Throws: ``AuditError``.
  public func actors(_ scope: Scope? = nil) async throws(AuditError) -> [AuditActor] {
    try await store.read(AuditError.self) { connection in
      var actors: [AuditActor] = []
      for kind in ["administrator", "service token"] {
        actors += try Self.actors(of: kind, scope, connection)
      }
      return actors
    }
  }

  /// Steps from one actor to the next, past all rows of each but the newest, and adds those of the
  /// newest rows, which are not filed yet.
  private static func actors(
    of kind: String, _ scope: Scope?, _ connection: borrowing Connection
  ) throws -> [AuditActor] {
    var place: SQL = ""
    if let scope {
      place =
        " AND project_id = \(scope.project.text) AND tenant_id = \(scope.tenant?.text ?? "")"
    }
    var actors: [AuditActor] = try connection.all(
      """
      SELECT actor_id, actor_name FROM audit
      WHERE audit_id > \(try filedTo(connection))\(place) AND actor_kind || '' = \(kind)
      ORDER BY audit_id DESC LIMIT 1000
      """
    ) { AuditActor(kind: kind, id: try $0.value(0), name: try $0.value(1)) }
    var seen: Set<String> = []
    actors = actors.filter { seen.insert($0.id).inserted }
    // Behind every id.
    var last = "\u{10FFFF}"
    while actors.count < 50 {
      let found = try connection.first(
        """
        SELECT actor_id, actor_name FROM audit
        WHERE actor_kind = \(kind)\(place) AND filed = 1 AND actor_id < \(last)
        ORDER BY actor_id DESC, audit_id DESC LIMIT 1
        """
      ) { AuditActor(kind: kind, id: try $0.value(0), name: try $0.value(1)) }
      guard let found else { break }
      if seen.insert(found.id).inserted { actors.append(found) }
      last = found.id
    }
    return actors.prefix(50).sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }
}
