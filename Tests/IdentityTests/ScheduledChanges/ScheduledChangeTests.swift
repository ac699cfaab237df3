import Testing

@testable import Identity

@Suite struct ScheduledChangeTests {
  private func pia(_ instance: Instance) async throws -> Agent {
    try await instance.setWindow(5)
    return try await instance.agent("pia", role: .policy)
  }

  private func window(_ instance: Instance) async throws -> Int? {
    try await instance.identity.policies.read(instance.acme).configuration.totp?.adjacentIntervals
  }

  private func newest(_ instance: Instance) async throws -> ScheduledPolicyChange {
    try #require(try await instance.identity.policies.scheduled(instance.acme).first)
  }

  @Test func `a change is made at its time, in its author's name, and not before`() async throws {
    try await withInstance { instance in
      let pia = try await pia(instance)
      let due = instance.now.advanced(bySeconds: 3_600)
      _ = try await instance.schedule(1, by: pia)
      #expect(try await instance.log().first?.action == .policySchedule)
      instance.clock.advance(3_599)
      try await instance.identity.makeScheduledChanges()
      #expect(try await window(instance) == 5)
      instance.clock.advance(1)
      try await instance.identity.makeScheduledChanges()
      #expect(try await window(instance) == 1)
      let change = try await newest(instance)
      #expect((change.state, change.endedAt, change.applyAt) == (.applied, due, due))
      let row = try #require(try await instance.log().first)
      #expect((row.action, row.actorName) == (.policyChange, "pia"))
      #expect(row.new(.appliesAt) == .instant(due))
    }
  }

  @Test func `pending changes are announced to those who can read the policy`() async throws {
    try await withInstance { instance in
      let pia = try await pia(instance)
      _ = try await instance.schedule(1, by: pia)
      let policies = instance.identity.policies
      let seen = try await policies.upcoming(visibleTo: pia.administrator, limit: 5)
      #expect(seen.map(\.scope) == [instance.acme])
      let other = Administrator(
        id: ID("d"), email: "d@example.com", displayName: "Dora",
        grants: [Grant(role: .support, project: instance.globex.project)])
      let unseen = try await policies.upcoming(visibleTo: other, limit: 5).count
      instance.clock.advance(3_600)
      try await instance.identity.makeScheduledChanges()
      let left = try await policies.upcoming(visibleTo: pia.administrator, limit: 5).count
      #expect((unseen, left) == (0, 0))
    }
  }

  @Test func `a change that was due while no server ran is made later, with the real time`()
    async throws
  {
    try await withInstance { instance in
      let pia = try await pia(instance)
      _ = try await instance.schedule(1, by: pia)
      instance.clock.advance(3 * 86_400)
      try await instance.identity.makeScheduledChanges()
      let policy = try await instance.identity.policies.read(instance.acme)
      #expect(policy.configuration.totp?.adjacentIntervals == 1)
      #expect(policy.changedAt == instance.now)
      #expect(try await newest(instance).endedAt == instance.now)
    }
  }

  @Test func `nothing is made while the clock is doubted`() async throws {
    try await withInstance { instance in
      let pia = try await pia(instance)
      _ = try await instance.schedule(1, by: pia)
      _ = try await instance.identity.clockGuard.check()
      instance.clock.advance(400 * 86_400)
      let doubt = try await instance.identity.clockGuard.check()
      try await instance.identity.makeScheduledChanges()
      #expect(try await window(instance) == (doubt == nil ? 1 : 5))
      #expect(doubt != nil)
    }
  }

  @Test(arguments: [-1, 0, 59, 366 * 86_400 + 1] as [Int64])
  func `a change can't be scheduled for the past or too far in the future`(seconds: Int64)
    async throws
  {
    try await withInstance { instance in
      let pia = try await pia(instance)
      await expect("failed.timeOutOfRange") {
        try await instance.schedule(1, in: seconds, by: pia)
      }
      #expect(try await instance.identity.policies.scheduled(instance.acme).isEmpty)
    }
  }

  @Test func `a canceled change isn't made, and only one can be pending`() async throws {
    try await withInstance { instance in
      let pia = try await pia(instance)
      let policies = instance.identity.policies
      let id = try await instance.schedule(1, by: pia)
      await expect("failed.changeScheduled") { try await instance.schedule(2, by: pia) }
      await expect("failed.changeNotFound") {
        try await policies.cancelScheduled(id, in: instance.east, pia.request(nil))
      }
      let dora = try await instance.agent("dora")
      await expect("refused.notAllowed") {
        try await policies.cancelScheduled(id, in: instance.acme, dora.request(nil))
      }
      try await policies.cancelScheduled(id, in: instance.acme, pia.request(nil))
      await expect("failed.changeNotPending") {
        try await policies.cancelScheduled(id, in: instance.acme, pia.request(nil))
      }
      instance.clock.advance(7_200)
      try await instance.identity.makeScheduledChanges()
      #expect(try await window(instance) == 5)
      let change = try await newest(instance)
      #expect((change.state, change.cancelerName) == (.canceled, "pia"))
    }
  }

