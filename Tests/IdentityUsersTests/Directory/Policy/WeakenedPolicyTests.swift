import Database
@testable import Identity
import Testing

@testable import TestIdentity

struct WeakenedPolicyTests {
  /// Returns the windows of the pools listed under “Needs attention” for a weaker policy.
  private func listed(_ instance: Instance) async throws -> [Int] {
    let owner = Administrator(
      id: ID("y"), email: "y@example.com", displayName: "Y", grants: [Grant(role: .owner)])
    return try await instance.identity.pools.warnings(visibleTo: owner, limit: 10).compactMap {
      guard case .weakened(let weakened) = $0.reason else { return nil }
      for case .widerWindow(_, let intervals) in weakened.weakenings { return intervals }
      return nil
    }
  }

  @Test func `a wider window has its own audit action, and is listed until it is narrowed again`()
    async throws
  {
    try await withInstance { instance in
      let policies = instance.identity.policies
      try await instance.setWindow(1)
      #expect(try await policies.prerequisites(instance.acme).weakened == nil)
      instance.clock.advance(60)
      try await instance.setWindow(3)
      let rows = try await instance.log()
      #expect(rows.first?.action == .policyWiden)
      #expect(rows.first?.old(.adjacentIntervals) == .number(1))
      #expect(rows.first?.new(.adjacentIntervals) == .number(3))
      let weakened = try #require(try await policies.prerequisites(instance.acme).weakened)
      #expect(weakened.weakenings == [.widerWindow(from: 1, to: 3)])
      #expect(weakened.at == instance.now && weakened.by == "Bo the boss")
      #expect(try await listed(instance) == [3])
      try await instance.setWindow(2)
      #expect(try await listed(instance) == [2], "it is still wider than it was")
      try await instance.setWindow(1)
      #expect(try await policies.prerequisites(instance.acme).weakened == nil)
      #expect(try await listed(instance) == [])
    }
  }

