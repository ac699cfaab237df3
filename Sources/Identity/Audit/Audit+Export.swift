import Database

extension Audit {
  /// The maximum number of rows in a download.
  public static let longestExport = 100_000
  private static let batch = 1_000
  /// The maximum number of searches per download, in case few rows match.
  private static let searches = 200

  public struct Export<Table: Sendable>: Sendable {
    public let table: Table
    public let count: Int
    /// True if older rows were left out.
    public let isCut: Bool
  }

  /// Exports the matching rows, newest first, up to ``longestExport``, and records the export in
  /// the log.
  ///
  /// That takes many reads, so whether the administrator may have the rows is decided after them.
  public func export<Table: Sendable>(
    _ filter: AuditFilter, words: [String], into table: Table, by author: Author,
    in session: ConsoleSession, add: @Sendable (inout Table, AuditRow) -> Void
  ) async throws -> Export<Table> {
    var table = table
    var count = 0
    var after: String?
    for _ in 0..<Self.searches {
      let limit = min(Self.batch, Self.longestExport - count)
      let place = after
      let found = try await store.read { connection in
        try search(filter, after: place, limit: limit, connection)
      }
      for row in found.rows { add(&table, row) }
      count += found.rows.count
      after = found.next
      if after == nil || count == Self.longestExport { break }
    }
    let (total, now) = (count, store.clock.now())
    try await store.write(by: author) { connection in
      _ = try ActionAuthorization.holder(
        of: .readAudit, session, in: ActionTarget(filter.pool), at: now, connection
      ).get()
      var entry = AuditEntry(.auditDownload, of: filter.pool)
      entry.add(.entries, .number(total))
      if !words.isEmpty { entry.add(.filter, .list(words)) }
      try entry.record(by: author, at: now, connection)
    }
    return Export(table: table, count: count, isCut: after != nil)
  }

  /// Lists the administrators and service tokens with audit rows, up to 50 of each.
  public func actors(_ pool: Pool? = nil) async throws -> [AuditActor] {
    try await store.read { connection in
      let unfiled = try Self.unfiledActors(pool, connection)
      return try AuditActor.kinds.flatMap { kind in
        try Self.actors(of: kind, pool, and: unfiled.filter { $0.kind == kind }, connection)
      }
    }
  }

  private static func unfiledActors(
    _ pool: Pool?, _ connection: borrowing Connection
  ) throws -> [AuditActor] {
    try connection.all(
      """
      SELECT actor_kind, actor_id, actor_name FROM audit
      WHERE audit_id > \(try filedTo(connection))\(pool?.auditConditionChecked ?? "")
        AND actor_kind || '' IN (\(SQL.list(AuditActor.kinds)))
      ORDER BY audit_id DESC LIMIT 2000
      """
    ) { row in
      AuditActor(
        kind: Actor.Kind(rawValue: try row.next()) ?? .administrator, id: try row.next(),
        name: try row.next())
    }
  }

  /// Skips from actor to actor, reading only each one's newest row, and adds the actors of unfiled
  /// rows.
  private static func actors(
    of kind: Actor.Kind, _ pool: Pool?, and unfiled: [AuditActor],
    _ connection: borrowing Connection
  ) throws -> [AuditActor] {
    let place = pool?.auditCondition ?? ""
    var seen: Set<String> = []
    var actors = unfiled.filter { seen.insert($0.id).inserted }
    // Sorts after any ID.
    var last = "\u{10FFFF}"
    while actors.count < 50 {
      let found = try connection.first(
        """
        SELECT actor_id, actor_name FROM audit
        WHERE actor_kind = \(kind)\(place) AND filed = 1 AND actor_id < \(last)
        ORDER BY actor_id DESC, audit_id DESC LIMIT 1
        """
      ) { AuditActor(kind: kind, id: try $0.next(), name: try $0.next()) }
      guard let found else { break }
      if seen.insert(found.id).inserted { actors.append(found) }
      last = found.id
    }
    return actors.prefix(50).sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }
}
