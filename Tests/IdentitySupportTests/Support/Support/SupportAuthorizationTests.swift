import Crypto
import Database
import Identity
import OTP
import Testing

@testable import TestIdentity

/// Tests the checks before every support action, by the example of removing a factor.
struct SupportGateTests {
  private func remove(
    _ instance: Instance, _ device: Device, _ request: ActionRequest, in pool: Pool? = nil
  ) async throws -> ActionOutcome<RemovalOutcome> {
    try await instance.identity.factorRemovals.remove(
      pool ?? instance.acme, device.account.id, device.factor, request)
  }

  private func settings(
    _ instance: Instance, _ change: (inout SupportRules) -> Void
  ) async throws {
    var settings = SupportRules()
    change(&settings)
    _ = try await instance.identity.support.change(
      instance.acme, to: settings, by: .program(Instance.boss))
  }

  private func factors(_ instance: Instance, _ device: Device) async throws -> Int {
    try await instance.reload(device.account).factors.count
  }

  @Test func `an action requires a reason, and the reason "other" requires a note`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      await expect("reasonRequired") { try await remove(instance, device, agent.request(nil)) }
      await expect("noteRequired") { try await remove(instance, device, agent.request(.other)) }
      await expect("noteRequired") {
        try await remove(instance, device, agent.request(.other, note: " \n"))
      }
      let long = String(repeating: "x", count: ActionRequest.longestNote + 1)
      await expect("noteTooLong") {
        try await remove(instance, device, agent.request(note: long))
      }
      await expect("ticketTooLong") {
        try await remove(instance, device, agent.request(ticket: "T-1\nT-2"))
      }
      #expect(try await factors(instance, device) == 1)
      _ = try await remove(instance, device, agent.request(.other, note: "told so", ticket: "T-1"))
      let row = try #require(try await instance.log().first)
      #expect((row.reason, row.note) == ("other", "told so"))
      #expect(row.ticket == "T-1")
      #expect(row.proof == nil)
    }
  }

  @Test func `L1: every identity check must be confirmed, and is recorded in the audit log`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      try await settings(instance) { $0.identityProof = ["called back", " ", "knows the invoice"] }
      let lines = try await instance.identity.support.settings(instance.acme).identityProof
      #expect(lines == ["called back", "knows the invoice"])
      await expect("proofMissing") { try await remove(instance, device, agent.request()) }
      await expect("proofMissing") {
        try await remove(instance, device, agent.request(proofs: ["called back", "knows a thing"]))
      }
      #expect(try await factors(instance, device) == 1)
      _ = try await remove(instance, device, agent.request(proofs: Set(lines)))
      #expect(try await instance.log().first?.proof == "called back\nknows the invoice")
    }
  }

  @Test func `an action requires re-authentication after 15 minutes`() async throws {
    try await withInstance { instance in
      let (alice, bob) = (
        try await instance.enrolled(.alice), try await instance.enrolled(.bob)
      )
      let agent = try await instance.agentWithDevice()
      let own = try #require(agent.device)
      _ = try await remove(instance, alice, agent.request())
      instance.clock.advance(15 * 60)
      let eligibility = try await instance.identity.support.eligibility(
        agent.session, on: bob.account, in: instance.acme)
      #expect(eligibility.asksForCode)
      await expect("codeRequired") { try await remove(instance, bob, agent.request()) }
      await expect("wrongCode") {
        try await remove(
          instance, bob, agent.request(code: try own.wrongCode(at: instance.now)))
      }
      #expect(try await factors(instance, bob) == 1)
      let code = try own.code(at: instance.now)
      let outcome = try await remove(instance, bob, agent.request(code: code))
      #expect(try await factors(instance, bob) == 0)
      let actions = try await instance.wholeLog().prefix(3).map(\.action)
      #expect(
        actions == [.factorRemove, .administratorStepUp, .administratorCodeRefused])

      // The session has a new token, and its ID.
      let renewed = try #require(outcome.renewed)
      #expect(renewed.session.id == agent.session.id)
      let found = try await instance.identity.consoleSessions.find(
        token: renewed.token.revealedText)
      #expect(found?.id == renewed.session.id)
      #expect(try await instance.isReplaced(agent.session, by: renewed.session))
      let eligibilityAfter = try await instance.identity.support.eligibility(
        renewed.session, on: bob.account, in: instance.acme)
      #expect(!eligibilityAfter.asksForCode)
    }
  }

  @Test func `re-authentication lasts for 15 minutes, and wrong codes are throttled`() async throws
  {
    try await withInstance { instance in
      let (alice, bob) = (
        try await instance.enrolled(.alice), try await instance.enrolled(.bob)
      )
      let agent = try await instance.agentWithDevice()
      let own = try #require(agent.device)
      instance.clock.advance(15 * 60)
      let code = try own.code(at: instance.now)
      let outcome = try await remove(instance, alice, agent.request(code: code))
      var again = agent.request(code: code)
      again.agent = try #require(outcome.renewed).session
      instance.clock.advance(1)
      // No code is required within 15 minutes, so the one given isn't checked.
      _ = try await remove(instance, bob, again)

      let mallory = try await instance.enrolled(.mallory)
      instance.clock.advance(20 * 60)
      let wrong = try own.wrongCode(at: instance.now)
      again.proof = .code(TypedCode(wrong))
      for _ in 0..<5 {
        let request = again
        await expect("wrongCode") { try await remove(instance, mallory, request) }
      }
      again.proof = .code(TypedCode(try own.code(at: instance.now)))
      let request = again
      await expect("throttled") { try await remove(instance, mallory, request) }
      #expect(try await factors(instance, mallory) == 1)
    }
  }

  @Test func `a failed action doesn't use up the agent's code`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let agent = try await instance.agentWithDevice()
      let own = try #require(agent.device)
      instance.clock.advance(15 * 60)
      let code = try own.code(at: instance.now)
      await expect("factorNotFound") {
        try await instance.identity.factorRemovals.remove(
          instance.acme, alice.account.id, ID("none"), agent.request(code: code))
      }
      let found = try await remove(instance, alice, agent.request(code: code))
      #expect(found.renewed != nil)
    }
  }

  @Test func `an agent can't act on an account with their own address`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let alice = try await instance.administrator("ALICE", .support)
      let session = try await instance.giveConsolePassword(alice).session.session
      try await instance.reauthenticate(session)
      let agent = Agent(session: session)
      await expect("ownAccount") { try await remove(instance, device, agent.request()) }
      let owner = try await instance.agent("somebody-else", role: .owner)
      _ = try await remove(instance, device, owner.request())
    }
  }

  @Test(arguments: ["first", "provider"])
  func `an agent can't act on an account whose initial or provider address is theirs`(which: String)
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      let own = "Dora@desk.example.com"
      if which == "first" {
        try await instance.setInitialEmail(own, of: device.account)
      } else {
        var change = AccountChange()
        change.link = ProviderLink(provider: "google.com", rawID: "g", email: own)
        try await instance.identity.accounts.update(
          instance.acme, device.account.id, change, by: Instance.boss)
      }
      await expect("ownAccount") { try await remove(instance, device, agent.request()) }
      let job = try await instance.draft("alice@example.com", by: agent)
      #expect(try await instance.results(instance.job(job, by: agent)) == ["own"])
      // They can't approve a bulk removal that includes it either.
      try await instance.setSupportRules { $0.approvalOverUsers = 0 }
      let erik = try await instance.agent("erik")
      let asked = try await instance.draft("alice@example.com", by: erik)
      try await instance.begin(asked, by: erik)
      let approval = try #require(
        try await instance.identity.approvals.find(forJob: asked, in: instance.acme))
      await expect("ownAccount") {
        try await instance.identity.approvals.approve(
          approval.id, in: instance.acme, agent.request(nil))
      }
    }
  }

  @Test func `revoking a role takes effect immediately`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      _ = try await instance.agent("olga", role: .owner)
      try await instance.identity.administrators.revoke(
        Grant(role: .support), from: agent.administrator.id,
        by: .program(Author(actor: .commandLine)))
      await expect("notAllowed") { try await remove(instance, device, agent.request()) }
      let elsewhere = try await instance.agent(
        "elsewhere", role: .support, project: instance.globex.project)
      await expect("notAllowed") { try await remove(instance, device, elsewhere.request()) }
    }
  }

  @Test func `an agent who hits the hourly action limit is blocked until an owner unblocks them`()
    async throws
  {
    try await withInstance { instance in
      try await settings(instance) { $0.actionsPerHour = 2 }
      let devices = [
        try await instance.enrolled(.alice), try await instance.enrolled(.bob),
        try await instance.enrolled(.mallory),
      ]
      let agent = try await instance.agent()
      _ = try await remove(instance, devices[0], agent.request())
      _ = try await remove(instance, devices[1], agent.request())
      await expect("held") { try await remove(instance, devices[2], agent.request()) }
      await expect("held") { try await remove(instance, devices[2], agent.request()) }
      let holds = try await instance.log().filter { $0.action == .supportHold }
      #expect(holds.map(\.actorKind) == ["server"])
      #expect(holds.first?.objectName == "Dora Support")

      // The block doesn't expire, and agents can't unblock themselves.
      instance.clock.advance(7_200)
      try await instance.reauthenticate(agent.session)
      await expect("held") { try await remove(instance, devices[2], agent.request()) }
      await expect("notAllowed") {
        try await instance.identity.support.unblock(
          agent.administrator.id, in: instance.acme, by: .program(agent.author))
      }
      let held = try await instance.identity.support.held()
      #expect(held.map(\.name) == ["Dora Support"])
      let own = try await instance.identity.support.held(agent.administrator.id)
      #expect(own.map(\.agent) == [agent.administrator.id])
      #expect(try await instance.identity.support.held(ID("someone-else")).isEmpty)
      #expect(held.first?.pool == instance.acme)

      // They aren't blocked in other pools.
      let globex = try await instance.enrolled(.alice, in: instance.globex)
      _ = try await remove(instance, globex, agent.request(), in: instance.globex)

      #expect(
        try await instance.identity.support.unblock(
          agent.administrator.id, in: instance.acme, by: .program(Instance.boss)
        ).value)
      #expect(try await instance.log().first?.action == .supportRelease)
      _ = try await remove(instance, devices[2], agent.request())
      #expect(try await instance.identity.support.held().isEmpty)
    }
  }

  @Test func `actions older than an hour don't count toward the limit`() async throws {
    try await withInstance { instance in
      try await settings(instance) { $0.actionsPerHour = 2 }
      let agent = try await instance.agent()
      let people = [Person.alice, .bob, .mallory]
      for person in people {
        let device = try await instance.enrolled(person)
        try await instance.reauthenticate(agent.session)
        _ = try await remove(instance, device, agent.request())
        instance.clock.advance(1_801)
      }
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.support.held().isEmpty)
    }
  }

  @Test func `V3: support rules outside their ranges are refused, and a change is audited`()
    async throws
  {
    try await withInstance { instance in
      let support = instance.identity.support
      #expect(try await support.settings(instance.acme) == SupportRules())
      let faults: [(inout SupportRules) -> Void] = [
        { $0.codeCap = 4 }, { $0.codeCap = 101 }, { $0.undoHours = -1 }, { $0.undoHours = 721 },
        { $0.codeAttemptDays = 0 }, { $0.codeAttemptDays = 401 }, { $0.actionsPerHour = 0 },
        { $0.actionsPerHour = 1_001 }, { $0.approvalOverUsers = -1 },
        { $0.identityProof = (0...SupportRules.mostProofs).map { "line \($0)" } },
        {
          $0.identityProof = [String(repeating: "x", count: SupportRules.longestProof + 1)]
        },
      ]
      for fault in faults {
        var settings = SupportRules()
        fault(&settings)
        let wrong = settings
        await expect("outOfRange") {
          try await support.change(instance.acme, to: wrong, by: .program(Instance.boss))
        }
      }
      var settings = SupportRules()
      settings.codeCap = 20
      settings.temporaryCodes = true
      settings.approvalOverUsers = 25
      #expect(
        try await support.change(instance.acme, to: settings, by: .program(Instance.boss)).value)
      #expect(try await support.settings(instance.acme) == settings)
      #expect(try await support.settings(instance.east) == SupportRules())
      let row = try #require(try await instance.log().first)
      #expect(row.action == .supportChange)
      #expect(row.fields == [.codeCap, .temporaryCodes, .approvalOver])
      #expect(
        row.changes == [
          AuditChange(.codeCap, from: .number(10), to: .number(20)),
          AuditChange(.temporaryCodes, from: .flag(false), to: .flag(true)),
          AuditChange(.approvalOver, from: .absent, to: .number(25)),
        ])
      let count = try await instance.log().count
      #expect(
        try await !support.change(instance.acme, to: settings, by: .program(Instance.boss)).value)
      #expect(try await instance.log().count == count)
    }
  }
}
