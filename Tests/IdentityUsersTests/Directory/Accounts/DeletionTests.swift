import Database
import Identity
import Testing

@testable import TestIdentity

struct AccountDeletionTests {
  @Test
  func `deleting an account deletes its factors, ends its sessions, and names it in the audit row`()
    async throws
  {
    try await withInstance { instance in
      let identity = instance.identity
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      let grant = try await identity.sessions.renew(device.session)
      try await identity.accounts.delete(instance.acme, device.account.id, by: Instance.boss)
      #expect(try await identity.accounts.find(instance.acme, device.account.id) == nil)
      await expect("userNotFound") { try await identity.sessions.check(device.session) }
      let code = try device.code(at: instance.now)
      await expect("userNotFound") { try await instance.finalize(device, pending, code: code) }
      await expect("notFound") {
        try await identity.accounts.delete(instance.acme, device.account.id, by: Instance.boss)
      }
      let rows = try await instance.log().prefix { $0.action == .accountDelete }
      #expect(rows.count == 1)
      #expect(rows.first?.objectName == "alice@example.com")
      #expect(
        rows.first?.fields == [.uid, .email, .factors, .sessionsEnded]
          && rows.first?.old(.uid) == .text(device.account.id.text)
          && rows.first?.new(.sessionsEnded) == .number(3))
      let left = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM factor") { try $0.next() as Int }
      }
      #expect(left == 0)
      // The token is still recognized, so that the response can say that its user is gone.
      await expect("userNotFound") {
        try await identity.sessions.refresh(
          grant.refreshToken, project: instance.acme.project)
      }
    }
  }

  @Test func `of concurrent deletions of one account, exactly one succeeds`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let outcomes = try await concurrently(16) { _ in
        await outcome {
          try await instance.identity.accounts.delete(
            instance.acme, device.account.id, by: Instance.boss)
        }
      }
      #expect(outcomes.tally == ["done": 1, "notFound": 15])
    }
  }

  @Test func `a reused UID belongs to a different account`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      try await instance.identity.accounts.delete(
        instance.acme, device.account.id, by: Instance.boss)
      var new = NewAccount()
      (new.localID, new.email) = (device.account.id.text, Person.alice.email)
      let other = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss)
      ).value
      #expect(other.factors.isEmpty)
      await expect("tokenExpired") {
        try await instance.identity.sessions.check(device.session)
      }
      let code = try device.code(at: instance.now)
      await expect("userNotFound") { try await instance.finalize(device, pending, code: code) }
    }
  }

  @Test func `a user can't delete their account with a session that has ended`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      let alice = try await instance.account(.alice)
      let own = Author(actor: .user(alice.id))
      let ended = try await instance.session(.alice).session
      // The session is still open when the request begins.
      _ = try await identity.sessions.check(ended)
      try await identity.sessions.endAll(instance.acme, alice.id, by: Instance.boss)
      await expect("tokenExpired") {
        try await identity.accounts.delete(instance.acme, alice.id, by: own, in: ended)
      }
      _ = try await instance.reload(alice)
      let open = try await instance.session(.alice).session
      try await identity.accounts.delete(instance.acme, alice.id, by: own, in: open)
      #expect(try await identity.accounts.find(instance.acme, alice.id) == nil)
    }
  }

  @Test func `deleting all accounts affects that pool only`() async throws {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      _ = try await instance.account(.bob)
      let other = try await instance.enrolled(.alice, in: instance.east)
      for _ in 0..<2 {
        try await instance.identity.accounts.deleteAll(
          instance.acme, by: Author(actor: .emulatorOwner))
      }
      let policy = try await instance.identity.policies.read(instance.acme)
      #expect((policy.users, policy.enrolledUsers) == (0, 0))
      _ = try await instance.reload(other.account, in: instance.east)
      let rows = try await instance.log().prefix { $0.action == .accountDeleteAll }
      #expect(rows.map { $0.old(.users) } == [.number(2)])
    }
  }
}
