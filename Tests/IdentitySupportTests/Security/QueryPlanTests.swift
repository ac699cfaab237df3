import Identity
import TestDatabases
import Testing

@testable import TestIdentity

struct QueryPlanTests {
  /// Runs lists and searches, whose statements the use cases don't cover.
  private func readEverything(_ instance: Instance) async throws {
    let identity = instance.identity
    let owner = try await identity.administrators.records().map(\.administrator)
    _ = try await identity.invitations.list()
    let restrictedGrants = [
      Grant(role: .support, project: instance.acme.project, tenant: instance.east.tenant),
      Grant(role: .support, project: instance.globex.project),
    ]
    for grant in restrictedGrants {
      _ = try await identity.administrators.create(
        email: "\(grant.project?.text ?? "")@example.com", displayName: "X",
        password: Instance.consolePassword, grant: grant, by: Instance.boss)
    }
    for administrator in owner + (try await identity.administrators.records().map(\.administrator))
    {
      for search in [nil, "a"] as [String?] {
        _ = try await identity.pools.projects(visibleTo: administrator, search: search, after: "a")
      }
      _ = try await identity.pools.tenants(
        project: instance.acme.project, after: instance.east.tenant?.text)
      _ = try await identity.pools.projectNames(visibleTo: administrator, limit: 9)
      _ = try await identity.pools.warnings(visibleTo: administrator, limit: 9)
      _ = try await identity.policies.summaries(
        of: [instance.acme.project, instance.globex.project], visibleTo: administrator)
      try await review(instance, administrator)
      _ = try await identity.pools.tenantNames(
        project: instance.acme.project, visibleTo: administrator, limit: 9)
    }
    for filter in Accounts.Filter.allCases {
      for sort in Accounts.Sort.allCases {
        for after in [nil, "9", "9-9", "9-YQ"] as [String?] {
          _ = try await identity.accounts.list(
            instance.acme, filter: filter, sort: sort, after: after)
        }
      }
    }
    for text in ["a", "a b", "abc", "abc d"] {
      _ = try await identity.accounts.search(instance.acme, text)
      for administrator in try await identity.administrators.records().map(\.administrator) {
        _ = try await identity.accounts.search(everywhere: text, visibleTo: administrator)
      }
    }
    _ = try await identity.signIns.verificationCodes(instance.acme)
    for sort in AccountQuery.Sort.allCases {
      var query = AccountQuery()
      for descends in [false, true] {
        (query.sort, query.descends, query.offset) = (sort, descends, 3)
        _ = try await identity.accounts.query(instance.acme, query)
      }
    }
    _ = try await identity.signingKeys.list()
    _ = try await identity.accounts.counts(instance.acme)
    _ = try await identity.accounts.countsWithMarked(instance.acme)
    _ = try await identity.accounts.countInactive(instance.acme, atMost: 9)
    _ = try await identity.accounts.summaries(of: [ID("x"), ID("y")], in: instance.acme)
    _ = try await identity.accounts.export(instance.acme, after: "a", limit: 9)
    _ = try await identity.accounts.lookup(
      instance.acme, ids: ["x"], emails: ["x"], phoneNumbers: ["x"])
    _ = try await identity.apiKeys.list(instance.acme.project)
    _ = try await identity.signIns.ways(
      of: "x@example.com", in: instance.acme, goingOnTo: "http://localhost")
    _ = try await identity.serviceTokens.list(instance.acme.project)
    _ = try await identity.serviceTokens.list(
      instance.acme.project, tenant: instance.east.tenant)
    _ = try await identity.pools.deletionImpact(project: instance.acme.project)
    _ = try await identity.pools.deletionImpact(
      project: instance.acme.project, tenant: instance.east.tenant ?? ID(""))
    _ = try await identity.purge()
    for isWhole in [false, true] {
      _ = try await identity.activity.attemptCounts(
        of: [instance.acme.key, instance.east.key], isWhole: isWhole,
        since: instance.now.advanced(bySeconds: -30 * 86_400), at: instance.now)
    }
    _ = try await identity.exemptions.counts(in: instance.acme)
    _ = try await identity.exemptions.ends(of: [1, 2])
    _ = try await identity.exemptions.counts(of: [instance.acme.key, instance.east.key])
    for isWhole in [false, true] {
      _ = try await identity.exemptions.list(
        in: instance.acme, isWhole: isWhole, endingAfter: instance.now)
    }
    for administrator in owner {
      _ = try await identity.reviews.upcoming(visibleTo: administrator, within: 7, limit: 5)
    }
    _ = try await identity.audit.file()
    _ = try await identity.policies.history(instance.acme)
    _ = try await identity.audit.list(after: "9")
    for (kind, id) in [(nil, nil), (.account, nil), (.account, "x")]
      as [(AuditResource?, String?)]
    {
      _ = try await identity.audit.list(
        AuditFilter(pool: instance.acme, object: kind, objectID: id), after: "9")
    }
    for filter in AuditFilter.all(of: instance) {
      _ = try await identity.audit.search(filter, after: "9")
    }
    for pool in [nil, instance.acme] { _ = try await identity.audit.actors(pool) }
    _ = try await identity.guidance.read(instance.acme)
    _ = try await identity.guidance.versions(instance.acme, after: "9")
    if let administrator = owner.first {
      _ = try await identity.administrators.namesOfThose(
        with: .changePolicy, in: instance.east, for: administrator)
    }
    _ = try await identity.bulkRemovals.list(instance.acme, after: "9")
    _ = try await identity.bulkRemovals.campaigns(of: [instance.acme.key, instance.east.key])
    for administrator in owner {
      _ = try await identity.approvals.waiting(visibleTo: administrator)
      _ = try await identity.approvals.decided(visibleTo: administrator, after: "9-9")
    }
    _ = try await identity.approvals.waiting(for: ID("x"), in: instance.acme)
    try await identity.watchActivity()
    for administrator in owner {
      _ = try await identity.alerts.ongoing(visibleTo: administrator, limit: 9)
    }
    try await identity.purgeExpired()
  }

