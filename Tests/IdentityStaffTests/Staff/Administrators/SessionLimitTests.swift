import Crypto
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// The limits of administrators' sessions, which owners set.
struct SessionLimitTests {
  private func set(
    _ instance: Instance, idle: Int, hours: Int, by owner: Agent
  ) async throws -> Bool {
    try await instance.identity.consoleSessions.setLimits(
      SessionLimits(idleMinutes: idle, hours: hours), owner.request(nil)
    ).value
  }

  private func isOpen(_ instance: Instance, _ new: NewConsoleSession) async throws -> Bool {
    try await instance.identity.consoleSessions.find(token: new.token.revealedText) != nil
  }

  @Test func `C3: sessions last an hour without use and 12 hours unless owners change it`()
    async throws
  {
    try await withInstance { instance in
      let limits = try await instance.identity.consoleSessions.limits()
      #expect(limits.idleMinutes == 60 && limits.hours == 12)
      let nora = try await instance.administrator("nora", .auditor)
      let new = try await instance.giveConsolePassword(nora).session
      #expect(new.session.idleUntil == instance.now.advanced(bySeconds: 3_600))
      #expect(new.session.expiresAt == instance.now.advanced(bySeconds: 12 * 3_600))
    }
  }

  @Test func `C3: new limits apply to open sessions immediately`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let nora = try await instance.administrator("nora", .auditor)
      let new = try await instance.giveConsolePassword(nora).session
      instance.clock.advance(10 * 60)
      #expect(try await isOpen(instance, new))
      instance.clock.advance(4 * 60)
      #expect(try await set(instance, idle: 5, hours: 1, by: owner))
      let found = try await instance.identity.consoleSessions.find(
        token: new.token.revealedText)
      #expect(found?.idleUntil == instance.now.advanced(bySeconds: 5 * 60))
      #expect(found?.expiresAt == new.session.startedAt.advanced(bySeconds: 3_600))
      instance.clock.advance(5 * 60)
      #expect(try await !isOpen(instance, new))
      #expect(try await instance.identity.consoleSessions.list(of: nora.id).isEmpty)
    }
  }

  @Test func `C3: use doesn't extend a session beyond its lifetime`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await set(instance, idle: 60, hours: 1, by: owner)
      let new = try await instance.giveConsolePassword(
        try await instance.administrator("nora", .auditor)
      ).session
      for _ in 0..<5 {
        instance.clock.advance(11 * 60)
        #expect(try await isOpen(instance, new))
      }
      instance.clock.advance(5 * 60)
      #expect(try await !isOpen(instance, new))
    }
  }

  @Test func `longer limits don't reopen sessions that have ended`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let nora = try await instance.administrator("nora", .auditor)
      let early = try await instance.giveConsolePassword(nora).session
      _ = try await set(instance, idle: 5, hours: 12, by: owner)
      instance.clock.advance(301)
      #expect(try await !isOpen(instance, early))
      let again = try await instance.agent("olga", role: .owner)
      _ = try await set(instance, idle: 60, hours: 24, by: again)
      #expect(try await !isOpen(instance, early))
      #expect(try await isOpen(instance, try await instance.giveConsolePassword(nora).session))
    }
  }

  @Test(arguments: [
    (4, 12, "idle"), (61, 12, "idle"), (-5, 12, "idle"), (Int.max, Int.max, "idle"),
    (60, 0, "hours"), (60, 25, "hours"),
  ])
  func `C3: limits beyond an hour without use or a day are refused`(
    idle: Int, hours: Int, wrong: String
  ) async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      await expect("\(wrong)OutOfRange") {
        _ = try await set(instance, idle: idle, hours: hours, by: owner)
      }
      #expect(try await instance.identity.consoleSessions.limits() == .standard)
    }
  }

  @Test func `changing the limits requires an owner who re-authenticated, and is recorded`()
    async throws
  {
    try await withInstance { instance in
      let auditor = try await instance.agent("nora", role: .auditor)
      await expect("notAllowed") {
        _ = try await set(instance, idle: 30, hours: 8, by: auditor)
      }
      let owner = try await instance.agentWithDevice("olga", role: .owner)
      instance.clock.advance(16 * 60)
      await expect("codeRequired") {
        _ = try await set(instance, idle: 30, hours: 8, by: owner)
      }
      let request = owner.request(nil, code: try #require(owner.device).code(at: instance.now))
      let sessions = instance.identity.consoleSessions
      let changed = try await sessions.setLimits(
        SessionLimits(idleMinutes: 30, hours: 8), request)
      #expect(changed.value)
      let row = try #require(
        try await instance.wholeLog().first { $0.action == .instanceChangeSessionLimits })
      #expect(row.old(.sessionIdleLimit) == .duration(3_600))
      #expect(row.new(.sessionIdleLimit) == .duration(1_800))
      #expect(row.old(.sessionLifetime) == .duration(43_200))
      #expect(row.new(.sessionLifetime) == .duration(28_800))
      let renewed = try #require(changed.renewed)
      let same = try await sessions.setLimits(
        SessionLimits(idleMinutes: 30, hours: 8), Agent(session: renewed.session).request(nil))
      #expect(!same.value)
    }
  }

  @Test func `C1: owners can require a second factor of every role from the first sign-in on`()
    async throws
  {
    try await withInstance { (instance: Instance) async throws in
      let owner = try await instance.agentWithDevice("olga", role: .owner)
      let nora = try await instance.administrator("nora", .auditor)
      let open = try await instance.giveConsolePassword(nora).session
      #expect(open.session.secondFactor == .optional)
      let limits = SessionLimits(idleMinutes: 60, hours: 12, requiresSecondFactor: true)
      let sessions = instance.identity.consoleSessions
      #expect(try await sessions.setLimits(limits, owner.request(nil)).value)
      #expect(try await sessions.limits() == limits)
      let row = try #require(
        try await instance.wholeLog().first { $0.action == .instanceChangeSessionLimits })
      #expect(row.old(.secondFactorRequired) == .flag(false))
      #expect(row.new(.secondFactorRequired) == .flag(true))
      // It applies to open sessions, and to first sign-ins in every role.
      let found = try await sessions.find(token: open.token.revealedText)
      #expect(found?.secondFactor == .due)
      for role in Role.allCases {
        let administrator = try await instance.administrator("\(role)", role)
        let first = try await instance.giveConsolePassword(administrator).session
        #expect(first.session.secondFactor == .due)
      }
      let device = try await instance.enroll(nora)
      let session = try await instance.signIn(device).session
      #expect(session.secondFactor == .enrolled && session.mustHaveSecondFactor)
      instance.clock.advance(30)
      await expect("mandatory") {
        try await instance.identity.administratorFactors.withdraw(
          from: nora, currentCode: TypedCode(device.code(at: instance.now)),
          by: instance.author(nora))
      }
      #expect(try await sessions.setLimits(.standard, owner.request(nil)).value)
      #expect(try await sessions.find(token: open.token.revealedText) == nil)
      let eve = try await instance.administrator("eve", .auditor)
      let last = try await instance.giveConsolePassword(eve).session
      #expect(last.session.secondFactor == .optional)
    }
  }

  @Test func `owners end the sessions of others, one or all, but not their own`() async throws {
    try await withInstance { instance in
      let sessions = instance.identity.consoleSessions
      let owner = try await instance.agent("olga", role: .owner)
      let nora = try await instance.administrator("nora", .auditor)
      let one = try await instance.giveConsolePassword(nora).session
      let two = try await instance.giveConsolePassword(nora).session
      let three = try await instance.giveConsolePassword(nora).session
      let request = owner.request(nil)
      #expect(try await sessions.end(one.session.id, of: nora.id, request).value == 1)
      #expect(try await !isOpen(instance, one))
      #expect(try await isOpen(instance, two))
      #expect(try await sessions.end("", of: nora.id, request).value == 0)
      #expect(try await sessions.end(nil, of: nora.id, request).value == 2)
      #expect(try await !isOpen(instance, three))
      await expect("oneself") {
        _ = try await sessions.end(nil, of: owner.administrator.id, request)
      }
      let auditor = try await instance.agent("iris", role: .auditor)
      await expect("notAllowed") {
        _ = try await sessions.end(nil, of: nora.id, auditor.request(nil))
      }
    }
  }
}
