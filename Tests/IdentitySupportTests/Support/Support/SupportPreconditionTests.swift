import Database
import Identity
import Testing

@testable import TestIdentity

/// Tests the checks before every support action.
struct SupportPreconditionTests {
  /// Ends the sessions of an account: an action that can be repeated.
  private func act(
    _ instance: Instance, _ account: Account, _ request: ActionRequest, in pool: Pool? = nil
  ) async throws -> ActionOutcome<UserChangeOutcome> {
    try await instance.identity.support.endSessions(
      pool ?? instance.acme, account.id, request)
  }

  @Test func `an agent without a second factor can't act`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent()
      instance.clock.advance(15 * 60)
      await expect("noSecondFactor") {
        try await act(instance, alice, agent.request(code: "123456"))
      }
    }
  }

  @Test func `the re-authentication interval is an instance setting`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agentWithDevice()
      let support = instance.identity.support
      for wrong in [0, 241, -1] {
        await expect("outOfRange") {
          try await support.setStepUp(minutes: wrong, by: .program(Instance.boss))
        }
      }
      #expect(try await support.setStepUp(minutes: 1, by: .program(Instance.boss)).value)
      #expect(try await !support.setStepUp(minutes: 1, by: .program(Instance.boss)).value)
      #expect(try await support.stepUpMinutes() == 1)
      instance.clock.advance(31)
      await expect("codeRequired") { try await act(instance, alice, agent.request()) }
      let row = try await instance.wholeLog().first { $0.action == .supportStepUp }
      #expect(row?.old(.reauthenticationInterval) == .duration(900))
      #expect(row?.new(.reauthenticationInterval) == .duration(60))
    }
  }

  @Test func `only owners act on a protected account`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let owner = try await instance.agent("olga", role: .owner)
      let agent = try await instance.agent()
      let support = instance.identity.support
      await expect("notAllowed") {
        try await support.protect(instance.acme, alice.id, true, agent.request())
      }
      _ = try await support.protect(instance.acme, alice.id, true, owner.request())
      #expect(try await instance.reload(alice).isProtected)
      await expect("nothingToDo") {
        try await support.protect(instance.acme, alice.id, true, owner.request())
      }
      await expect("protectedAccount") { try await act(instance, alice, agent.request()) }
      _ = try await act(instance, alice, owner.request())
      _ = try await support.protect(instance.acme, alice.id, false, owner.request())
      _ = try await act(instance, alice, agent.request())
      let actions = try await instance.log().map(\.action)
      #expect(actions.tally[.accountProtect] == 1 && actions.tally[.accountUnprotect] == 1)
    }
  }

  @Test func `a user's lock on factor changes lasts until an owner allows changes again`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.reportChange(of: device.account.id)
      let owner = try await instance.agent("olga", role: .owner)
      let agent = try await instance.agent()
      let id = device.account.id
      for one in [owner, agent] {
        await expect("changesLocked") {
          try await instance.identity.factorRemovals.remove(
            instance.acme, id, device.factor, one.request())
        }
      }
      // Actions that don't change second factors are still allowed.
      _ = try await act(instance, device.account, agent.request())
      await expect("notAllowed") {
        try await instance.identity.support.allowChanges(instance.acme, id, agent.request())
      }
      _ = try await instance.identity.support.allowChanges(instance.acme, id, owner.request())
      await expect("nothingToDo") {
        try await instance.identity.support.allowChanges(instance.acme, id, owner.request())
      }
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, id, device.factor, agent.request())
    }
  }

  @Test func `a ticket is one line of at most 100 characters`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent()
      for ticket in [String(repeating: "x", count: 101), "a\nb", "a\u{2028}b"] {
        await expect("ticketTooLong") {
          try await act(instance, alice, agent.request(ticket: ticket))
        }
      }
      await expect("reasonRequired") { try await act(instance, alice, agent.request(nil)) }
      _ = try await act(
        instance, alice, agent.request(ticket: String(repeating: "é", count: 100)))
    }
  }

  @Test func `an agent without actions left is blocked, even with an incomplete form`() async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent()
      let support = instance.identity.support
      var settings = SupportRules()
      settings.actionsPerHour = 1
      try await support.change(instance.acme, to: settings, by: .program(Instance.boss))
      await expect("reasonRequired") { try await act(instance, alice, agent.request(nil)) }
      _ = try await act(instance, alice, agent.request())
      let before = try await support.eligibility(agent.session, on: alice, in: instance.acme)
      #expect(before.actionsLeft == 0 && !before.isHeld)
      await expect("held") { try await act(instance, alice, agent.request(nil)) }
      let after = try await support.eligibility(agent.session, on: alice, in: instance.acme)
      #expect(after.isHeld)
    }
  }
}
