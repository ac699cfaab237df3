import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct AuditSearchTests {
  /// Applies a filter to an entry, condition by condition.
  private static func fits(_ row: AuditRow, _ filter: AuditFilter) -> Bool {
    if let pool = filter.pool, row.project != pool.project || row.tenant != pool.tenant {
      return false
    }
    if let kind = filter.objectKind, row.objectKind != kind { return false }
    if let id = filter.objectID, row.objectID != id { return false }
    if let kind = filter.actor, row.actor != kind { return false }
    if let id = filter.actorID, row.actorID != id { return false }
    let isOfAction =
      switch filter.action {
      case .one(let name): row.actionName == name
      case .any(let actions): row.action.map(actions.contains) ?? false
      case nil: true
      }
    guard isOfAction else { return false }
    if let field = filter.fieldName, !row.changes.contains(where: { $0.fieldName == field }) {
      return false
    }
    if let from = filter.from, row.at < from { return false }
    if let until = filter.until, row.at >= until { return false }
    return true
  }

  /// Writes entries by several actors, in several pools, about several kinds of resources.
  private func addEntries(_ instance: Instance) async throws {
    for number in 0..<4 {
      instance.clock.advance(1800)
      for pool in [instance.acme, instance.east, instance.globex] {
        try await instance.setWindow(number, in: pool)
      }
    }
    _ = try await instance.enrolled(.alice)
    _ = try await instance.administrator()
    instance.clock.advance(1800)
  }

  /// How much of the log is indexed.
  enum Filed: CaseIterable { case nothing, older, everything }

  @Test(arguments: Filed.allCases)
  func `each filter finds exactly the matching entries`(filed: Filed) async throws {
    try await withInstance { instance in
      try await addEntries(instance)
      if filed != .nothing { while try await instance.identity.audit.file() {} }
      if filed == .older {
        try await instance.setWindow(7, in: instance.acme)
        try await instance.setWindow(7, in: instance.globex)
      }
      let all = try await instance.wholeLog()
      var found = 0
      for filter in AuditFilter.all(of: instance) {
        let rows = try await instance.identity.audit.search(filter, limit: 500).rows
        let expected = all.filter { Self.fits($0, filter) }
        #expect(rows.map(\.id) == expected.map(\.id), "\(filter)")
        found += rows.isEmpty ? 0 : 1
      }
      #expect(found > 100)
    }
  }

  @Test func `a search that reaches its scan limit continues where it stopped`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(7)
      let start = instance.now
      try await instance.fillLog(with: 45_000)
      while try await instance.identity.audit.file() {}
      var filter = AuditFilter(pool: instance.acme)
      filter.actor = .administrator
      var (pages, after, rows): (Int, String?, [AuditRow]) = (0, nil, [])
      repeat {
        let found = try await instance.identity.audit.search(filter, after: after)
        #expect((found.searchedBackTo == nil) == (found.next == nil))
        rows += found.rows
        after = found.next
        pages += 1
      } while after != nil && pages < 10
      #expect(pages == 3)
      #expect(rows.map(\.action) == [.policyWiden])
      let days = filter.within(start.advanced(bySeconds: -7200), start.advanced(bySeconds: -3600))
      let old = try await instance.identity.audit.search(days)
      #expect(
        old.rows.isEmpty && old.next == nil,
        "days before the first entry are ruled out by binary search")
    }
  }

  @Test func `days are found by binary search among many entries`() async throws {
    try await withInstance { instance in
      let start = instance.now
      try await instance.fillLog(with: 30_000)
      for hour in [0, 1, 5, 8] {
        var filter = AuditFilter()
        filter.from = start.advanced(bySeconds: Int64(hour) * 3600)
        filter.until = start.advanced(bySeconds: Int64(hour) * 3600 + 10)
        let rows = try await instance.identity.audit.search(filter, limit: 100).rows
        #expect(rows.map(\.actionName).tally["test.row"] == 10, "hour \(hour)")
      }
    }
  }

  @Test func `the instance's log names the pool of each entry, including deleted tenants`()
    async throws
  {
    try await withInstance { instance in
      let tenant = try #require(instance.east.tenant)
      try await instance.setWindow(3, in: instance.east)
      try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: tenant, by: .program(Instance.boss))
      let found = try await instance.identity.audit.search(AuditFilter())
      let row = try #require(found.rows.first { $0.new(.adjacentIntervals) == .number(3) })
      let pool = try #require(row.poolKey.flatMap { found.pools[$0] })
      #expect(pool.projectName == "Acme" && pool.tenantName == "East" && !pool.isThere)
      let west = AuditPool.Key(project: instance.acme.project, tenant: instance.west.tenant)
      #expect(found.pools[west]?.isThere == true)
      #expect(found.rows.first { $0.objectKind == "signing key" }?.poolKey == nil)
    }
  }

  @Test func `the actors of a pool are those with entries there`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(3)
      _ = try await instance.identity.sessions.endAll(
        instance.east, try await instance.account(.bob, in: instance.east).id, by: Instance.support)
      let acme = try await instance.identity.audit.actors(instance.acme)
      #expect(acme.map(\.name) == ["Bo the boss"])
      let east = try await instance.identity.audit.actors(instance.east)
      #expect(east.map(\.id) == ["boss", "desk"])
      #expect(try await instance.identity.audit.actors().count == 2)
    }
  }

  @Test func `an export has the matching entries and is audited`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agent("ada", role: .auditor)
      for number in 0..<3 { try await instance.setWindow(number) }
      var filter = AuditFilter(pool: instance.acme)
      filter.action = .any([.policyChange, .policyWiden, .policySignOff])
      let export = try await instance.identity.audit.export(
        filter, words: ["action: policy"], into: [Int64](), by: agent.author, in: agent.session
      ) { $0.append($1.id) }
      #expect(export.table.count == export.count && !export.isCut)
      #expect(export.table == export.table.sorted(by: >))
      let row = try #require(try await instance.log().first)
      #expect(row.action == .auditDownload && row.actorID == agent.administrator.id.text)
      #expect(
        row.new(.entries) == .number(export.count) && row.new(.filter) == .list(["action: policy"]))
    }
  }

  @Test func `an export requires the permission as it is once the entries are read`() async throws {
    try await withInstance { instance in
      let audit = instance.identity.audit
      let agent = try await instance.agent("ada", role: .auditor)
      let export = { @Sendable (pool: Pool?) async throws in
        _ = try await audit.export(
          AuditFilter(pool: pool), words: [], into: 0, by: agent.author, in: agent.session
        ) { count, _ in count += 1 }
      }
      try await export(nil)
      let id = agent.administrator.id.text
      let project = instance.acme.project.text
      // The session was read before, with the role on the instance.
      _ = try await instance.database.write { connection in
        try connection.run(
          """
          UPDATE /* test */ administrator_grant SET project_id = \(project)
          WHERE administrator_id = \(id)
          """)
      }
      try await export(instance.acme)
      await expect("notAllowed") { try await export(nil) }
      await expect("notAllowed") { try await export(instance.globex) }
      let log = try await instance.wholeLog()
      #expect(log.count { $0.action == .auditDownload } == 2)
    }
  }

  @Test func `an export is cut off after 100,000 entries and reports it`() async throws {
    try await withInstance { instance in
      // The clock moves past the entries.
      try await instance.fillLog(with: Audit.longestExport + 10)
      let agent = try await instance.agent("ada", role: .auditor)
      let export = try await instance.identity.audit.export(
        AuditFilter(pool: instance.acme), words: [], into: 0, by: agent.author, in: agent.session
      ) { count, _ in count += 1 }
      #expect(export.table == Audit.longestExport && export.isCut)
    }
  }
}

extension AuditFilter {
  fileprivate func within(_ from: Instant, _ until: Instant) -> AuditFilter {
    var filter = self
    (filter.from, filter.until) = (from, until)
    return filter
  }
}

extension Instance {
  /// Adds entries to Acme's log, one per second, and moves the clock past them.
  fileprivate func fillLog(with count: Int) async throws {
    let start = now.microseconds
    try await database.write { connection in
      _ = try connection.run(
        """
        WITH /* test */ RECURSIVE number (n) AS (
          SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < \(count - 1))
        INSERT INTO audit (at, actor_kind, actor_id, actor_name, project_id, tenant_id, action,
          object_kind, object_id, object_name, address, request_id)
        SELECT CAST(\(start) AS BIGINT) + CAST(n AS BIGINT) * 1000000, 'user', 'u' || n, 'u', 'acme-app', '', 'test.row', 'account',
          'u' || n, 'u', '', '' FROM number
        """)
    }
    clock.advance(Int64(count))
  }
}
