import Database

extension Audit {
  /// The maximum number of rows read for one page if no index matches the filter exactly.
  static let longestLook = 20_000
  /// The tolerance between the order of row numbers and their times, in seconds.
  ///
  /// A row gets its time before it waits to be written, and clocks are adjusted.
  static let slack: Int64 = 60

  /// Searches the log, newest first; a search across all projects also returns the names of
  /// projects and tenants.
  public func search(
    _ filter: AuditFilter, after: String? = nil, limit: Int = 50
  ) async throws -> AuditSearch {
    try await store.read { connection in
      try search(filter, after: after, limit: limit, connection)
    }
  }

  func search(
    _ filter: AuditFilter, after: String?, limit: Int, _ connection: borrowing Connection
  ) throws -> AuditSearch {
    let limit = Page<AuditRow>.size(limit)
    var before = after.flatMap { Int64($0) } ?? Int64.max
    var from: Int64 = 0
    if let until = filter.until {
      before = min(
        before, try Self.firstRow(since: until.advanced(bySeconds: Self.slack), connection))
    }
    if let start = filter.from {
      from = try Self.firstRow(since: start.advanced(bySeconds: -Self.slack), connection)
    }
    let conditions = filter.conditions
    var ids: [Int64] = []
    if conditions.isFiled {
      let filedTo = try Self.filedTo(connection)
      ids = try connection.all(
        """
        SELECT audit_id FROM audit
        WHERE audit_id < \(before) AND audit_id >= \(max(from, filedTo + 1))\(conditions.fresh)
        ORDER BY audit_id DESC LIMIT \(limit + 1)
        """
      ) { try $0.next() }
      before = min(before, filedTo + 1)
    }
    var reached: SearchEnd?
    if ids.count <= limit {
      if conditions.checked != nil {
        reached = try Self.end(of: conditions, from: from, before: before, connection)
      }
      ids += try connection.all(
        """
        SELECT \(conditions.source)
        WHERE x.audit_id < \(before) AND x.audit_id >= \(reached?.id ?? from)\(conditions.sought)\(conditions.checked ?? "")
        ORDER BY x.audit_id DESC LIMIT \(limit + 1 - ids.count)
        """
      ) { try $0.next() }
    }
    let page = Page(try cache.rows(ids, connection), limit: limit) { String($0.id) }
    let isCut = page.next == nil && reached != nil
    return AuditSearch(
      rows: page.items, next: page.next ?? reached.map { String($0.id) },
      searchedBackTo: isCut ? reached?.at : nil,
      pools: filter.pool == nil ? try Self.pools(of: page.items, connection) : [:],
      administrators: try Self.administrators(of: page.items, connection))
  }

  private struct SearchEnd {
    let id: Int64
    let at: Instant
  }

  /// Returns the last row that a search reads; nil if it reads all rows.
  private static func end(
    of conditions: AuditConditions, from: Int64, before: Int64, _ connection: borrowing Connection
  ) throws -> SearchEnd? {
    let id: Int64? = try connection.first(
      """
      SELECT x.audit_id FROM \(conditions.table) x
      WHERE x.audit_id < \(before) AND x.audit_id >= \(from)\(conditions.sought)
      ORDER BY x.audit_id DESC LIMIT 1 OFFSET \(longestLook - 1)
      """
    ) { try $0.next() }
    guard let id else { return nil }
    return try connection.first("SELECT at FROM audit WHERE audit_id = \(id)") { row in
      SearchEnd(id: id, at: try row.next())
    }
  }

  /// Returns the number of the last row; 0 if there's none.
  static func lastRow(_ connection: borrowing Connection) throws -> Int64 {
    try connection.first(
      "SELECT audit_id FROM audit WHERE audit_id > 0 ORDER BY audit_id DESC LIMIT 1"
    ) { try $0.next() } ?? 0
  }

  /// Finds the number of the first row at or after a time by binary search, because numbers
  /// increase with time.
  static func firstRow(
    since moment: Instant, _ connection: borrowing Connection
  ) throws -> Int64 {
    var (low, high): (Int64, Int64) = (1, try lastRow(connection) + 1)
    while low < high {
      let middle = low + (high - low) / 2
      let found = try connection.first(
        "SELECT audit_id, at FROM audit WHERE audit_id >= \(middle) ORDER BY audit_id LIMIT 1"
      ) { row in (id: try row.next() as Int64, at: try row.next() as Int64) }
      if let found, found.id < high, found.at < moment.microseconds {
        low = found.id + 1
      } else {
        high = middle
      }
    }
    return low
  }