  private func review(_ instance: Instance, _ administrator: Administrator) async throws {
    _ = try await instance.identity.signIns.forecasts(of: "a", visibleTo: administrator)
    let policies = instance.identity.policies
    _ = try await instance.differing(
      in: [instance.acme.project, instance.globex.project], visibleTo: administrator)
    _ = try await instance.identity.pools.projects(
      visibleTo: administrator, search: "a", onlyDiffering: true, after: "a")
    for search in [nil, "a"] as [String?] {
      for selection in PolicyReviewQuery.Selection.allCases {
        _ = try await policies.everyPool(
          visibleTo: administrator, search: search, selection, after: "a/a")
      }
    }
    _ = try await instance.identity.reviews.queue(visibleTo: administrator, limit: 5)
    _ = try await instance.identity.pools.find("a", visibleTo: administrator, limit: 5)
    _ = try await instance.identity.work(of: administrator, limit: 5)
    let (reports, pool) = (instance.identity.reports, instance.acme)
    _ = try await reports.factorCounts(
      in: pool, [.neverUsed, .sharedSecret, .unused(days: 90), .enrolled(years: 1)])
    _ = try await reports.lockCauses(of: [pool.accountKeys.lowerBound])
    _ = try await instance.identity.reviews.neverSignedOff(visibleTo: administrator, limit: 5)
    for subject in [ReportSubject.pool(instance.acme), .project(instance.acme), .instance]
    where administrator.may(read: .removals, about: subject) {
      _ = try await instance.identity.reports.removals(
        about: subject, since: instance.now, visibleTo: administrator)
    }
    _ = try await instance.identity.support.held()
    for place in [nil, pool] {
      _ = try await instance.identity.dismissedAttention.all(of: administrator, in: place)
    }
    for selection in PolicyReviewQuery.Selection.allCases {
      for order in PolicyReviewQuery.Order.allCases {
        for search in [nil, "a"] as [String?] {
          _ = try await policies.review(
            instance.acme.project, visibleTo: administrator,
            PolicyReviewQuery(search: search, selection: selection, order: order), after: "1.a")
        }
      }
    }
  }

