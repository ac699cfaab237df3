import Identity
import Testing

@testable import TestIdentity

/// Tests support actions on a whole account.
struct AccountActionTests {
  @Test func `unlocking an account lets its codes be checked again`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let (support, id) = (instance.identity.support, device.account.id)
      let agent = try await instance.agent()
      await expect("nothingToDo") {
        try await support.unlock(instance.acme, id, agent.request(.locked))
      }
      let pending = try await instance.pending(.alice)
      let wrong = try device.wrongCode(at: instance.now)
      for _ in 0..<6 {
        _ = await outcome { try await instance.finalize(device, pending, code: wrong) }
      }
      let code = try device.code(at: instance.now)
      await expect("quotaExceeded") { try await instance.finalize(device, pending, code: code) }
      _ = try await support.unlock(instance.acme, id, agent.request(.locked))
      _ = try await instance.finalize(device, pending, code: code)
      let row = try #require(try await instance.log().first { $0.action == .accountUnlock })
      #expect(row.old(.wrongCodes) == .number(5) && row.old(.codesLocked) == .flag(true))
    }
  }

  @Test func `all factors are removed only if the agent has seen each of them`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let (removals, id) = (instance.identity.factorRemovals, device.account.id)
      let agent = try await instance.agent()
      for seen: Set<ID<Factor>> in [[], [ID("another")]] {
        await expect("factorEnrolled") {
          try await removals.remove(instance.acme, id, nil, agent.request(), seen: seen)
        }
      }
      #expect(try await instance.reload(device.account).factors.count == 1)
      await expect("done") {
        try await removals.remove(
          instance.acme, id, nil, agent.request(), seen: [device.factor, ID("gone")])
      }
    }
  }

  @Test func `L5: ending sessions reports their number in one audit row`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      let ended = try await instance.identity.support.endSessions(
        instance.acme, device.account.id, agent.request(.left))
      #expect(ended.value.sessions == 2)
      await expect("tokenExpired") { try await instance.identity.sessions.check(device.session) }
      let log = try await instance.log()
      #expect(log.first?.action == .sessionsEnd && log.first?.new(.sessionsEnded) == .number(2))
      #expect(log.first?.reason == "left")
    }
  }

  @Test func `open sessions are listed with their second factor, newest first`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let grant = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      instance.clock.advance(60)
      _ = try await instance.identity.sessions.refresh(
        grant.refreshToken, project: instance.acme.project)
      let list = try await instance.records(of: device.account).sessions
      #expect(list.count == 3 && list.first?.factor == device.factor)
      #expect(list.first?.lastRefreshAt == instance.now && list.contains { $0.factor == nil })
      #expect(list.map(\.startedAt) == list.map(\.startedAt).sorted(by: >))
      let agent = try await instance.agent()
      _ = try await instance.identity.support.endSessions(
        instance.acme, device.account.id, agent.request())
      #expect(try await instance.records(of: device.account).sessions.isEmpty)
    }
  }

  @Test func `only an owner disables or deletes an account, with a reason and one audit row each`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let (support, id) = (instance.identity.support, device.account.id)
      let agent = try await instance.agent()
      let owner = try await instance.agent("olga", role: .owner)
      await expect("notAllowed") { try await support.disable(instance.acme, id, agent.request()) }
      await expect("notAllowed") { try await support.delete(instance.acme, id, agent.request()) }
      for typed in ["", "bob@example.com", "alice"] {
        await expect("reasonRequired+notConfirmed") {
          try await support.delete(instance.acme, id, owner.request(nil, typed: typed))
        }
      }
      let ended = try await support.disable(instance.acme, id, owner.request(.left)).value
      #expect(ended.sessions == 2)
      #expect(try await instance.reload(device.account).disabled)
      await expect("nothingToDo") { try await support.disable(instance.acme, id, owner.request()) }
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountChange && row.reason == "left")
      #expect(row.old(.disabled) == .flag(false))
      await expect("notAllowed") { try await support.enable(instance.acme, id, agent.request()) }
      _ = try await support.enable(instance.acme, id, owner.request(.mistake))
      #expect(try await !instance.reload(device.account).disabled)
      await expect("nothingToDo") { try await support.enable(instance.acme, id, owner.request()) }
      #expect(try await instance.log().first?.reason == "mistake")
      _ = try await support.delete(
        instance.acme, id, owner.request(.left, ticket: "HR-7", typed: " ALICE@example.com"))
      let last = try #require(try await instance.log().first)
      #expect(last.action == .accountDelete && last.ticket == "HR-7")
      let found = try await instance.identity.accounts.find(instance.acme, id)
      #expect(found == nil)
    }
  }

  @Test func `only an owner marks an address as verified, after re-authentication`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice, isVerified: false)
      let (support, id) = (instance.identity.support, account.id)
      let agent = try await instance.agent()
      await expect("notAllowed") {
        try await support.verifyEmail(instance.acme, id, agent.request())
      }
      let owner = try await instance.agentWithDevice("olga", role: .owner)
      instance.clock.advance(15 * 60)
      await expect("codeRequired") {
        try await support.verifyEmail(instance.acme, id, owner.request(.other, note: "seen"))
      }
      #expect(try await !instance.reload(account).emailVerified)
      let code = try #require(try owner.device?.code(at: instance.now))
      _ = try await support.verifyEmail(
        instance.acme, id, owner.request(.other, note: "seen", code: code))
      #expect(try await instance.reload(account).emailVerified)
      let row = try #require(try await instance.log().first)
      #expect(
        (row.fields, row.new(.emailVerified), row.note) == ([.emailVerified], .flag(true), "seen"))
      let counts = try await instance.identity.accounts.counts(instance.acme)
      #expect(counts.unverifiedEmails == 0)
    }
  }

  @Test func `L2: users are notified of each support action on their account`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let (support, id) = (instance.identity.support, device.account.id)
      let dora = try await instance.agent()
      let erik = try await instance.agent("erik")
      let until = instance.now.advanced(bySeconds: 600)
      _ = try await support.suspend(
        instance.acme, id, device.factor, until: until, dora.request())
      _ = try await support.resume(instance.acme, id, device.factor, dora.request(.found))
      let wrong = try device.wrongCode(at: instance.now)
      let pending = try await instance.pending(.alice)
      _ = await outcome { try await instance.finalize(device, pending, code: wrong) }
      _ = try await support.unlock(instance.acme, id, dora.request(.locked))
      _ = try await support.endSessions(instance.acme, id, dora.request())
      let removal = try await instance.identity.factorRemovals.remove(
        instance.acme, id, device.factor, dora.request()
      ).value.removal
      let hold = try #require(removal.hold?.id)
      _ = try await instance.identity.factorRemovals.undo(
        instance.acme, id, hold, erik.request(.mistake))
      let account = try await instance.reload(device.account)
      let purposes = try await instance.records(of: account).messages.map(\.purpose)
      for notice in [
        "factor-suspended", "factor-resumed", "codes-unlocked", "sessions-ended",
        "factors-removed", "factors-restored",
      ] {
        #expect(purposes.contains("notice-\(notice)"), "\(notice)")
      }
    }
  }
}