  @Test(arguments: [false, true])
  func `the scheduled change of a deleted pool ends in the audit log`(isProject: Bool) async throws
  {
    try await withInstance { instance in
      let (east, identity) = (instance.east, instance.identity)
      let pia = try await pia(instance)
      let due = instance.now.advanced(bySeconds: 3_600)
      let version = try await identity.policies.read(east).version
      _ = try await identity.policies.change(
        east, expecting: version, pia.request(nil, note: "Fewer."), applyAt: due
      ) { $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 1) }
      let tenant = isProject ? nil : east.tenant
      #expect(
        try await identity.pools.deletionImpact(project: east.project, tenant: tenant)
          .scheduledChanges == 1
      )
      #expect(
        try await identity.pools.deletionImpact(project: instance.globex.project).scheduledChanges
          == 0)
      try await identity.pools.delete(project: east.project, tenant: tenant, by: Instance.boss)
      let rows = try await instance.wholeLog().filter { $0.action == .policyCancelSchedule }
      let row = try #require(rows.first)
      #expect(rows.count == 1 && row.tenant == east.tenant)
      #expect(row.new(.requester) == .text("pia") && row.new(.appliesAt) == .instant(due))
      #expect(row.new(.stopReason) == .code("scope-deleted"))
      while try await identity.purge() {}
      instance.clock.advance(3_600)
      try await identity.makeScheduledChanges()
      #expect(try await instance.wholeLog().allSatisfy { $0.action != .policyScheduleFail })
    }
  }

  @Test func `a change of another version fails, and its author and owners are told`() async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let pia = try await pia(instance)
      _ = try await instance.agent("otto", role: .owner)
      _ = try await instance.schedule(1, by: pia)
      try await instance.setWindow(3)
      instance.clock.advance(3_600)
      try await instance.identity.makeScheduledChanges()
      #expect(try await window(instance) == 3)
      let change = try await newest(instance)
      #expect((change.state, change.failure) == (.failed, .policyChanged))
      let row = try #require(try await instance.log().first)
      #expect(row.action == .policyScheduleFail && row.new(.outcome) == .code("policy-changed"))
      let sent = try await instance.messages().filter { $0.contains("scheduled-change-failed") }
      #expect(
        Set(sent) == [
          "mail notice-scheduled-change-failed pia@desk.example.com",
          "mail notice-scheduled-change-failed otto@desk.example.com",
        ])
    }
  }

  @Test func `a change whose author was removed or lost the permission fails`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("otto", role: .owner)
      for isRemoved in [false, true] {
        let pia = try await instance.agent("pia\(isRemoved)", role: .policy)
        try await instance.setWindow(5)
        _ = try await instance.schedule(1, by: pia)
        let administrators = instance.identity.administrators
        if isRemoved {
          _ = try await administrators.remove(pia.administrator.id, owner.request(nil))
        } else {
          _ = try await administrators.revoke(
            Grant(role: .policy), from: pia.administrator.id, owner.request(nil))
        }
        instance.clock.advance(3_600)
        try await instance.reauthenticate(owner.session)
        try await instance.identity.makeScheduledChanges()
        #expect(try await window(instance) == 5)
        let failure = try await newest(instance).failure
        #expect(failure == (isRemoved ? .authorRemoved : .permissionLost))
      }
    }
  }

  @Test func `a pending change that would fail says why, and isn't announced`() async throws {
    try await withInstance { instance in
      let pia = try await pia(instance)
      let otto = try await instance.agent("otto", role: .owner).administrator
      _ = try await instance.schedule(1, by: pia)
      let (policies, administrators) = (
        instance.identity.policies, instance.identity.administrators
      )
      #expect(try await newest(instance).foreseenFailure == nil)
      #expect(try await policies.upcoming(visibleTo: otto, limit: 5).count == 1)
      _ = try await administrators.revoke(
        Grant(role: .policy), from: pia.administrator.id, by: Author(actor: .commandLine))
      let failure = try await newest(instance).foreseenFailure
      #expect(failure == .permissionLost || failure == .authorRemoved)
      #expect(try await policies.upcoming(visibleTo: otto, limit: 5).isEmpty)
      try await administrators.grant(
        Grant(role: .policy), to: pia.administrator.id, by: Author(actor: .commandLine))
      #expect(try await newest(instance).foreseenFailure == nil)
      try await instance.setWindow(4)
      #expect(try await newest(instance).foreseenFailure == .policyChanged)
      instance.clock.advance(3_600)
      try await instance.identity.makeScheduledChanges()
      let change = try await newest(instance)
      #expect(change.state == .failed && change.foreseenFailure == nil)
      let bases = try await policies.edits(
        ofVersions: [change.version, 99], of: instance.acme)
      #expect(bases.keys.sorted() == [change.version])
      #expect(bases[change.version]?.configuration.totp?.adjacentIntervals == 5)
    }
  }

  @Test func `a weaker change is guarded when it's scheduled`() async throws {
    try await withInstance { instance in
      let pia = try await pia(instance)
      await expect("refused.writtenReasonRequired") {
        try await instance.schedule(9, by: pia)
      }
      _ = try await instance.enrolled(.alice)
      try await instance.setSupportRules { $0.policyApprovalOverUsers = 0 }
      _ = try await instance.schedule(9, by: pia, because: "Clocks")
      #expect(try await instance.identity.policies.scheduled(instance.acme).isEmpty)
      let otto = try await instance.agent("otto", role: .owner)
      let approvals = instance.identity.approvals
      let approval = try #require(
        try await approvals.waiting(visibleTo: otto.administrator).first)
      let outcome = try await approvals.approve(
        approval.id, in: instance.acme, otto.request(nil)
      ).value
      guard case .policyScheduled = outcome else { throw Unexpected("\(outcome)") }
      #expect(try await window(instance) == 5)
      instance.clock.advance(3_600)
      try await instance.identity.makeScheduledChanges()
      #expect(try await window(instance) == 9)
      let row = try #require(try await instance.log().first { $0.action == .policyWiden })
      #expect((row.actorName, row.note) == ("pia", "Clocks"))
      #expect(row.new(.approver) == .text("otto"))
    }
  }

  @Test func `a change approved after its time takes effect with the approval`() async throws {
    try await withInstance { instance in
      let pia = try await pia(instance)
      _ = try await instance.enrolled(.alice)
      try await instance.setSupportRules { $0.policyApprovalOverUsers = 0 }
      _ = try await instance.schedule(9, by: pia, because: "Clocks")
      instance.clock.advance(4_000)
      let otto = try await instance.agent("otto", role: .owner)
      let approvals = instance.identity.approvals
      let approval = try #require(try await approvals.waiting(visibleTo: otto.administrator).first)
      _ = try await approvals.approve(approval.id, in: instance.acme, otto.request(nil))
      #expect(try await window(instance) == 9)
    }
  }

  @Test func `a weaker change that affects more users by its time requires an approver`()
    async throws
  {
    try await withInstance { instance in
      let pia = try await pia(instance)
      try await instance.setSupportRules { $0.policyApprovalOverUsers = 0 }
      _ = try await instance.schedule(9, by: pia, because: "Clocks")
      #expect(try await newest(instance).state == .waiting)
      _ = try await instance.enrolled(.alice)
      instance.clock.advance(3_600)
      try await instance.identity.makeScheduledChanges()
      #expect(try await window(instance) == 5)
      #expect(try await newest(instance).failure == .approvalRequired)
    }
  }

  @Test func `the change of a deleted tenant ends without a trace of failure`() async throws {
    try await withInstance { instance in
      let pia = try await pia(instance)
      let version = try await instance.identity.policies.read(instance.east).version
      _ = try await instance.identity.policies.change(
        instance.east, expecting: version, pia.request(nil),
        applyAt: instance.now.advanced(bySeconds: 60)
      ) { $0.configuration.totp = TOTPConfiguration(state: .mandatory, adjacentIntervals: 0) }
      try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: instance.east.tenant ?? ID(""), by: Instance.boss)
      instance.clock.advance(60)
      try await instance.identity.makeScheduledChanges()
      #expect(!(try await instance.wholeLog().contains { $0.action == .policyScheduleFail }))
    }
  }

  @Test func `a restored backup makes no pending change`() async throws {
    try await withInstance { instance in
      let pia = try await pia(instance)
      _ = try await instance.schedule(1, by: pia)
      _ = try await instance.identity.endTheRestoredPast(
        file: "b", keepsSessions: true, former: nil, by: Author(actor: .commandLine))
      instance.clock.advance(3_600)
      try await instance.identity.makeScheduledChanges()
      #expect(try await window(instance) == 5)
      #expect(try await newest(instance).failure == .restored)
    }
  }
}