  @Test func `no statement of any use case scans a table`() async throws {
    var texts: Set<String> = []
    for useCase in UseCase.all {
      try await withInstance { instance in
        let act = try await useCase.prepare(instance)
        await expect(useCase.ending, act)
        if useCase.name == "set up" { try await readEverything(instance) }
        texts.formUnion(instance.statements.all)
      }
    }
    #expect(texts.count > 100)
    try await withInstance { instance in
      for (text, faults) in try await Plans.faults(of: texts.sorted(), instance.test) {
        #expect(faults.isEmpty, "\(text)")
      }
      for (piece, _) in Plans.allowed {
        let uses = texts.contains { $0.contains(piece) }
        #expect(uses, "an unused exception: \(piece)")
      }
    }
  }

  // PostgreSQL chooses an index by what a table contains.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `a user's history is searched by user, not by pool`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.audit.list(
        AuditFilter(pool: instance.acme, object: .account, objectID: "x"), after: "9")
      _ = try await instance.identity.policies.history(instance.acme)
      // Each found entry is also read by its ID.
      let texts = instance.statements.all.filter { $0.contains("object_id = ") }
      #expect(texts.count == 3)
      for text in texts {
        let plan = try await instance.plan(of: text)
        #expect(
          plan.contains { $0.contains("audit_by_object") && $0.contains("object_id=?") },
          "\(text) \(plan)")
      }
    }
  }

  // PostgreSQL chooses an index by what a table contains.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `each search of the log uses the index that fits its filters`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      let already = instance.statements.all
      for filter in AuditFilter.all(of: instance) {
        _ = try await identity.audit.search(filter, after: "9")
      }
      let texts = instance.statements.all.subtracting(already)
        .filter { $0.contains("FROM audit") && $0.contains("audit_id DESC") }
      #expect(texts.count > 50)
      for text in texts {
        let index =
          switch text {
          case _ where text.contains("object_id = "): "by_object"
          case _ where text.contains("x.field = "): "by_field"
          case _ where text.contains("actor_id = "): "by_actor"
          case _ where text.contains("action_group = "): "by_action"
          case _ where text.contains("project_id = "): "by_scope"
          default: "PRIMARY KEY"
          }
        let isOfAll =
          !["PRIMARY KEY", "by_field"].contains(index) && !text.contains("project_id = ")
        let plan = try await instance.plan(of: text)
        // Whether an entry has a field, and the entry of a field, are looked up by ID.
        #expect(plan[0].hasPrefix("SEARCH ") && !plan.contains { $0.contains("B-TREE") }, "\(text)")
        for rest in plan.dropFirst() {
          #expect(rest.hasPrefix("CORRELATED") || rest.contains("PRIMARY KEY"), "\(rest): \(text)")
        }
        #expect(plan[0].contains(index) && plan[0].contains("of_all") == isOfAll, "\(text)")
      }
    }
  }

  private static let scans = [
    "SELECT uid FROM account WHERE display_name = $1", "SELECT count(*) FROM session",
    "DELETE FROM ticket WHERE failures > $1", "UPDATE factor SET last_step = $1",
    "SELECT * FROM audit WHERE actor_id = $1",
  ]

  /// Sorting, and the table of SQLite's text index.
  private static let scansOfSQLite = [
    "SELECT uid FROM account WHERE scope_key = $1 ORDER BY display_name",
    "SELECT rowid FROM account_search WHERE account_search MATCH $1",
    "SELECT account_key FROM account_text WHERE folded LIKE $1",
    "SELECT a.uid FROM account a WHERE a.scope_key = $1 ORDER BY ifnull(a.email_folded, 'x')",
  ]

  @Test(arguments: scans + (TestDatabase.isSQLite ? scansOfSQLite : []))
  func `a statement that scans a table is detected`(text: String) async throws {
    try await withInstance { instance in
      let found = try await Plans.faults(of: [text], instance.test)
      #expect(found.count == 1 && found.allSatisfy { !$0.faults.isEmpty })
    }
  }
}