  @Test func `unsetting fewer than five adjacent intervals widens the window`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(4)
      try await instance.setWindow(nil)
      #expect(try await instance.log().first?.action == .policyWiden)
      #expect(try await listed(instance) == [5])
      try await instance.setWindow(5)
      #expect(try await instance.log().first?.action == .policyChange)
    }
  }

  @Test func `what is known of a weaker policy is deleted with its tenant`() async throws {
    try await withInstance { instance in
      for pool in [instance.east, instance.west] {
        try await instance.setWindow(1, in: pool)
        try await instance.setWindow(3, in: pool)
      }
      #expect(try await instance.count("policy_weakening") == 2)
      try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: instance.east.tenant,
        by: .program(Instance.boss))
      while try await instance.identity.purge() {}
      #expect(try await instance.count("policy_weakening") == 1)
    }
  }

  @Test func `a window widened while TOTP is off is recorded too`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(0)
      for intervals in [0, 10] {
        _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss))
        {
          $0.configuration.totp = TOTPConfiguration(state: .disabled, adjacentIntervals: intervals)
        }
      }
      #expect(try await instance.log().first?.action == .policyWiden)
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp = nil
      }
      #expect(try await listed(instance) == [], "without an entry no code is accepted")
    }
  }

  @Test func `a widening is listed for 30 days, to administrators who can see the pool`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(1)
      try await instance.setWindow(2)
      let globex = Administrator(
        id: ID("x"), email: "x@example.com", displayName: "X",
        grants: [Grant(role: .policy, project: instance.globex.project)])
      let pools = instance.identity.pools
      #expect(try await pools.warnings(visibleTo: globex, limit: 10).isEmpty)
      instance.clock.advance(30 * 86_400 - 1)
      #expect(try await listed(instance) == [2])
      instance.clock.advance(2)
      #expect(try await listed(instance) == [])
    }
  }

  @Test func `any weakening is listed until the policy is as strict again`() async throws {
    try await withInstance { instance in
      let policies = instance.identity.policies
      func change(_ edit: @escaping @Sendable (inout PolicyEdit) -> Void) async throws {
        _ = try await policies.change(instance.acme, by: .program(Instance.boss)) { edit(&$0) }
      }
      try await change {
        $0.configuration.totp = TOTPConfiguration(state: .mandatory, adjacentIntervals: 1)
        $0.pattern = .mandatory
      }
      #expect(try await policies.prerequisites(instance.acme).weakened == nil)
      try await change { $0.configuration.totp?.state = .disabled }
      try await change { $0.pattern = .account }
      let both = try #require(try await policies.prerequisites(instance.acme).weakened)
      #expect(
        both.weakenings
          == [.factorDisabled(.totp), .looserPattern(from: .mandatory, to: .account)])
      try await change { $0.configuration.totp?.state = .mandatory }
      let one = try #require(try await policies.prerequisites(instance.acme).weakened)
      #expect(one.weakenings == [.looserPattern(from: .mandatory, to: .account)])
      try await change { $0.pattern = .mandatory }
      #expect(try await policies.prerequisites(instance.acme).weakened == nil)
    }
  }

  @Test func `owners get an email with what changed and why, except the owner who changed it`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      try await instance.setWindow(1)
      let (pia, otto) = (
        try await instance.agent("pia", role: .policy),
        try await instance.agent("otto", role: .owner)
      )
      _ = try await instance.agent("zoe", role: .owner, project: instance.globex.project)
      func widen(to intervals: Int, by agent: Agent) async throws {
        let version = try await instance.identity.policies.read(instance.acme).version
        _ = try await instance.identity.policies.change(
          instance.acme, expecting: version,
          by: .console(agent.request(nil, note: "Clocks at evil.example"))
        ) { $0.configuration.totp?.adjacentIntervals = intervals }
      }
      try await widen(to: 3, by: pia)
      let sent = try await instance.messages()
      #expect(sent == ["mail notice-policy-weakened otto@desk.example.com"])
      let text = try #require(try await instance.mails("notice-policy-weakened").first)
      #expect(text.body.contains("Adjacent intervals: 1 → 3"))
      #expect(
        text.body.contains("Reason: Clocks at evil example"), "links in a reason are broken up")
      // Only one email per minute is sent, so that a script can't flood an inbox.
      try await widen(to: 4, by: pia)
      #expect(try await instance.messages().count == 1)
      instance.clock.advance(60)
      try await widen(to: 5, by: otto)
      #expect(
        try await instance.messages().count == 1, "owners are not notified of their own change")
    }
  }

  @Test func `an email by a clock that was ahead doesn't silence later ones`() async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.agent("otto", role: .owner)
      try await instance.setWindow(1)
      instance.clock.advance(86_400)
      try await instance.setWindow(3)
      let ahead = try #require(
        try await instance.identity.policies.prerequisites(instance.acme).weakened)
      instance.clock.advance(-86_400 + 60)
      try await instance.setWindow(5)
      let weakened = try #require(
        try await instance.identity.policies.prerequisites(instance.acme).weakened)
      #expect(ahead.at > instance.now && weakened.at == instance.now)
      #expect(try await instance.mails("notice-policy-weakened").count == 2)
    }
  }

  @Test func `without a mail server, no messages to owners are queued`() async throws {
    try await withInstance { instance in
      _ = try await instance.agent("otto", role: .owner)
      try await instance.setWindow(1)
      try await instance.setWindow(9)
      #expect(try await instance.messages().isEmpty)
    }
  }

  @Test func `weakening a policy requires a reason, shown in the audit log and the review`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(1)
      let pia = try await instance.agent("pia", role: .policy)
      let policies = instance.identity.policies
      let version = try await policies.read(instance.acme).version
      @Sendable func widen(_ reason: String) async throws {
        _ = try await policies.change(
          instance.acme, expecting: version, by: .console(pia.request(nil, note: reason))
        ) { $0.configuration.totp?.adjacentIntervals = 2 }
      }
      await expect("writtenReasonRequired") { try await widen("") }
      #expect(try await policies.read(instance.acme).version == version)
      try await widen("Travelers have skewed clocks.")
      let rows = try await instance.log()
      let row = try #require(rows.first)
      #expect(row.action == .policyWiden && row.note == "Travelers have skewed clocks.")
      let policy = try await policies.read(instance.acme)
      #expect(policy.changeReason == "Travelers have skewed clocks.")
      #expect(
        try await policies.prerequisites(instance.acme).weakened?.reason
          == "Travelers have skewed clocks."
      )
      try await instance.setWindow(1)
      #expect(try await policies.read(instance.acme).changeReason == nil)
    }
  }
}
