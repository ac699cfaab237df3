import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

/// Sessions within one second are distinguished by a generation number, never by a future time.
struct GenerationTests {
  private func change(
    _ instance: Instance, _ account: Account, in session: UserSession? = nil,
    by author: Author = Instance.boss, _ body: (inout AccountChange) -> Void
  ) async throws -> AccountUpdate {
    var change = AccountChange()
    body(&change)
    return try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: author, in: session)
  }

  @Test func `sixty changes in a tenth of a second set no future time`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for number in 0..<60 {
        let update = try await change(instance, alice) {
          $0.email = .set("alice\(number)@example.com")
        }
        #expect(update.account.validSince == instance.now.seconds)
        let grant = try await instance.signedIn(.alice, as: "alice\(number)@example.com")
        #expect(grant.session.authTime == instance.now.seconds)
        _ = try await instance.identity.sessions.check(grant.session)
        instance.clock.advance(microseconds: 1_600)
      }
    }
  }

  @Test func `a revocation at about the current time ends every session`() async throws {
    for ahead in [-5, -1, 0, 1, 1_000_000] as [Int64] {
      try await withInstance { instance in
        let alice = try await instance.account(.alice)
        let before = try await instance.session(.alice)
        let update = try await change(instance, alice) {
          $0.validSince = instance.now.seconds + ahead
        }
        #expect(update.sessionsEnded == 1)
        #expect(update.account.validSince == instance.now.seconds)
        await expect("tokenExpired") {
          try await instance.identity.sessions.check(before.session)
        }
        let after = try await instance.session(.alice)
        _ = try await instance.identity.sessions.check(after.session)
        #expect(after.session.authTime >= update.account.validSince)
      }
    }
  }

  @Test func `a revocation at an earlier time ends older sessions only`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let old = try await instance.session(.alice)
      instance.clock.advance(60)
      let young = try await instance.session(.alice)
      instance.clock.advance(60)
      let update = try await change(instance, alice) {
        $0.validSince = young.session.authTime
      }
      #expect(update.sessionsEnded == 1)
      await expect("tokenExpired") { try await instance.identity.sessions.check(old.session) }
      _ = try await instance.identity.sessions.refresh(
        young.refreshToken, project: instance.acme.project)
      #expect(try await instance.records(of: alice).sessions.count == 1)
    }
  }

  @Test func `a session started after the clock was set back is valid and not in the future`()
    async throws
  {
    try await withInstance { instance in
      let sessions = instance.identity.sessions
      let alice = try await instance.account(.alice)
      let early = try await instance.session(.alice)
      try await sessions.endAll(instance.acme, alice.id, by: Instance.support)
      let kept = try await instance.session(.alice)
      instance.clock.advance(-3_600)
      let late = try await instance.session(.alice)
      #expect(late.session.authTime == instance.now.seconds)
      #expect(try await instance.reload(alice).validSince == instance.now.seconds)
      _ = try await sessions.check(late.session)
      await expect("tokenExpired") { try await sessions.check(early.session) }
      let refreshed = try await sessions.refresh(
        kept.refreshToken, project: instance.acme.project)
      #expect(refreshed.session.authTime == instance.now.seconds)
    }
  }

  @Test func `removing one's own password ends the other sessions only`() async throws {
    try await withInstance { instance in
      let sessions = instance.identity.sessions
      let alice = try await instance.account(.alice)
      let (current, other) = (
        try await instance.session(.alice), try await instance.session(.alice)
      )
      let since = try await instance.reload(alice).validSince
      instance.clock.advance(10)
      let update = try await change(
        instance, alice, in: current.session, by: Author(actor: .user(alice.id))
      ) { $0.password = .clear }
      #expect(update.grant == nil)
      #expect(update.sessionsEnded == 1)
      // validSince stays, because SDKs compare it with the token's time and would otherwise reject
      // this session.
      #expect(update.account.validSince == since)
      _ = try await sessions.check(current.session)
      _ = try await sessions.refresh(current.refreshToken, project: instance.acme.project)
      await expect("tokenExpired") { try await sessions.check(other.session) }
      #expect(try await sessions.count(alice) == 1)
      // All sessions end when someone else removes the password.
      _ = try await change(instance, alice) { $0.password = .set(Person.alice.password) }
      let again = try await instance.session(.alice)
      _ = try await change(instance, alice) { $0.password = .clear }
      await expect("tokenExpired") { try await sessions.check(again.session) }
    }
  }

  @Test func `a session of a deleted account isn't valid for a new account with its UID`()
    async throws
  {
    try await withInstance { instance in
      let sessions = instance.identity.sessions
      let alice = try await instance.account(.alice)
      let grant = try await instance.session(.alice)
      try await instance.identity.accounts.delete(instance.acme, alice.id, by: Instance.boss)
      await expect("userNotFound") {
        try await sessions.refresh(grant.refreshToken, project: instance.acme.project)
      }
      var new = NewAccount()
      new.localID = alice.id.text
      new.email = Person.alice.email
      _ = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss))
      await expect("tokenExpired") { try await sessions.check(grant.session) }
      await expect("tokenExpired") {
        try await sessions.refresh(grant.refreshToken, project: instance.acme.project)
      }
    }
  }

  @Test func `a refresh token reports that its session ended, however long ago`() async throws {
    try await withInstance { instance in
      let sessions = instance.identity.sessions
      let alice = try await instance.account(.alice)
      var ended: [SessionGrant] = []
      for _ in 0..<5 {
        ended.append(try await instance.session(.alice))
        try await sessions.endAll(instance.acme, alice.id, by: Instance.support)
        instance.clock.advance(86_400)
      }
      for grant in ended {
        await expect("tokenExpired") {
          try await sessions.refresh(grant.refreshToken, project: instance.acme.project)
        }
      }
    }
  }

  @Test func `ended sessions don't accumulate`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for _ in 0..<130 {
        _ = try await instance.session(.alice)
        try await instance.identity.sessions.endAll(
          instance.acme, alice.id, by: Instance.support)
      }
      let rows = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM session") { try $0.next() as Int }
      }
      #expect(rows == 101)
    }
  }

  @Test func `a refresh reports a deleted tenant, even after purging`() async throws {
    try await withInstance { instance in
      let sessions = instance.identity.sessions
      _ = try await instance.account(.alice, in: instance.east)
      let grant = try await instance.session(.alice, in: instance.east)
      let tenant = try #require(instance.east.tenant)
      _ = try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: tenant, by: .program(Instance.boss))
      for _ in 0..<2 {
        await expect("tenantDeleted") {
          try await sessions.refresh(grant.refreshToken, project: instance.acme.project)
        }
        await expect("invalidRefreshToken") {
          try await sessions.refresh(grant.refreshToken, project: instance.globex.project)
        }
        while try await instance.identity.purge() {}
      }
    }
  }

  @Test func `a user's new passwords aren't limited`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      var session = try await instance.session(.alice).session
      for number in 0..<32 {
        let update = try await change(
          instance, alice, in: session, by: Author(actor: .user(alice.id))
        ) { $0.password = .set(Secret("password number \(number)")) }
        session = try #require(update.grant).session
      }
      #expect(
        try await instance.identity.sessions.endAll(
          instance.acme, alice.id, by: Instance.support) == 1)
      _ = try await instance.signedIn(.alice, with: Secret("password number 31"))
    }
  }
}
