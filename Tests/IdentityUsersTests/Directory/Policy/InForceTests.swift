import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct InForceTests {
  @Test func `the database and the code agree on which policies are equivalent`() async throws {
    try await withInstance { instance in
      var seen: [String: PolicyInForce] = [:]
      var known: [PolicyInForce: String] = [:]
      let day = Day("2026-12-01")
      let patterns: [(EnrollmentPattern?, Day?, Enforcement?)] = [
        (nil, nil, nil), (.mandatory, nil, nil), (.mandatory, day, nil), (.stepUp, nil, nil),
        (.mandatory, nil, day.flatMap { Enforcement(.claim, from: $0, graceDays: 1) }),
        (.mandatory, nil, day.flatMap { Enforcement(.refuse, from: $0, graceDays: 1) }),
        (.mandatory, nil, day.flatMap { Enforcement(.claim, from: $0, graceDays: 2) }),
      ]
      for totp in [nil, 0, 1, 2, 3] as [Int?] {
        for intervals in [nil, -1, 0, 5, 7] as [Int?] {
          for (sms, state) in [
            (false, nil), (true, nil), (true, 1), (true, 2), (false, 3), (true, 3),
          ]
            as [(Bool, Int?)]
          {
            for (pattern, from, enforcement) in patterns {
              let text = try await instance.database.write { connection in
                try connection.first(
                  """
                  UPDATE scope SET totp_state = \(totp), totp_intervals = \(intervals),
                    sms = \(sms), mfa_state = \(state), pattern = \(pattern),
                    mandatory_from = \(from?.description),
                    enforcement = \(enforcement?.mode),
                    enforced_from = \(enforcement?.from.description),
                    grace_days = \(enforcement?.graceDays)
                  WHERE scope_key = 1 RETURNING /* test */ policy_in_force
                  """
                ) { try $0.next() as String }
              }
              let key = try #require(text)
              let inForce = try await instance.identity.policies.read(instance.acme).inForce
              #expect(seen[key] == nil || seen[key] == inForce, "\(key)")
              #expect(known[inForce] == nil || known[inForce] == key, "\(key)")
              (seen[key], known[inForce]) = (inForce, key)
            }
          }
        }
      }
      #expect(seen.count == known.count && seen.count > 50)
      let before = try #require(Day("2026-11-30"))
      for one in known.keys {
        for other in known.keys {
          #expect(one.differences(from: other, on: before).isEmpty == (one == other))
        }
      }
    }
  }

  @Test func `start dates differ only while they have an effect, in the database and the code`()
    async throws
  {
    try await withInstance { instance in
      let days = try ["2026-08-01", "2026-10-01", "2026-12-01"].map { try #require(Day($0)) }
      let enforcement = try #require(Enforcement(.refuse, from: days[1], graceDays: 30))
      var policies: [(from: Day?, enforcement: Enforcement?)] = [(nil, nil), (nil, enforcement)]
      for from in [days[0], days[2]] { policies += [(from, nil), (from, enforcement)] }
      // Without enforcement, and with one that begins before the last start date.
      for (date, expected) in [
        ("2026-07-01", 6), ("2026-12-01", 3), ("2027-02-28", 3), ("2027-03-01", 2),
      ] {
        let today = try #require(Day(date))
        var rows: [(PolicyInForce, String)] = []
        for policy in policies {
          let text = try await instance.database.write { connection in
            try connection.first(
              """
              UPDATE scope SET pattern = 'mandatory', mandatory_from = \(policy.from?.description),
                enforcement = \(policy.enforcement?.mode),
                enforced_from = \(policy.enforcement?.from.description),
                grace_days = \(policy.enforcement?.graceDays)
              WHERE scope_key = 1
              RETURNING /* test */ \(PolicyInForce.column(of: "scope", on: today))
              """
            ) { try $0.next() as String }
          }
          let stored = try await instance.identity.policies.read(instance.acme)
          #expect(stored.enforcement == policy.enforcement)
          rows.append((stored.inForce, try #require(text)))
        }
        for (one, text) in rows {
          for (other, otherText) in rows {
            let differences = one.differences(from: other, on: today)
            #expect(differences.isEmpty == (text == otherText), "\(text), \(otherText), \(today)")
          }
        }
        #expect(Set(rows.map(\.1)).count == expected)
      }
    }
  }

  @Test func `a tenant whose start date has passed doesn't differ from its project`() async throws {
    try await withInstance { instance in
      let owner = try await instance.administrator()
      let identity = instance.identity
      let day = Day(instance.now.advanced(bySeconds: 5 * 86_400))
      for pool in [instance.acme, instance.east, instance.west] {
        _ = try await identity.policies.change(pool, by: .program(Instance.boss)) { edit in
          edit.pattern = .mandatory
          if pool.tenant == instance.east.tenant { edit.mandatoryFrom = day }
        }
      }
      func found() async throws -> [Int] {
        let projects = try await identity.pools.projects(
          visibleTo: owner, onlyDiffering: true
        ).items
        let review = try await identity.policies.review(
          instance.acme.project, visibleTo: owner, PolicyReviewQuery(selection: .differs))
        let listed = try await instance.differing(in: [instance.acme.project], visibleTo: owner)
        return [
          projects.count, review.differing ?? -1, review.tenants.items.count,
          listed.map(\.count).reduce(0, +),
        ]
      }
      #expect(try await found() == [1, 1, 1, 1])
      instance.clock.advance(5 * 86_400)
      #expect(try await found() == [0, 0, 0, 0])
      try await instance.setWindow(2, in: instance.east)
      #expect(try await found() == [1, 1, 1, 1])
    }
  }

  @Test
  func `differing tenants are counted, but not for tenant administrators`()
    async throws
  {
    try await withInstance { instance in
      let policies = instance.identity.policies
      let owner = try await instance.administrator()
      let (acme, globex) = (instance.acme.project, instance.globex.project)
      var found = try await instance.differing(in: [acme, globex], visibleTo: owner)
      #expect(found.isEmpty)
      // The same window, stored differently.
      try await instance.setWindow(5, in: instance.west)
      _ = try await policies.change(instance.west, by: .program(Instance.boss)) {
        $0.configuration.totp?.state = .unspecified
      }
      found = try await instance.differing(in: [acme, globex], visibleTo: owner)
      #expect(found.isEmpty)
      try await instance.setWindow(2, in: instance.east)
      _ = try await policies.change(instance.east, by: .program(Instance.boss)) { edit in
        edit.configuration.setSMS(true)
        edit.pattern = .mandatory
      }
      found = try await instance.differing(in: [globex, acme], visibleTo: owner)
      #expect(found.map(\.project) == [acme] && found.map(\.count) == [1])
      _ = try await policies.change(instance.west, by: .program(Instance.boss)) {
        $0.configuration.totp = nil
      }
      found = try await instance.differing(in: [acme], visibleTo: owner)
      #expect(found.first?.count == 2)
      for grant in [
        Grant(role: .policy, project: acme, tenant: instance.east.tenant),
        Grant(role: .owner, project: globex),
      ] {
        let other = try await instance.identity.administrators.create(
          email: "\(grant.role)@example.com", displayName: "X",
          password: Instance.consolePassword, grant: grant, by: Instance.boss)
        found = try await instance.differing(in: [acme, globex], visibleTo: other)
        #expect(found.isEmpty)
      }
      try await instance.identity.pools.delete(
        project: acme, tenant: instance.west.tenant ?? ID(""), by: .program(Instance.boss))
      found = try await instance.differing(in: [acme], visibleTo: owner)
      #expect(found.first?.count == 1, "deleted tenants are not counted")
    }
  }

  @Test func `projects with tenants that differ are found among all projects`() async throws {
    try await withInstance { instance in
      let owner = try await instance.administrator()
      let (acme, east) = (instance.acme.project, try #require(instance.east.tenant))
      func found(_ administrator: Administrator) async throws -> [ID<Project>] {
        try await instance.identity.pools.projects(visibleTo: administrator, onlyDiffering: true)
          .items.map(\.id)
      }
      func reader(_ grant: Grant) -> Administrator {
        Administrator(id: ID("reader"), email: "", displayName: "", grants: [grant])
      }
      let atFirst = try await found(owner)
      try await instance.setWindow(2, in: instance.east)
      let one = try await found(owner)
      let elsewhere = try await found(
        reader(Grant(role: .auditor, project: instance.globex.project)))
      let ofTenant = try await found(reader(Grant(role: .policy, project: acme, tenant: east)))
      let ofProject = try await found(reader(Grant(role: .policy, project: acme)))
      for pool in [instance.acme, instance.west] { try await instance.setWindow(2, in: pool) }
      let equal = try await found(owner)
      try await instance.setWindow(3, in: instance.west)
      let again = try await found(owner)
      try await instance.identity.pools.delete(
        project: acme, tenant: instance.west.tenant ?? ID(""), by: .program(Instance.boss))
      let deleted = try await found(owner)
      #expect(atFirst == [] && one == [acme] && equal == [] && again == [acme])
      #expect(deleted == [], "a deleted tenant differs from nothing")
      #expect(elsewhere == [] && ofTenant == [] && ofProject == [acme])
    }
  }

  @Test func `the projects marked as having tenants that differ are those that have some`()
    async throws
  {
    try await withInstance { instance in
      for _ in 0..<60 {
        let pool = [instance.acme, instance.east, instance.west].randomElement() ?? instance.acme
        let (window, pattern) = (
          Int.random(in: 1...2), [nil, EnrollmentPattern.stepUp].randomElement()
        )
        _ = try await instance.identity.policies.change(pool, by: .program(Instance.boss)) { edit in
          edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: window)
          edit.pattern = pattern ?? nil
        }
        let wrong = try await instance.database.read { connection in
          try connection.all(
            """
            SELECT /* test */ s.project_id FROM scope s WHERE s.tenant_id = ''
              AND s.has_differing <> CASE WHEN EXISTS (SELECT 1 FROM scope t
                WHERE t.project_id = s.project_id AND t.tenant_id <> ''
                  AND t.policy_in_force <> s.policy_in_force) THEN 1 ELSE 0 END
            """
          ) { try $0.next() as String }
        }
        #expect(wrong == [])
      }
    }
  }

  @Test
  func `a start date requires the mandatory pattern, and survives an update that omits it`()
    async throws
  {
    try await withInstance { instance in
      let identity = instance.identity
      let day = try #require(Day("2026-12-01"))
      let policy = try await identity.policies.change(instance.east, by: .program(Instance.boss)) {
        edit in
        edit.pattern = .mandatory
        edit.mandatoryFrom = day
      }.value.policy
      #expect(policy.mandatoryFrom == day)
      var row = try #require(try await instance.log(instance.east).first)
      #expect(
        row.changes == [
          AuditChange(.pattern, from: .absent, to: .code("mandatory")),
          AuditChange(.mandatoryFrom, from: .absent, to: .day(day)),
        ])
      _ = try await identity.pools.update(
        project: instance.acme.project, tenant: instance.east.tenant ?? ID(""),
        by: .program(Instance.boss)
      ) { $0.configuration.totp?.adjacentIntervals = 1 }
      #expect(try await identity.policies.read(instance.east).mandatoryFrom == day)
      let other = try await identity.policies.change(instance.east, by: .program(Instance.boss)) {
        $0.pattern = .skippable
        $0.mandatoryFrom = day
      }.value.policy
      #expect(other.mandatoryFrom == nil)
      row = try #require(try await instance.log(instance.east).first)
      #expect(row.old(.mandatoryFrom) == .day(day))
      #expect(
        PolicyEdit(configuration: .initial, pattern: nil, mandatoryFrom: day).mandatoryFrom == nil)
    }
  }

  @Test(
    arguments: [
      (MFAState.disabled, false, MFAState.enabled, true), (.enabled, false, .enabled, true),
      (.mandatory, false, .mandatory, true), (.disabled, true, .enabled, true),
      (nil, false, .enabled, true),
    ] as [(MFAState?, Bool, MFAState?, Bool)])
  func `turning SMS on sets the state and the provider, and turning it off removes the provider`(
    state: MFAState?, listed: Bool, after: MFAState?, isOn: Bool
  ) {
    var configuration = MFAConfiguration(state: state, smsEnabled: listed)
    let before = configuration
    configuration.setSMS(before.isSMSOn)
    #expect(configuration == before)
    configuration.setSMS(true)
    #expect(configuration.isSMSOn == isOn && configuration.state == after)
    configuration.setSMS(false)
    #expect(!configuration.isSMSOn && !configuration.smsEnabled && configuration.state == after)
  }
}