  private static func pools(
    of rows: [AuditRow], _ connection: borrowing Connection
  ) throws -> [AuditPool.Key: AuditPool] {
    var pools: [AuditPool.Key: AuditPool] = [:]
    for key in Set(rows.compactMap(\.poolKey)) {
      pools[key] = try connection.first(
        """
        SELECT p.display_name, s.display_name, s.deleted_at IS NULL
        FROM scope s JOIN project p USING (project_id)
        WHERE s.project_id = \(key.project) AND s.tenant_id = \(key.tenant?.text ?? "")
        """
      ) { row in
        let (project, tenant): (String, String) = (try row.next(), try row.next())
        return AuditPool(
          projectName: project, tenantName: key.tenant == nil ? nil : tenant,
          isThere: try row.next())
      }
    }
    return pools
  }

  private static func administrators(
    of rows: [AuditRow], _ connection: borrowing Connection
  ) throws -> [String: String] {
    var names: [String: String] = [:]
    let unnamed = rows.filter { $0.object == .administrator && $0.objectName.isEmpty }
    for id in Set(unnamed.map(\.objectID)) {
      names[id] = try connection.first(
        "SELECT display_name FROM administrator WHERE administrator_id = \(id)"
      ) { try $0.next() }
    }
    return names
  }
}

/// The SQL conditions of a filter; each begins with `AND`.
private struct AuditConditions {
  /// The table with the index: `audit`, or `audit_change` for the index of fields.
  var table: SQL = "audit"
  /// The condition that an index of the table resolves in the order of the log.
  var sought: SQL = ""
  /// The condition checked on each row found; nil if there is none.
  var checked: SQL?
  /// True if the index contains only filed rows.
  var isFiled = false
  /// The filter for unfiled rows, which is checked per row.
  var fresh: SQL = ""

  /// The numbers of rows and where they come from; `x` is the table with the index, and the
  /// columns that are checked are those of `audit`.
  var source: SQL {
    table.text == "audit"
      ? "x.audit_id FROM audit x"
      : "x.audit_id FROM audit_change x \(SQL.orderedJoin) audit USING (audit_id)"
  }
}

extension AuditFilter {
  /// Checked conditions are written so that no index applies: SQLite might otherwise choose an
  /// index without the log's order and sort all its results.
  fileprivate var conditions: AuditConditions {
    var found = AuditConditions()
    var (object, actor, group, changed): (SQL, SQL, SQL, SQL) = ("", "", "", "")
    let placeChecked = pool?.auditConditionChecked ?? ""
    if let objectKind { object += " AND object_kind || '' = \(objectKind)" }
    if let objectID { object += " AND object_id || '' = \(objectID)" }
    if let kind = self.actor { actor += " AND actor_kind || '' = \(kind)" }
    if let actorID { actor += " AND actor_id || '' = \(actorID)" }
    let prefix = action?.prefix
    if let prefix { group = " AND action_group || '' = \(prefix)" }
    var rest: SQL = ""
    if !excluded.isEmpty {
      rest += " AND action NOT IN (\(SQL.list(excluded.flatMap(\.storedNames))))"
    }
    if let names = action?.names { rest += " AND action IN (\(SQL.list(names)))" }
    if let from { rest += " AND at >= \(from)" }
    if let until { rest += " AND at < \(until)" }
    found.fresh = placeChecked + object + actor + group + rest
    if let fieldName {
      found.fresh += """
         AND EXISTS (SELECT 1 FROM audit_change c WHERE c.audit_id = audit.audit_id
          AND c.field || '' = \(fieldName))
        """
      changed = """
         AND EXISTS (SELECT 1 FROM audit_change c WHERE c.audit_id = x.audit_id
          AND c.field || '' = \(fieldName))
        """
    }
    found.sought = pool?.auditCondition ?? ""
    // An index resolves one of the four, which then isn't checked again.
    if let objectKind, let objectID {
      found.sought += " AND object_kind = \(objectKind) AND object_id = \(objectID)"
      found.isFiled = pool == nil
      object = ""
    } else if let fieldName {
      found.table = "audit_change"
      found.sought = " AND x.field = \(fieldName)"
      found.isFiled = true
      (changed, object) = ("", placeChecked + object)
    } else if let kind = self.actor, let actorID {
      found.sought += " AND actor_kind = \(kind) AND actor_id = \(actorID)"
      found.isFiled = true
      actor = ""
    } else if let prefix {
      found.sought += " AND action_group = \(prefix)"
      found.isFiled = true
      group = ""
    } else if pool != nil {
      found.isFiled = true
    }
    let checked = object + actor + group + rest + changed
    if found.isFiled { found.sought += " AND x.filed = 1" }
    found.checked = checked.text.isEmpty ? nil : checked
    return found
  }
}

extension Pool {
  /// The condition for a pool's rows, which an index resolves.
  var auditCondition: SQL {
    " AND project_id = \(project) AND tenant_id = \(tenant?.text ?? "")"
  }

  /// The condition for a pool's rows, checked on each row.
  var auditConditionChecked: SQL {
    " AND project_id || '' = \(project) AND tenant_id || '' = \(tenant?.text ?? "")"
  }
}

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
