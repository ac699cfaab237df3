import Database

extension Audit {
  /// The maximum number of rows in a download.
  public static let longestExport = 100_000
  private static let batch = 1_000
  /// The maximum number of searches per download, in case few rows match.
  private static let searches = 200

  /// An exported part of the audit log.
  public struct Export<Table: Sendable>: Sendable {
    /// The exported rows.
    public let table: Table
    /// The number of rows.
    public let count: Int
    /// True if older rows were left out.
    public let isCut: Bool
  }

  /// Exports the matching rows, newest first, up to ``longestExport``, and records the export in
  /// the log.
  ///
  /// - Parameters:
  ///   - filter: The rows to export.
  ///   - words: The filters as the reader chose them; empty for all rows.
  ///   - table: The table to add rows to.
  ///   - author: The author of the export.
  ///   - add: Adds one row to the table.
  /// - Returns: The table with its rows.
  /// - Throws: ``AuditError``.
  public func export<Table: Sendable>(
    _ filter: AuditFilter, words: [String], into table: Table, by author: Author,
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
      var entry = AuditEntry(.auditDownload, of: filter.scope)
      entry.add(.entries, .number(total))
      if !words.isEmpty { entry.add(.filter, .list(words)) }
      try entry.record(by: author, at: now, connection)
    }
    return Export(table: table, count: count, isCut: after != nil)
  }

  /// Lists the administrators and service tokens with audit rows, up to 50 of each.
  ///
  /// - Throws: ``AuditError``.
  public func actors(_ scope: Scope? = nil) async throws(AuditError) -> [AuditActor] {
    try await store.read(AuditError.self) { connection in
      var actors: [AuditActor] = []
      for kind in [Actor.Kind.administrator, .serviceToken] {
        actors += try Self.actors(of: kind, scope, connection)
      }
      return actors
    }
  }

  /// Skips from actor to actor, reading only each one's newest row, and adds the actors of unfiled
  /// rows.
  private static func actors(
    of kind: Actor.Kind, _ scope: Scope?, _ connection: borrowing Connection
  ) throws -> [AuditActor] {
    let place = scope?.auditCondition ?? ""
    let placeChecked = scope?.auditConditionChecked ?? ""
    var actors: [AuditActor] = try connection.all(
      """
      SELECT actor_id, actor_name FROM audit
      WHERE audit_id > \(try filedTo(connection))\(placeChecked)
        AND actor_kind || '' = \(kind.rawValue)
      ORDER BY audit_id DESC LIMIT 1000
      """
    ) { AuditActor(kind: kind, id: try $0.value(0), name: try $0.value(1)) }
    var seen: Set<String> = []
    actors = actors.filter { seen.insert($0.id).inserted }
    // Sorts after any ID.
    var last = "\u{10FFFF}"
    while actors.count < 50 {
      let found = try connection.first(
        """
        SELECT actor_id, actor_name FROM audit
        WHERE actor_kind = \(kind.rawValue)\(place) AND filed = 1 AND actor_id < \(last)
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
