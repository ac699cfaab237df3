import Testing

@testable import Identity
@testable import TestIdentity

@Suite struct PolicyApprovalTests {
  /// Enrolls a user, requires approval for weakening the policy for more than `over` users, and
  /// returns a policy admin.
  private func requirePolicyApproval(_ instance: Instance, over: Int = 0) async throws -> Agent {
    try await instance.setWindow(1)
    _ = try await instance.enrolled(.alice)
    try await instance.setSupportRules { $0.policyApprovalOverUsers = over }
    return try await instance.agent("pia", role: .policy)
  }

  private func widen(
    _ instance: Instance, to intervals: Int = 9, by agent: Agent
  ) async throws -> PolicyOutcome {
    let version = try await instance.identity.policies.read(instance.acme).version
    return try await instance.identity.policies.change(
      instance.acme, expecting: version, by: .console(agent.request(nil, note: "Clocks are off."))
    ) { $0.configuration.totp?.adjacentIntervals = intervals }.value
  }

  private func waiting(_ instance: Instance, for agent: Agent) async throws -> Approval {
    let approvals = instance.identity.approvals
    return try #require(
      try await approvals.waiting(visibleTo: agent.session.administrator).first)
  }

  private func window(_ instance: Instance) async throws -> Int? {
    try await instance.identity.policies.read(instance.acme).configuration.totp?.adjacentIntervals
  }

  @Test func `a weaker policy requires approval, and is then saved in the requester's name`()
    async throws
  {
    try await withInstance { instance in
      let pia = try await requirePolicyApproval(instance)
      let otto = try await instance.agent("otto", role: .owner)
      guard case .waiting = try await widen(instance, by: pia) else {
        throw Unexpected("the policy was changed")
      }
      #expect(try await window(instance) == 1)
      let approval = try await waiting(instance, for: otto)
      #expect((approval.kind, approval.cause, approval.users) == (.policy, .weakerPolicy, 1))
      #expect(try await instance.identity.approvals.count(for: otto.session.administrator) == 1)
      #expect(try await instance.identity.approvals.count(for: pia.session.administrator) == 0)
      guard case .policy(let new, _, let seen?) = approval.change else {
        throw Unexpected("no policy")
      }
      #expect(new.configuration.totp?.adjacentIntervals == 9)
      #expect(seen.configuration.totp?.adjacentIntervals == 1)
      await expect("ownRequest") {
        try await instance.identity.approvals.approve(
          approval.id, in: instance.acme, pia.request(nil))
      }
      let outcome = try await instance.identity.approvals.approve(
        approval.id, in: instance.acme, otto.request(nil)
      ).value
      guard case .policyChanged = outcome else { throw Unexpected("not changed") }
      #expect(try await window(instance) == 9)
      let rows = try await instance.log()
      #expect(
        rows.prefix(3).map(\.action) == [.approvalApprove, .policyWiden, .approvalAsk])
      #expect(rows[1].actorName == "pia" && rows[1].note == "Clocks are off.")
      #expect(rows[1].new(.approver) == .text("otto"))
    }
  }

  @Test func `a stricter policy, or one within the limit, requires no approval`() async throws {
    try await withInstance { instance in
      let pia = try await requirePolicyApproval(instance, over: 1)
      guard case .changed = try await widen(instance, by: pia) else {
        throw Unexpected("one affected user is not above one")
      }
      try await instance.setSupportRules { $0.policyApprovalOverUsers = 0 }
      guard case .changed = try await widen(instance, to: 2, by: pia) else {
        throw Unexpected("narrowing requires approval")
      }
    }
  }

  @Test func `a request that is rejected, withdrawn, or expired changes nothing`() async throws {
    try await withInstance { instance in
      let pia = try await requirePolicyApproval(instance)
      let otto = try await instance.agent("otto", role: .owner)
      let approvals = instance.identity.approvals
      _ = try await widen(instance, by: pia)
      await expect("approvalPending") { try await widen(instance, to: 3, by: pia) }
      try await approvals.refuse(
        try await waiting(instance, for: otto).id, in: instance.acme, answer: "No.",
        otto.request(nil))
      _ = try await widen(instance, by: pia)
      let second = try await waiting(instance, for: otto)
      await expect("othersRequest") {
        try await approvals.withdraw(second.id, in: instance.acme, otto.request(nil))
      }
      try await approvals.withdraw(second.id, in: instance.acme, pia.request(nil))
      _ = try await widen(instance, by: pia)
      instance.clock.advance(Approval.lifetime)
      try await instance.reauthenticate(pia.session)
      guard case .waiting = try await widen(instance, to: 3, by: pia) else {
        throw Unexpected("the policy was changed")
      }
      #expect(try await window(instance) == 1)
      let objects = try await instance.log().filter { $0.actionName.hasPrefix("approval.") }
      #expect(objects.allSatisfy { $0.objectKind == "policy" })
      #expect(objects.contains { $0.action == .approvalExpire })
    }
  }

  @Test func `a policy that changed after the request isn't overwritten`() async throws {
    try await withInstance { instance in
      let pia = try await requirePolicyApproval(instance)
      let otto = try await instance.agent("otto", role: .owner)
      _ = try await widen(instance, by: pia)
      try await instance.setWindow(0)
      let outcome = try await instance.identity.approvals.approve(
        try await waiting(instance, for: otto).id, in: instance.acme, otto.request(nil)
      ).value
      guard case .overtaken = outcome else { throw Unexpected("the policy was changed") }
      #expect(try await window(instance) == 0)
    }
  }

  @Test func `what was only proposed isn't one of the policy's versions`() async throws {
    try await withInstance { instance in
      let policies = instance.identity.policies
      _ = try await requirePolicyApproval(instance)
      let before = try await policies.read(instance.acme)
      let versions = try await policies.history(instance.acme).map(\.id)
      instance.clock.advance(86_400)
      let day = Day(instance.now)
      instance.clock.advance(86_400)
      let (pia, otto) = (
        try await instance.agent("pia-2", role: .policy),
        try await instance.agent("otto", role: .owner)
      )
      for decision in ["none", "rejected", "approved"] {
        _ = try? await widen(instance, by: pia)
        let approval = try await waiting(instance, for: otto)
        switch decision {
        case "rejected":
          try await instance.identity.approvals.refuse(
            approval.id, in: instance.acme, answer: "No.", otto.request(nil))
        case "approved":
          _ = try await instance.identity.approvals.approve(
            approval.id, in: instance.acme, otto.request(nil))
        default: break
        }
        let past = try await policies.compare(
          instance.acme, with: .day(day), visibleTo: otto.session.administrator)
        #expect(past.other.edit == before.edit, "\(decision)")
        let now = try await policies.history(instance.acme).map(\.id)
        #expect(now.suffix(versions.count) == versions[...])
        #expect(now.count == versions.count + (decision == "approved" ? 1 : 0), "\(decision)")
      }
    }
  }

  @Test func `a request of a clock that was ahead is over once the clock is set back`() async throws
  {
    try await withInstance { instance in
      _ = try await requirePolicyApproval(instance)
      let approvals = instance.identity.approvals
      instance.clock.advance(10 * 86_400)
      _ = try await widen(instance, by: try await instance.agent("pia-2", role: .policy))
      let ahead = try await waiting(instance, for: try await instance.agent("p", role: .owner))
      instance.clock.advance(-10 * 86_400)
      let otto = try await instance.agent("otto", role: .owner)
      #expect(try await approvals.count(for: otto.session.administrator) == 0)
      #expect(try await approvals.find(ahead.id, in: instance.acme).state == .expired)
      await expect("decided") {
        try await approvals.approve(ahead.id, in: instance.acme, otto.request(nil))
      }
      // It doesn't keep others from asking.
      guard
        case .waiting = try await widen(
          instance, by: try await instance.agent("pia-3", role: .policy))
      else { throw Unexpected("the policy was changed") }
    }
  }

  @Test func `support agents neither see nor decide policy requests`() async throws {
    try await withInstance { instance in
      let pia = try await requirePolicyApproval(instance)
      let (dora, paul) = (
        try await instance.agent("dora"), try await instance.agent("paul", role: .policy)
      )
      let approvals = instance.identity.approvals
      _ = try await widen(instance, by: pia)
      let id = try await waiting(instance, for: paul).id
      #expect(try await approvals.waiting(visibleTo: dora.session.administrator).isEmpty)
      await expect("notAllowed") {
        try await approvals.approve(id, in: instance.acme, dora.request(nil))
      }
      await expect("notAllowed") {
        try await approvals.refuse(id, in: instance.acme, answer: "No.", dora.request(nil))
      }
    }
  }

  @Test func `a policy admin can tighten the approval rule, but only an owner can loosen it`()
    async throws
  {
    try await withInstance { instance in
      let pia = try await requirePolicyApproval(instance, over: 10)
      let otto = try await instance.agent("otto", role: .owner)
      @Sendable func set(_ limit: Int?, by agent: Agent) async throws {
        var settings = try await instance.identity.support.settings(instance.acme)
        settings.policyApprovalOverUsers = limit
        _ = try await instance.identity.support.change(
          instance.acme, to: settings, by: .console(agent.request(nil)))
      }
      try await set(5, by: pia)
      await expect("ownerRequired") { try await set(6, by: pia) }
      await expect("ownerRequired") { try await set(nil, by: pia) }
      try await set(nil, by: otto)
    }
  }

  @Test func `changes over REST require no approval`() async throws {
    try await withInstance { instance in
      _ = try await requirePolicyApproval(instance)
      try await instance.setWindow(9)
      #expect(try await window(instance) == 9)
    }
  }

  @Test func `pending requests of a deleted project end in the audit log, also of its tenants`()
    async throws
  {
    try await withInstance { instance in
      let (acme, east) = (instance.acme, instance.east)
      let pia = try await requirePolicyApproval(instance)
      _ = try await widen(instance, by: pia)
      try await instance.setSupportRules(in: east) { $0.approvalOverUsers = 0 }
      try await instance.setSupportRules(in: instance.globex) { $0.approvalOverUsers = 0 }
      let dora = try await instance.agent()
      for pool in [east, instance.globex] {
        try await instance.addUsers(1, in: pool)
        let job = try await instance.draft("u0", by: dora, in: pool)
        try await instance.begin(job, by: dora, in: pool)
      }
      try await instance.identity.pools.delete(project: acme.project, by: .program(Instance.boss))
      let rows = try await instance.wholeLog().filter { $0.action == .approvalOvertake }
      #expect(Set(rows.map(\.tenant)) == [nil, east.tenant] && rows.count == 2)
      for row in rows {
        #expect(row.actorKind == "server" && row.project == acme.project)
        #expect(row.new(.outcome) == .code("pool-deleted"))
      }
      for name in ["pia", "Dora Support"] {
        #expect(rows.contains { $0.new(.requester) == .text(name) })
      }
      // Those of other projects are still pending.
      let owner = try await instance.agent("olivia", role: .owner).session.administrator
      let left = try await instance.identity.approvals.waiting(visibleTo: owner)
      #expect(left.map(\.pool.key) == [instance.globex.key])
    }
  }

  @Test func `a request that expired before its pool was deleted ends as expired`() async throws {
    try await withInstance { instance in
      let pia = try await requirePolicyApproval(instance)
      _ = try await widen(instance, by: pia)
      instance.clock.advance(Approval.lifetime)
      try await instance.identity.pools.delete(
        project: instance.acme.project, by: .program(Instance.boss))
      let actions = try await instance.wholeLog().map(\.action)
      #expect(actions.contains(.approvalExpire) && !actions.contains(.approvalOvertake))
    }
  }
}
