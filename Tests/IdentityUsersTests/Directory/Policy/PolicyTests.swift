import Identity
import OTP
import Testing

@testable import TestIdentity

struct PolicyTests {
  @Test func `unset, 0, and 5 adjacent intervals are stored as distinct values`() async throws {
    try await withInstance { instance in
      for intervals in [0, nil, 5, nil, 0, 10] as [Int?] {
        try await instance.setWindow(intervals)
        let policy = try await instance.identity.policies.read(instance.acme)
        #expect(policy.configuration.totp?.adjacentIntervals == intervals)
        #expect(policy.configuration.window.adjacentIntervals == intervals ?? 5)
      }
    }
  }

  @Test func `unsetting 0 adjacent intervals restores the default of 5, as the audit row shows`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(0)
      let policy = try await instance.setWindow(nil)
      #expect(policy.configuration.window.adjacentIntervals == 5)
      let rows = try await instance.log()
      let row = try #require(rows.first { $0.action == .policyWiden })
      #expect(row.old(.adjacentIntervals) == .number(0))
      #expect(row.new(.adjacentIntervals) == .code("default"))
    }
  }

  @Test func `a change records the actor, pool, fields, time, and address`() async throws {
    try await withInstance { instance in
      instance.clock.advance(3)
      let policy = try await instance.identity.policies.change(
        instance.east, by: .program(Instance.boss)
      ) {
        edit in
        edit.configuration.totp = TOTPConfiguration(state: .unspecified, adjacentIntervals: 1)
        edit.pattern = .stepUp
      }.value.policy
      #expect(policy.version == 1)
      #expect(policy.changedAt == instance.now)
      #expect(policy.changedBy == "Bo the boss")
      #expect(policy.pattern == .stepUp)
      let row = try #require(try await instance.log(instance.east).first)
      #expect(row.at == instance.now)
      #expect((row.actorKind, row.actorID) == ("administrator", "boss"))
      #expect(row.actorName == "Bo the boss")
      #expect((row.project, row.tenant) == (instance.east.project, instance.east.tenant))
      #expect((row.objectKind, row.objectID) == ("policy", instance.east.tenant?.text))
      #expect(row.objectName == "East")
      #expect(row.fields == [.totp, .adjacentIntervals, .pattern])
      #expect(
        row.changes == [
          AuditChange(.totp, from: .code("enabled"), to: .code("unspecified")),
          AuditChange(.adjacentIntervals, from: .code("default"), to: .number(1)),
          AuditChange(.pattern, from: .absent, to: .code("step-up")),
        ])
      #expect((row.address, row.requestID) == ("198.51.100.8", "request-2"))
    }
  }

  @Test func `a change returns what a later read returns`() async throws {
    try await withInstance { instance in
      let policies = instance.identity.policies
      let edits: [@Sendable (inout PolicyEdit) -> Void] = [
        { $0.configuration = MFAConfiguration(state: .unspecified, smsEnabled: true) },
        {
          $0.configuration.totp = TOTPConfiguration(state: .mandatory, adjacentIntervals: nil)
          $0.pattern = .mandatory
          $0.mandatoryFrom = Day("2026-12-01")
        },
        { $0.configuration.totp = TOTPConfiguration(state: .disabled, adjacentIntervals: 0) },
        { $0 = PolicyEdit(configuration: MFAConfiguration(), pattern: nil) },
      ]
      for pool in [instance.acme, instance.east] {
        for edit in edits {
          instance.clock.advance(3)
          let answer = try await policies.change(pool, by: .program(Instance.boss)) { edit(&$0) }
            .value.policy
          #expect("\(answer)" == "\(try await policies.read(pool))")
        }
      }
      instance.clock.advance(3)
      let project = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.configuration.state = .enabled }.value
      #expect(
        "\(project)"
          == "\(try await instance.identity.pools.existingSettings(project: project.pool.project))")
      let tenant = try await instance.identity.pools.update(
        project: project.pool.project, tenant: instance.east.tenant, by: .program(Instance.boss)
      ) { $0.configuration.state = .enabled }.value
      let stored = try await instance.identity.pools.existingSettings(
        project: project.pool.project, tenant: tenant.pool.tenant)
      #expect("\(tenant)" == "\(stored)")
    }
  }

  @Test func `a change without effect keeps the version and writes no audit row`() async throws {
    try await withInstance { instance in
      let before = try await instance.identity.policies.read(instance.acme)
      let rows = try await instance.wholeLog().count
      let after = try await instance.setWindow(nil)
      #expect(after.version == before.version)
      #expect(after.changedAt == before.changedAt)
      #expect(try await instance.wholeLog().count == rows)
    }
  }

  @Test(arguments: [11, -1, 1_000_000, Int.min, Int.max])
  func `adjacent intervals outside 0 to 10 are refused and change nothing`(intervals: Int)
    async throws
  {
    try await withInstance { instance in
      let policies = instance.identity.policies
      let rows = try await instance.wholeLog().count
      let error = try await thrown(PolicyError.self) { try await instance.setWindow(intervals) }
      guard case .invalidAdjacentIntervals(intervals) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      let edit = PolicyEdit(
        configuration: MFAConfiguration(
          totp: TOTPConfiguration(state: .enabled, adjacentIntervals: intervals)), pattern: nil)
      await expect("invalidAdjacentIntervals") {
        try await policies.preview(instance.acme) { _ in edit }
      }
      #expect(try await policies.read(instance.acme).configuration.totp?.adjacentIntervals == nil)
      #expect(try await instance.wholeLog().count == rows)
    }
  }

  @Test func `exactly one of several edits based on the same version is stored`() async throws {
    try await withInstance { instance in
      let policies = instance.identity.policies
      let version = try await policies.read(instance.acme).version
      let outcomes = try await concurrently(11) { number in
        await outcome {
          try await policies.change(instance.acme, expecting: version, by: .program(Instance.boss))
          { edit in
            edit.configuration.totp?.adjacentIntervals = number
          }
        }
      }
      #expect(outcomes.tally == ["done": 1, "changedMeanwhile": 10])
      #expect(try await policies.read(instance.acme).version == version + 1)
      #expect(try await policies.history(instance.acme).count == version + 1)
    }
  }

  @Test func `an edit based on an old version gets the current policy`() async throws {
    try await withInstance { instance in
      let seen = try await instance.identity.policies.read(instance.acme)
      try await instance.setWindow(2)
      let error = try await thrown(PolicyError.self) {
        try await instance.identity.policies.change(
          instance.acme, expecting: seen.version, by: .program(Instance.support)
        ) { $0.configuration.totp = nil }
      }
      guard case .changedMeanwhile(let policy) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(policy.version == seen.version + 1)
      #expect(policy.changedBy == "Bo the boss")
      #expect(policy.configuration.window.adjacentIntervals == 2)
    }
  }

  @Test func `an edit that throws changes nothing`() async throws {
    try await withInstance { instance in
      let rows = try await instance.wholeLog().count
      await expect("twoTOTPEntries") {
        try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
          edit throws(PolicyError) in
          edit.configuration.totp = nil
          throw .twoTOTPEntries
        }
      }
      #expect(try await instance.identity.policies.read(instance.acme).configuration.isTOTPOn)
      #expect(try await instance.wholeLog().count == rows)
    }
  }

  @Test func `the preview counts users left with only a password, and changes nothing`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      _ = try await instance.account(.bob)
      let rows = try await instance.wholeLog().count
      var edit = try await instance.identity.policies.read(instance.acme).edit
      edit.configuration.totp?.state = .disabled
      let preview = try await instance.identity.policies.preview(instance.acme) { [edit] _ in edit }
      #expect(preview.losingSecondFactor == 1)
      #expect(preview.policy.users == 2)
      #expect(preview.changes.map(\.field) == [.totp])
      #expect(preview.changes.map(\.to) == [.totp(.disabled)])
      edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 0)
      let narrower = try await instance.identity.policies.preview(instance.acme) { [edit] _ in edit
      }
      #expect(narrower.losingSecondFactor == 0)
      #expect(try await instance.identity.policies.read(instance.acme).configuration.isTOTPOn)
      #expect(try await instance.wholeLog().count == rows)
    }
  }

  @Test func `the history covers one pool, newest first`() async throws {
    try await withInstance { instance in
      for intervals in 1...3 { try await instance.setWindow(intervals) }
      try await instance.setWindow(9, in: instance.east)
      let history = try await instance.identity.policies.history(instance.acme, limit: 2)
      #expect(history.map { $0.new(.adjacentIntervals) } == [.number(3), .number(2)])
      let east = try await instance.identity.policies.history(instance.east)
      #expect(east.map { $0.new(.adjacentIntervals) } == [.number(9)])
    }
  }

  @Test func `with TOTP off, enrolled users sign in with only their password`() async throws {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      _ = try await instance.pending(.alice)
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        edit in
        edit.configuration.totp?.state = .disabled
      }
      let grant = try await instance.session(.alice)
      #expect(grant.session.secondFactor == nil)
      #expect(grant.account.factors.count == 1)
    }
  }
}
