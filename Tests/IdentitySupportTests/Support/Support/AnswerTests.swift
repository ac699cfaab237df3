import Database
import Identity
import Testing

@testable import TestIdentity

/// Tests that a support action reports all validation errors at once, without using up a code.
struct AnswerTests {
  private func requireIdentityProof(_ instance: Instance) async throws {
    try await instance.setSupportRules { $0.identityProof = ["called back"] }
  }

  private func wrongCodes(_ instance: Instance) async throws -> Int {
    try await instance.database.read { connection in
      try connection.first("SELECT /* test */ coalesce(sum(failures), 0) FROM throttle") {
        try $0.next() as Int
      } ?? -1
    }
  }

  @Test func `all validation errors are reported at once, in the order of the form`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await requireIdentityProof(instance)
      let agent = try await instance.agentWithDevice(role: .owner)
      instance.clock.advance(900)
      let (support, id) = (instance.identity.support, device.account.id)
      let long = String(repeating: "x", count: ActionRequest.longestNote + 1)
      await expect("reasonRequired+proofMissing+codeRequired") {
        try await support.endSessions(instance.acme, id, agent.request(nil))
      }
      await expect("proofMissing+ticketTooLong+noteTooLong+codeRequired") {
        try await support.unlock(
          instance.acme, id, agent.request(.other, note: long, ticket: "1\n2"))
      }
      await expect("untilOutOfRange+proofMissing+noteRequired+codeRequired") {
        try await support.suspend(
          instance.acme, id, device.factor, until: nil, agent.request(.other))
      }
      await expect("reasonRequired+notConfirmed+codeRequired") {
        try await support.delete(
          instance.acme, id, agent.request(nil, proofs: ["called back"], typed: "bob"))
      }
      #expect(try await instance.reload(device.account).factors.count == 1)
    }
  }

  @Test func `a code is neither used up nor counted as wrong while other fields are invalid`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await requireIdentityProof(instance)
      let agent = try await instance.agentWithDevice()
      let own = try #require(agent.device)
      instance.clock.advance(900)
      let (support, id) = (instance.identity.support, device.account.id)
      let before = try await (instance.wholeLog().count, wrongCodes(instance))
      let wrong = try own.wrongCode(at: instance.now)
      for _ in 0..<8 {
        await expect("proofMissing+codeNotLookedAt") {
          try await support.endSessions(instance.acme, id, agent.request(code: wrong))
        }
      }
      let right = try own.code(at: instance.now)
      await expect("reasonRequired+proofMissing+codeNotLookedAt") {
        try await support.endSessions(instance.acme, id, agent.request(nil, code: right))
      }
      await expect("untilOutOfRange+codeNotLookedAt") {
        try await support.suspend(
          instance.acme, id, device.factor, until: instance.now,
          agent.request(proofs: ["called back"], code: right))
      }
      let after = try await (instance.wholeLog().count, wrongCodes(instance))
      #expect(before == after)
      let outcome = try await support.endSessions(
        instance.acme, id, agent.request(proofs: ["called back"], code: right))
      #expect(outcome.renewed != nil)
    }
  }

  @Test func `throttling is reported along with the other errors`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agentWithDevice()
      let own = try #require(agent.device)
      instance.clock.advance(900)
      let support = instance.identity.support
      let wrong = try own.wrongCode(at: instance.now)
      for _ in 0..<5 {
        await expect("wrongCode") {
          try await support.endSessions(instance.acme, alice.id, agent.request(code: wrong))
        }
      }
      for code in ["", try own.code(at: instance.now)] {
        await expect("reasonRequired+throttled") {
          try await support.endSessions(instance.acme, alice.id, agent.request(nil, code: code))
        }
      }
      instance.clock.advance(31)
      await expect("reasonRequired+codeRequired") {
        try await support.endSessions(instance.acme, alice.id, agent.request(nil))
      }
    }
  }

  @Test func `an error that no input can fix is reported alone`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      try await requireIdentityProof(instance)
      let support = instance.identity.support
      let owner = try await instance.agent("olga", role: .owner)
      // An agent without a second factor.
      let agent = try await instance.agent()
      instance.clock.advance(900)
      await expect("noSecondFactor") {
        try await support.endSessions(instance.acme, alice.id, agent.request(nil))
      }
      try await instance.reauthenticate(agent.session)
      try await instance.reauthenticate(owner.session)
      let policy = try await instance.agent("pia", role: .policy)
      await expect("notAllowed") {
        try await support.endSessions(instance.acme, alice.id, policy.request(nil))
      }
      _ = try await support.protect(
        instance.acme, alice.id, true, owner.request(proofs: ["called back"]))
      await expect("protectedAccount") {
        try await support.endSessions(instance.acme, alice.id, agent.request(nil))
      }
      _ = try await support.protect(
        instance.acme, alice.id, false, owner.request(proofs: ["called back"]))
      try await instance.setSupportRules {
        $0.identityProof = ["called back"]
        $0.actionsPerHour = 1
      }
      _ = try await support.endSessions(
        instance.acme, alice.id, agent.request(proofs: ["called back"]))
      await expect("held") {
        try await support.endSessions(instance.acme, alice.id, agent.request(nil))
      }
    }
  }

  @Test func `a bulk removal reports all validation errors at once too`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(21)
      try await instance.setSupportRules {
        $0.undoHours = 0
        $0.identityProof = ["called back"]
      }
      let agent = try await instance.agentWithDevice()
      instance.clock.advance(900)
      let id = try await instance.draft(instance.addresses(0..<21), by: agent)
      let code = try #require(agent.device).code(at: instance.now)
      await expect("reasonRequired+proofMissing+notConfirmed+codeNotLookedAt") {
        try await instance.identity.bulkRemovals.begin(
          id, in: instance.acme, number: "2", agent.request(nil, code: code))
      }
      let outcome = try await instance.identity.bulkRemovals.begin(
        id, in: instance.acme, number: "21", agent.request(proofs: ["called back"], code: code))
      #expect(outcome.renewed != nil)
    }
  }
}
