import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct ReportTests {
  private static let day: Int64 = 86_400

  /// Counts removals in the rows of the log that are about a subject.
  private func recount(
    _ instance: Instance, since start: Instant, in includes: @Sendable (AuditRow) -> Bool
  ) async throws -> [String: Int] {
    let actions: Set<AuditAction> = [
      .factorRemove, .factorRemoveAll, .factorRevert, .factorWithdraw,
    ]
    let rows = try await instance.wholeLog().filter { row in
      row.at >= start && row.action.map(actions.contains) == true && includes(row)
    }
    return rows.reduce(into: [:]) { $0["\($1.reason ?? "none") \($1.actorName)", default: 0] += 1 }
  }

  private func counts(
    _ instance: Instance, _ subject: ReportSubject, days: Int64, _ reader: Administrator
  ) async throws -> [String: Int] {
    let start = instance.now.advanced(bySeconds: -days * Self.day)
    let found = try await instance.identity.reports.removals(
      about: subject, since: start, visibleTo: reader)
    #expect(found.map(\.count) == found.map(\.count).sorted(by: >))
    return found.reduce(into: [:]) {
      $0["\($1.reason?.rawValue ?? "none") \($1.agentName)", default: 0] += $1.count
    }
  }

  @Test func `removals are counted by reason and agent as in the log, filed or not`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(12)
      try await instance.addUsers(4, in: instance.east, from: 20)
      var random = SystemRandomNumberGenerator()
      for number in 0..<12 {
        let agent = try await instance.agent(["dora", "dev"].randomElement(using: &random) ?? "")
        let reason = ConsoleAction.removeAllFactors.reasons.dropLast().randomElement(using: &random)
        _ = try await instance.identity.factorRemovals.remove(
          instance.acme, ID("u\(number)"), nil, agent.request(reason))
        instance.clock.advance(5 * Self.day)
        if number == 7 { while try await instance.identity.audit.file() {} }
      }
      let agent = try await instance.agent()
      _ = try await instance.identity.factorRemovals.remove(
        instance.east, ID("u20"), nil, agent.request(.stolen))
      let iris = try await instance.administrator("iris", .auditor)
      for (pool, days) in [(instance.acme, 30), (instance.acme, 365), (instance.east, 90)] {
        let start = instance.now.advanced(bySeconds: -Int64(days) * Self.day)
        let expected = try await recount(instance, since: start) {
          $0.project == pool.project && $0.tenant == pool.tenant
        }
        let found = try await counts(instance, .pool(pool), days: Int64(days), iris)
        #expect(found == expected && !found.isEmpty)
      }
    }
  }

  /// Removes factors in the project, in two of its tenants, and in another project; half of the
  /// rows are filed.
  private func remove(_ instance: Instance) async throws {
    let pools = [instance.acme, instance.east, instance.west, instance.globex]
    for (index, pool) in pools.enumerated() {
      try await instance.addUsers(4, in: pool, from: index * 10)
    }
    for number in 0..<4 {
      for (index, pool) in pools.enumerated() where number <= index {
        let agent = try await instance.agent(number % 2 == 0 ? "dora" : "dev")
        _ = try await instance.identity.factorRemovals.remove(
          pool, ID("u\(index * 10 + number)"), nil, agent.request(number > 2 ? .stolen : .lost))
      }
      instance.clock.advance(Self.day)
      if number == 1 { while try await instance.identity.audit.file() {} }
    }
  }

  @Test func `a project's removals include those of its tenants, and the instance's all of them`()
    async throws
  {
    try await withInstance { instance in
      try await remove(instance)
      let start = instance.now.advanced(bySeconds: -90 * Self.day)
      let iris = try await instance.administrator("iris", .auditor)
      let acme = instance.acme.project
      let ofProject = try await recount(instance, since: start) { $0.project == acme }
      let ofAll = try await recount(instance, since: start) { _ in true }
      let project = try await counts(instance, .project(instance.acme), days: 90, iris)
      let all = try await counts(instance, .instance, days: 90, iris)
      #expect(project == ofProject && project.values.reduce(0, +) == 6)
      #expect(all == ofAll && all.values.reduce(0, +) == 10)
    }
  }

  @Test func `the instance's removals are those of the pools that the reader can audit, once`()
    async throws
  {
    try await withInstance { instance in
      try await remove(instance)
      let (acme, east) = (instance.acme.project, try #require(instance.east.tenant))
      let grants: [(grants: [Grant], count: Int)] = [
        ([Grant(role: .auditor, project: acme, tenant: east)], 2),
        ([Grant(role: .auditor, project: acme)], 6),
        (
          [
            Grant(role: .auditor, project: acme), Grant(role: .owner, project: acme, tenant: east),
            Grant(role: .auditor, project: instance.globex.project),
          ], 10
        ),
        (
          [
            Grant(role: .auditor, project: acme, tenant: east),
            Grant(role: .policy, project: instance.globex.project),
          ], 2
        ),
        ([Grant(role: .auditor), Grant(role: .auditor, project: acme)], 10),
      ]
      for (index, expected) in grants.enumerated() {
        let reader = try await instance.identity.administrators.create(
          email: "reader\(index)@example.com", displayName: "Reader",
          password: Instance.consolePassword, grant: expected.grants[0], by: Instance.boss)
        for grant in expected.grants.dropFirst() {
          try await instance.identity.administrators.grant(
            grant, to: reader.id, by: .program(Author(actor: .commandLine)))
        }
        let now = instance.now
        let present = try await instance.database.read {
          try Administrators.present(reader.id, at: now, $0)
        }
        let found = try await counts(instance, .instance, days: 90, try #require(present))
        #expect(found.values.reduce(0, +) == expected.count, "\(index)")
      }
    }
  }

  @Test func `a removal's reason that was erased with a note isn't reported as not given`()
    async throws
  {
    try await withInstance { instance in
      let agent = try await instance.agent()
      try await instance.addUsers(3)
      let requests = [
        agent.request(.lost), agent.request(.lost, note: "by phone"), agent.request(.lost),
      ]
      for (number, request) in requests.enumerated() {
        let user = ID<Account>("u\(number)")
        _ = try await instance.identity.factorRemovals.remove(instance.acme, user, nil, request)
        guard number < 2 else { continue }
        _ = try await instance.identity.userData.erase(
          instance.acme, user, by: .program(Instance.boss, because: "asked"))
      }
      try await instance.finishErasures()
      let found = try await instance.identity.reports.removals(
        about: .pool(instance.acme), since: instance.now.advanced(bySeconds: -Self.day),
        visibleTo: try await instance.administrator("iris", .auditor))
      #expect(found.map(\.reason) == [.lost, nil])
      #expect(found.map(\.isReasonErased) == [false, true])
      #expect(found.map(\.count) == [2, 1])
    }
  }

  @Test func `removals aren't reported to administrators who can't audit them`() async throws {
    try await withInstance { instance in
      let pia = try await instance.administrator("pia", .policy)
      for subject in [
        ReportSubject.pool(instance.acme), .project(instance.acme), .project(instance.east),
        .instance,
      ] {
        await expect("notAllowed") { _ = try await counts(instance, subject, days: 90, pia) }
      }
    }
  }

  @Test func `users who unenroll are counted as one agent without a name`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await instance.identity.enrollments.withdraw(
        device.session, enrollment: device.factor.text, by: Instance.visitor)
      let start = instance.now.advanced(bySeconds: -Self.day)
      let iris = try await instance.administrator("iris", .auditor)
      let found = try await instance.identity.reports.removals(
        about: .pool(instance.acme), since: start, visibleTo: iris)
      #expect(found.map(\.agentKind) == [.user])
      #expect(found.map(\.agentName) == [""] && found.map(\.reason) == [nil])
    }
  }

  /// Sets random times of enrollment and use, and returns the factors that a condition matches.
  private func scatter(_ instance: Instance) async throws {
    let now = instance.now.microseconds
    let times = (0..<40).map { number in
      (
        number: number, enrolled: now - Int64.random(in: 0..<1_500) * Self.day * 1_000_000,
        used: Bool.random() ? now - Int64.random(in: 0..<400) * Self.day * 1_000_000 : nil
      )
    }
    try await instance.database.write { connection in
      for (number, enrolled, used) in times {
        try connection.run(
          """
          UPDATE /* test */ factor SET enrolled_at = \(enrolled), last_used_at = \(used)
          WHERE enrollment_id = \("f\(number)")
          """)
      }
    }
  }

  private func recount(_ instance: Instance, _ condition: FactorCondition) async throws -> [String]
  {
    let factors = try await instance.database.read { connection in
      try connection.all(
        """
        SELECT /* test */ a.uid, f.enrolled_at, f.last_used_at FROM factor f
        JOIN account a USING (account_key) JOIN scope s USING (scope_key)
        WHERE s.scope_key = \(instance.acme.key) ORDER BY f.account_key, f.position
        """
      ) { row in
        (
          user: try row.next() as String, enrolled: try row.next() as Int64,
          used: try row.next() as Int64?
        )
      }
    }
    let now = instance.now.microseconds
    return factors.filter { factor in
      switch condition {
      case .neverUsed: factor.used == nil
      // These users were imported with one secret.
      case .sharedSecret: true
      case .unused(let days):
        (factor.used ?? factor.enrolled) < now - Int64(days) * Self.day * 1_000_000
      case .enrolled(let years): factor.enrolled < now - Int64(years) * 31_556_952 * 1_000_000
      }
    }.map(\.user)
  }

  @Test
  func
    `unused, old, never-used, and shared factors are listed page by page as a recount finds them`()
    async throws
  {
    try await withInstance { instance in
      try await instance.addUsers(40)
      try await instance.addUsers(5, in: instance.east, from: 50)
      try await scatter(instance)
      let conditions = [
        FactorCondition.unused(days: 90), .unused(days: 180), .enrolled(years: 2), .neverUsed,
        .sharedSecret,
      ]
      for condition in conditions {
        let expected = try await recount(instance, condition)
        var (found, after): ([String], String?) = ([], nil)
        repeat {
          let page = try await instance.identity.reports.factors(
            in: instance.acme, condition, after: after, limit: 7)
          found += page.items.map(\.account.text)
          after = page.next
        } while after != nil
        #expect(found == expected)
      }
    }
  }

  @Test func `a nonsensical cursor begins at the start`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(1)
      instance.clock.advance(100 * Self.day)
      for cursor in ["", "x", "-1--1", "9223372036854775807"] {
        let page = try await instance.identity.reports.factors(
          in: instance.acme, .unused(days: 90), after: cursor)
        let count = page.items.count
        #expect(count == 1, "\(cursor)")
      }
    }
  }

  @Test func `exemptions include those that ended in the period, with tenants on request`()
    async throws
  {
    try await withInstance { instance in
      let (alice, bob) = (
        try await instance.account(.alice), try await instance.account(.bob, in: instance.east)
      )
      let olga = try await instance.agent("olga", role: .owner)
      let exemptions = instance.identity.exemptions
      let until = instance.now.advanced(bySeconds: 10 * Self.day)
      _ = try await exemptions.grant(
        instance.acme, alice.id, until: until, olga.request(.lost))
      _ = try await exemptions.grant(instance.east, bob.id, until: until, olga.request(.lost))
      instance.clock.advance(40 * Self.day)
      func users(_ days: Int64, isWhole: Bool) async throws -> Set<String> {
        Set(
          try await exemptions.list(
            in: instance.acme, isWhole: isWhole,
            endingAfter: instance.now.advanced(bySeconds: -days * Self.day)
          ).map(\.account.text))
      }
      let (own, all) = (
        try await users(90, isWhole: false), try await users(90, isWhole: true)
      )
      #expect(own == [alice.id.text] && all == [alice.id.text, bob.id.text])
      #expect(try await users(30, isWhole: true).isEmpty, "they ended 30 days ago")
    }
  }
}
