import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// Codes that a caller reads back to an agent.
struct CallerCodeTests {
  /// Enrolls Alice in a pool with a rule about callers.
  private func prepare(
    _ instance: Instance, _ rule: CallerVerification
  ) async throws -> (device: Device, agent: Agent) {
    try await instance.setSupportRules { $0.callerVerification = rule }
    return (try await instance.enrolled(.alice), try await instance.agent())
  }

  /// Sends a code to Alice and returns it from the email, as she reads it.
  private func send(
    _ instance: Instance, _ account: Account, by agent: Agent
  ) async throws -> String {
    let outcome = try await instance.identity.support.sendCallerCode(
      to: account.id, in: instance.acme, agent.request(nil))
    #expect(outcome.value == account.email)
    let mail = try #require(try await instance.mails("caller-code").last)
    let line = mail.body.split(separator: "\n").first { $0.count == 9 && $0.contains(" ") }
    return String(try #require(line))
  }

  /// Another code of eight digits.
  private func wrong(_ code: String) -> String {
    code.hasPrefix("0") ? "1000 0000" : "0000 0000"
  }

  private func endSessions(
    _ instance: Instance, _ account: Account, by agent: Agent, code: String
  ) async -> String {
    await outcome {
      try await instance.identity.support.endSessions(
        instance.acme, account.id, agent.request(callerCode: code))
    }
  }

  private func remove(
    _ instance: Instance, _ account: Account, by agent: Agent, code: String = ""
  ) async -> String {
    await outcome {
      try await instance.identity.factorRemovals.remove(
        instance.acme, account.id, nil, agent.request(callerCode: code))
    }
  }

  @Test func `a code from a clock that was ahead is of no use once it's set back`() async throws {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .offered)
      instance.clock.advance(86_400)
      try await instance.reauthenticate(agent.session)
      let code = try await send(instance, alice.account, by: agent)
      instance.clock.advance(-86_400)
      try await instance.reauthenticate(agent.session)
      let late = await remove(instance, alice.account, by: agent, code: code)
      #expect(late.contains("callerCode"))
    }
  }

  @Test func `a code is sent only where the pool offers it, to a verified address`() async throws {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .off)
      let bob = try await instance.account(.bob, isVerified: false)
      let support = instance.identity.support
      func send(to id: ID<Account>) async -> String {
        await outcome {
          try await support.sendCallerCode(to: id, in: instance.acme, agent.request(nil))
        }
      }
      let off = await send(to: alice.account.id)
      try await instance.setSupportRules { $0.callerVerification = .offered }
      let unverified = await send(to: bob.id)
      let offered = await send(to: alice.account.id)
      #expect([off, unverified, offered] == ["switchedOff", "callerUnverifiable", "done"])
      let mails = try await instance.mails("caller-code").map(\.recipient)
      #expect(mails == ["alice@example.com"])
    }
  }

  @Test func `the email says who asks, and warns of those whom the user didn't call`()
    async throws
  {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .offered)
      _ = try await send(instance, alice.account, by: agent)
      let mail = try #require(try await instance.mails("caller-code").last)
      #expect(mail.body.contains("Dora Support") && mail.body.contains("alice@example.com"))
      #expect(mail.body.contains("Don't read it to anyone you didn't call"))
    }
  }

  @Test func `an action without a required code is denied, and one with the code records it`()
    async throws
  {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .required)
      let missing = await remove(instance, alice.account, by: agent)
      let unsent = await remove(instance, alice.account, by: agent, code: "1234 5678")
      let code = try await send(instance, alice.account, by: agent)
      let done = await remove(instance, alice.account, by: agent, code: code)
      #expect([missing, unsent, done] == ["callerCodeRequired", "callerCodeExpired", "done"])
      let row = try #require(try await instance.log().first { $0.action == .factorRemoveAll })
      #expect(row.new(.callerVerification) == .code("email-code"))
    }
  }

  @Test func `each wrong code of a caller is in the audit log with the number of tries`()
    async throws
  {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .offered)
      let wrong = wrong(try await send(instance, alice.account, by: agent))
      for _ in 0..<6 { _ = await endSessions(instance, alice.account, by: agent, code: wrong) }
      let rows = try await instance.log().filter { $0.action == .accountRefuseCallerCode }
      let tries = rows.reversed().map { $0.new(.wrongCodes) }
      // The sixth isn't compared with anything: the code is invalid after five.
      #expect(tries == (1...5).map { .number($0) })
      let row = try #require(rows.first)
      #expect(row.objectID == alice.account.id.text && row.actorName == "Dora Support")
    }
  }

  @Test func `actions that only protect an account never wait for a caller`() async throws {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .required)
      let ended = await endSessions(instance, alice.account, by: agent, code: "")
      let until = instance.now.advanced(bySeconds: 86_400)
      let suspended = await outcome {
        try await instance.identity.support.suspend(
          instance.acme, alice.account.id, alice.factor, until: until, agent.request(.stolen))
      }
      #expect([ended, suspended] == ["done", "done"])
      let row = try #require(try await instance.log().first)
      #expect(row.new(.callerVerification) == nil)
    }
  }

  @Test func `an earlier end of a suspension requires the caller, as ending it does`() async throws
  {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .required)
      func suspend(days: Int64, code: String = "", by agent: Agent) async -> String {
        let until = instance.now.advanced(bySeconds: days * 86_400)
        return await outcome {
          try await instance.identity.support.suspend(
            instance.acme, alice.account.id, alice.factor, until: until,
            agent.request(.stolen, callerCode: code))
        }
      }
      let first = await suspend(days: 20, by: agent)
      let longer = await suspend(days: 21, by: agent)
      let shorter = await suspend(days: 1, by: agent)
      let kept = try await instance.reload(alice.account).factors.first?.suspendedUntil
      #expect([first, longer, shorter] == ["done", "done", "callerCodeRequired"])
      #expect(kept == instance.now.advanced(bySeconds: 21 * 86_400))
      let code = try await send(instance, alice.account, by: agent)
      let verified = await suspend(days: 1, code: code, by: agent)
      #expect(verified == "done")
      // Once the suspension is over, any new one only protects the account.
      instance.clock.advance(86_400)
      let again = await suspend(days: 1, by: try await instance.agent())
      #expect(again == "done")
    }
  }

  @Test func `K4: a code works once, for one agent, one user, and ten minutes`() async throws {
    try await withInstance { instance in
      let (alice, dora) = try await prepare(instance, .offered)
      let omar = try await instance.agent("omar")
      let bob = try await instance.enrolled(.bob)
      let code = try await send(instance, alice.account, by: dora)
      let other = await endSessions(instance, alice.account, by: omar, code: code)
      let unsent = await endSessions(instance, bob.account, by: dora, code: code)
      let own = try await send(instance, bob.account, by: dora)
      let foreign = await endSessions(instance, bob.account, by: dora, code: code)
      let bobs = await endSessions(instance, bob.account, by: dora, code: own)
      #expect([unsent, foreign, bobs] == ["callerCodeExpired", "callerCodeWrong", "done"])
      let first = await endSessions(instance, alice.account, by: dora, code: code)
      let second = await endSessions(instance, alice.account, by: dora, code: code)
      let late = try await send(instance, alice.account, by: dora)
      instance.clock.advance(600)
      let expired = await endSessions(instance, alice.account, by: dora, code: late)
      #expect(
        [other, first, second, expired]
          == ["callerCodeExpired", "done", "callerCodeExpired", "callerCodeExpired"])
    }
  }

  @Test func `K4: five wrong codes end a code`() async throws {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .offered)
      let code = try await send(instance, alice.account, by: agent)
      let wrong = wrong(code)
      var tries: [String] = []
      for typed in [wrong, wrong, wrong, wrong, wrong, code] {
        tries.append(await endSessions(instance, alice.account, by: agent, code: typed))
      }
      let expected =
        Array(repeating: "callerCodeWrong", count: 4)
        + ["callerCodeExpired", "callerCodeExpired"]
      #expect(tries == expected)
    }
  }

  @Test(arguments: ["1234567", "123456789", "1234 567x", "they didn't read it"])
  func `text that isn't a code of eight digits costs no try`(typed: String) async throws {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .offered)
      let code = try await send(instance, alice.account, by: agent)
      var results: [String] = []
      for _ in 0..<6 {
        results.append(await endSessions(instance, alice.account, by: agent, code: typed))
      }
      #expect(results == Array(repeating: "callerCodeMalformed", count: 6))
      #expect(try await instance.log().allSatisfy { $0.action != .accountRefuseCallerCode })
      let done = await endSessions(instance, alice.account, by: agent, code: code)
      #expect(done == "done")
    }
  }

  @Test func `an error in another field doesn't use the code up`() async throws {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .offered)
      let code = try await send(instance, alice.account, by: agent)
      let support = instance.identity.support
      let incomplete = await outcome {
        try await support.endSessions(
          instance.acme, alice.account.id, agent.request(nil, callerCode: code))
      }
      let done = await endSessions(instance, alice.account, by: agent, code: code)
      #expect(incomplete == "reasonRequired" && done == "done")
    }
  }

  @Test func `a code isn't valid for an address that changed since`() async throws {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .offered)
      let code = try await send(instance, alice.account, by: agent)
      var change = AccountChange()
      change.email = .set("new@example.com")
      change.keepsEmailVerified = true
      try await instance.identity.accounts.update(
        instance.acme, alice.account.id, change, by: Instance.boss)
      let result = await endSessions(instance, alice.account, by: agent, code: code)
      #expect(result == "callerCodeExpired")
    }
  }

  @Test func `a user gets five codes an hour, and an agent sends thirty`() async throws {
    try await withInstance { instance in
      let (alice, agent) = try await prepare(instance, .offered)
      for _ in 0..<5 { _ = try await send(instance, alice.account, by: agent) }
      let support = instance.identity.support
      func request(to id: ID<Account>, by agent: Agent) async -> String {
        await outcome {
          try await support.sendCallerCode(to: id, in: instance.acme, agent.request(nil))
        }
      }
      let sixth = await request(to: alice.account.id, by: try await instance.agent("omar"))
      try await instance.addUsers(26)
      var results: [String] = []
      for number in 0..<26 { results.append(await request(to: ID("u\(number)"), by: agent)) }
      instance.clock.advance(3_600)
      try await instance.reauthenticate(agent.session)
      let later = await request(to: alice.account.id, by: agent)
      #expect(sixth == "tooManyCallerCodes" && later == "done")
      #expect(
        results == Array(repeating: "done", count: 25) + ["tooManyCallerCodes"])
    }
  }

  @Test func `L1: without a verified address, removing factors requires approval`() async throws {
    try await withInstance { instance in
      let (alice, dora) = try await prepare(instance, .required)
      var change = AccountChange()
      change.emailVerified = false
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.account.id, change, by: Instance.boss)
      let unlocked = await outcome {
        try await instance.identity.support.unlock(
          instance.acme, alice.account.id, dora.request(.locked))
      }
      #expect(unlocked == "callerUnverifiable")
      let asked = await remove(instance, alice.account, by: dora)
      let approval = try await instance.identity.approvals.waiting(
        for: alice.account.id, in: instance.acme)
      #expect(asked == "done" && approval?.cause == .unverifiedCaller)
      #expect(approval?.callerProof == nil)
    }
  }

  @Test func `an approval shows how the requester verified the caller`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        edit in
        edit.pattern = .mandatory
      }
      let (alice, dora) = try await prepare(instance, .required)
      try await instance.setSupportRules { $0.approvalForLastFactor = true }
      let omar = try await instance.agent("omar")
      let code = try await send(instance, alice.account, by: dora)
      _ = await remove(instance, alice.account, by: dora, code: code)
      let approvals = instance.identity.approvals
      let approval = try #require(
        try await approvals.waiting(for: alice.account.id, in: instance.acme))
      #expect(approval.cause == .lastFactor && approval.callerProof == .emailCode)
      _ = try await approvals.approve(approval.id, in: instance.acme, omar.request(nil))
      let row = try #require(try await instance.log().first { $0.action == .factorRemoveAll })
      #expect(row.new(.callerVerification) == .code("email-code"))
    }
  }

  @Test func `a bulk removal requires approval where callers must be verified`() async throws {
    try await withInstance { instance in
      let (_, agent) = try await prepare(instance, .required)
      try await instance.addUsers(2)
      let job = try await instance.draft(instance.addresses(0..<2), by: agent)
      try await instance.begin(job, by: agent, number: "2")
      let approval = try await instance.identity.approvals.find(forJob: job, in: instance.acme)
      #expect(approval?.cause == .unverifiedCaller)
    }
  }

  @Test func `only an owner changes how callers are verified`() async throws {
    try await withInstance { instance in
      let (pia, otto) = (
        try await instance.agent("pia", role: .policy),
        try await instance.agent("otto", role: .owner)
      )
      func change(_ agent: Agent, _ rule: CallerVerification) async -> String {
        await outcome {
          var rules = try await instance.identity.support.settings(instance.acme)
          rules.callerVerification = rule
          _ = try await instance.identity.support.change(
            instance.acme, to: rules, by: .console(agent.request(nil)))
        }
      }
      let required = await change(otto, .required)
      let loosened = await change(pia, .off)
      #expect(required == "done" && loosened == "ownerRequired")
      let rules = try await instance.identity.support.settings(instance.acme)
      #expect(rules.callerVerification == .required)
    }
  }
}
