import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

/// Tests that loosening the controls on support requires re-authentication, as acting does.
struct LooseningTests {
  /// Performs an action without a code, with a wrong one, and with a correct one, 15 minutes after
  /// the agent's last code.
  private func check<Value>(
    _ instance: Instance, _ agent: Agent, row: AuditAction,
    _ body: @Sendable (ActionRequest) async throws -> ActionOutcome<Value>
  ) async throws {
    let own = try #require(agent.device)
    instance.clock.advance(900)
    await expect("codeRequired") { try await body(agent.request(nil)) }
    let wrong = try own.wrongCode(at: instance.now)
    await expect("wrongCode") { try await body(agent.request(nil, code: wrong)) }
    let code = try own.code(at: instance.now)
    let outcome = try await body(agent.request(nil, code: code))
    let renewed = try #require(outcome.renewed)
    #expect(renewed.session.id == agent.session.id)
    let found = try await instance.identity.consoleSessions.find(
      token: renewed.token.revealedText)
    #expect(found?.id == renewed.session.id)
    #expect(try await instance.isReplaced(agent.session, by: renewed.session))
    let actions = try await instance.wholeLog().prefix(3).map(\.action)
    #expect(actions == [row, .administratorStepUp, .administratorCodeRefused])
  }

  @Test func `changing support rules requires re-authentication`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agentWithDevice("pia", role: .policy)
      let support = instance.identity.support
      var settings = SupportRules()
      settings.undoHours = 1
      let new = settings
      // The code from the sign-in is still recent.
      _ = try await support.change(instance.acme, to: new, by: .console(agent.request(nil)))
      settings.undoHours = 2
      let next = settings
      try await check(instance, agent, row: .supportChange) {
        try await support.change(instance.acme, to: next, by: .console($0))
      }
      #expect(try await support.settings(instance.acme).undoHours == 2)
    }
  }

  @Test func `an unchanged form requires no code, and all errors are reported at once`()
    async throws
  {
    try await withInstance { instance in
      let agent = try await instance.agentWithDevice("pia", role: .policy)
      let support = instance.identity.support
      instance.clock.advance(900)
      let same = try await support.change(
        instance.acme, to: SupportRules(), by: .console(agent.request(nil)))
      #expect(!same.value && same.renewed == nil)
      var settings = SupportRules()
      settings.codeCap = 4
      settings.codeAttemptDays = 0
      settings.approvalOverUsers = -1
      let wrong = settings
      await expect("outOfRange+outOfRange+outOfRange+codeRequired") {
        try await support.change(instance.acme, to: wrong, by: .console(agent.request(nil)))
      }
      let code = try #require(agent.device).code(at: instance.now)
      await expect("outOfRange+outOfRange+outOfRange+codeNotLookedAt") {
        try await support.change(
          instance.acme, to: wrong, by: .console(agent.request(nil, code: code)))
      }
      settings = SupportRules()
      settings.codeCap = 20
      #expect(
        try await support.change(
          instance.acme, to: settings, by: .console(agent.request(nil, code: code))
        ).value)
    }
  }

  @Test func `changing the re-authentication interval requires re-authentication`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agentWithDevice("olga", role: .owner)
      let support = instance.identity.support
      for wrong in [0, 241, .max, .min] {
        await expect("outOfRange") {
          try await support.setStepUp(minutes: wrong, by: .console(agent.request(nil)))
        }
      }
      try await check(instance, agent, row: .supportStepUp) {
        try await support.setStepUp(minutes: 240, by: .console($0))
      }
      #expect(try await support.stepUpMinutes() == 240)
    }
  }

  @Test func `unblocking an agent requires re-authentication`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agentWithDevice("olga", role: .owner)
      let dora = try await instance.agent()
      let (support, id) = (instance.identity.support, dora.administrator.id)
      try await instance.block(dora)
      #expect(try await support.held(id, in: instance.acme)?.name == "Dora Support")
      try await check(instance, owner, row: .supportRelease) {
        try await support.unblock(id, in: instance.acme, by: .console($0))
      }
      #expect(try await support.held(id, in: instance.acme) == nil)
      let again = try await support.unblock(id, in: instance.acme, by: .console(owner.request(nil)))
      #expect(!again.value && again.renewed == nil)
    }
  }

  @Test func `rejecting a request requires re-authentication`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(1)
      try await instance.setSupportRules { $0.approvalOverUsers = 0 }
      let dora = try await instance.agent()
      let job = try await instance.draft("u0", by: dora)
      try await instance.begin(job, by: dora)
      let approvals = instance.identity.approvals
      let id = try #require(try await approvals.find(forJob: job, in: instance.acme)).id
      let dev = try await instance.agentWithDevice()
      instance.clock.advance(900)
      await expect("answerRequired+codeRequired") {
        try await approvals.refuse(id, in: instance.acme, answer: " ", dev.request(nil))
      }
      let code = try #require(dev.device).code(at: instance.now)
      await expect("answerTooLong+codeNotLookedAt") {
        try await approvals.refuse(
          id, in: instance.acme, answer: String(repeating: "x", count: 501),
          dev.request(nil, code: code))
      }
      try await check(instance, dev, row: .approvalRefuse) {
        try await approvals.refuse(id, in: instance.acme, answer: "No.", $0)
      }
    }
  }

  @Test func `the current grants decide, and the administrator needs a second factor`()
    async throws
  {
    try await withInstance { instance in
      let support = instance.identity.support
      let (dora, olga) = (
        try await instance.agent(), try await instance.agent("olga", role: .owner)
      )
      try await instance.block(dora)
      let id = dora.administrator.id
      var settings = SupportRules()
      settings.undoHours = 1
      let new = settings
      for agent in [dora, try await instance.agent("audrey", role: .auditor)] {
        await expect("notAllowed") {
          try await support.change(instance.acme, to: new, by: .console(agent.request(nil)))
        }
        await expect("notAllowed") {
          try await support.setStepUp(minutes: 5, by: .console(agent.request(nil)))
        }
        await expect("notAllowed") {
          try await support.unblock(id, in: instance.acme, by: .console(agent.request(nil)))
        }
      }
      instance.clock.advance(900)
      await expect("noSecondFactor") {
        try await support.change(
          instance.acme, to: new, by: .console(olga.request(nil, code: "123456")))
      }
      await expect("noSecondFactor") {
        try await support.setStepUp(minutes: 5, by: .console(olga.request(nil)))
      }
      await expect("noSecondFactor") {
        try await support.unblock(id, in: instance.acme, by: .console(olga.request(nil)))
      }
    }
  }
}
