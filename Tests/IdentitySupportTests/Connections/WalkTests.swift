import Database
import IdentityToolkitClient
import JSON
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// Adds numbered users to the remote, whose UIDs are in order.
func add(_ count: Int, to remote: TestRemote, from first: Int = 0) {
  for number in first..<(first + count) { remote.set(TestRemote.user(numbered(number))) }
}

func numbered(_ number: Int) -> String { "u" + String(String(100_000 + number).dropFirst()) }

@Suite struct WalkTests {
  @Test func `the first walk mirrors all users in one entry, and mails nobody`() async throws {
    try await withInstance(carriesMail: true) { instance in
      add(250, to: instance.remote)
      instance.remote.set(TestRemote.user("a", totp: true, phone: "+15555550100"))
      instance.remote.set(TestRemote.user("b", totp: true, ["disabled": true]))
      let pool = try await instance.connect()
      let before = try await instance.wholeLog().count
      #expect(try await instance.sync(pool) == nil)
      let users = try await instance.mirrored(pool)
      #expect(users.count == 252)
      let first = try #require(users.first)
      #expect(first.email == "a@example.com" && first.emailVerified && !first.hasPassword)
      #expect(first.factors.map(\.kind) == [.totp, .phone])
      #expect(first.providers.map(\.provider) == ["password"])
      #expect(first.createdAt == Instant(milliseconds: 1_700_000_000_000))
      let counts = try await instance.identity.accounts.counts(pool)
      #expect(counts.users == 252 && counts.enrolledUsers == 2 && counts.disabled == 1)
      let new = try await instance.wholeLog().dropLast(before)
      #expect(new.map(\.action) == [.connectionWalk])
      let entry = try #require(new.first)
      #expect(entry.new(.users) == .number(252) && entry.new(.enrolledUsers) == .number(2))
      #expect(entry.actor == .remote && entry.actorName == "Countersign at remote.example.com")
      #expect(try await instance.test.query("SELECT count(*) FROM outbox") == ["0"])
      #expect(try await instance.mirror(pool).firstAt != nil)
    }
  }

  @Test func `a walk without changes writes nothing but its own beginning and end`() async throws {
    try await withInstance { instance in
      add(30, to: instance.remote)
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let before = try await instance.contents()
      try await instance.sync(pool)
      let after = try await instance.contents()
      let changed = after.keys.filter { after[$0] != before[$0] }
      #expect(Set(changed) == ["connection", "mirror"])
    }
  }

  @Test func `changes are recorded once per user, if they're about factors, state, or address`()
    async throws
  {
    try await withInstance { instance in
      let remote = instance.remote
      for name in ["a", "b", "c", "d", "e"] { remote.set(TestRemote.user(name)) }
      let pool = try await instance.connect()
      try await instance.sync(pool)
      remote.set(TestRemote.user("a", totp: true, phone: "+15555550100"))
      remote.set(TestRemote.user("b", email: "other@example.com"))
      remote.set(TestRemote.user("c", ["disabled": true]))
      remote.set(TestRemote.user("d", ["lastLoginAt": "1700000200000", "displayName": "Dee"]))
      remote.set(TestRemote.user("f"))
      try await instance.sync(pool)
      let users = try await instance.mirrored(pool)
      #expect(users.map(\.id.text) == ["a", "b", "c", "d", "e", "f"])
      #expect(users[0].factors.count == 2 && users[1].email == "other@example.com")
      #expect(users[2].disabled && users[3].displayName == "Dee")
      #expect(users[3].lastLoginAt == Instant(milliseconds: 1_700_000_200_000))
      let rows = try await instance.log(pool).filter { $0.action == .accountChange }
      #expect(Set(rows.map(\.objectID)) == ["a", "b", "c"] && rows.count == 3)
      let factors = try #require(rows.first { $0.objectID == "a" })
      #expect(factors.fields == [.factors] && factors.actor == .remote)
      // A removed factor is recorded, too, and an app keeps its ID.
      remote.set(TestRemote.user("a", totp: true))
      try await instance.sync(pool)
      #expect(try await instance.mirrored(pool)[0].factors.map(\.kind) == [.totp])
      #expect(try await instance.log(pool).first?.hadFactor("a-phone") == true)
    }
  }

  @Test func `users swap addresses, and share one`() async throws {
    try await withInstance { instance in
      let remote = instance.remote
      remote.set(TestRemote.user("a", email: "x@example.com", ["phoneNumber": "+15555550101"]))
      remote.set(TestRemote.user("b", email: "y@example.com"))
      let pool = try await instance.connect()
      try await instance.sync(pool)
      remote.set(TestRemote.user("a", email: "y@example.com"))
      remote.set(TestRemote.user("b", email: "x@example.com", ["phoneNumber": "+15555550101"]))
      try await instance.sync(pool)
      #expect(try await instance.mirrored(pool).map(\.email) == ["y@example.com", "x@example.com"])
      remote.set(TestRemote.user("a", email: "x@example.com"))
      try await instance.sync(pool)
      let found = try await instance.identity.accounts.search(pool, "x@example.com")
      #expect(Set(found.accounts.map(\.id.text)) == ["a", "b"])
      #expect(found.total == .exactly(2))
    }
  }

  @Test func `another user with the same UID inherits no marks`() async throws {
    try await withInstance { instance in
      let remote = instance.remote
      remote.set(TestRemote.user("a", totp: true))
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.identity.support.protect(
        pool, ID("a"), true, owner.request(.compromised))
      let old = try #require(try await instance.mirrored(pool).first)
      #expect(old.isProtected)
      instance.clock.advance(60)
      remote.set(TestRemote.user("a", createdAt: instance.now.milliseconds))
      try await instance.sync(pool)
      let new = try #require(try await instance.mirrored(pool).first)
      #expect(!new.isProtected && new.factors.isEmpty && new.key != old.key)
      let row = try #require(try await instance.log(pool).first)
      #expect(row.action == .accountDelete && row.actor == .remote)
      let records = try #require(
        try await instance.identity.records(of: ID("a"), in: pool, history: true))
      #expect(!records.history.contains { $0.action == .accountProtect })
      let file = try await instance.identity.userData.export(pool, ID("a"), by: Instance.program)
      #expect(!String(decoding: file.value, as: UTF8.self).contains("account.protect"))
    }
  }

  @Test func `marks survive changes at the remote, and removing one mails nobody`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let remote = instance.remote
      remote.set(TestRemote.user("a", totp: true))
      remote.set(TestRemote.user("b"))
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.identity.support.protect(
        pool, ID("a"), true, owner.request(.compromised))
      _ = try await instance.identity.exemptions.grant(
        pool, ID("a"), until: instance.now.advanced(bySeconds: 86_400), owner.request(.lost))
      let (key, now) = (try await instance.mirrored(pool)[0].key, instance.now)
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ account SET changes_locked_at = \(now) WHERE account_key = \(key)")
      }
      remote.set(TestRemote.user("a", email: "new@example.com", phone: "+15555550100"))
      remote.remove("b")
      try await instance.sync(pool)
      let users = try await instance.mirrored(pool)
      #expect(users[0].isProtected && users[0].email == "new@example.com")
      let records = try #require(
        try await instance.identity.records(of: ID("a"), in: pool, history: false))
      #expect(records.exemption != nil)
      let gone = try #require(users[1].goneAt)
      try await instance.sync(pool)
      #expect(try await instance.mirrored(pool)[1].goneAt == gone)
      #expect(users[0].changesLockedAt == now)
      let other = try await instance.agent("oscar", role: .owner)
      _ = try await instance.identity.support.allowChanges(
        pool, ID("a"), other.request(.resolved))
      #expect(
        try await instance.test.query(
          "SELECT count(*) FROM outbox WHERE account_key IS NOT NULL") == ["0"])
    }
  }

  @Test(arguments: [1, 1_000])
  func `a user who can't be stored is listed, and doesn't stop the walk`(pageSize: Int) async throws
  {
    try await withInstance { instance in
      let remote = instance.remote
      remote.behavior.pageSize = pageSize
      remote.set(TestRemote.user("a"))
      remote.set(TestRemote.user("b\0"))
      remote.set(TestRemote.user(String(repeating: "b", count: 513)))
      remote.set(TestRemote.user("c"))
      remote.behavior.changePage = { page in page.users.append(["email": "x@example.com"]) }
      remote.behavior.count = 5
      let pool = try await instance.connect()
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirrored(pool).map(\.id.text) == ["a", "c"])
      let faults = try await instance.test.query(
        "SELECT reason FROM mirror_fault ORDER BY reason")
      #expect(faults == ["long-uid", "no-uid", "nul-in-uid"])
      #expect(try await instance.mirror(pool).faults == 3)
      let listed = try await instance.identity.connections.faults(in: pool, limit: 50)
      #expect(listed.map(\.1) == [.missing, .long, .nul])
      #expect(listed.map(\.0) == ["", String(repeating: "b", count: 513), "b\u{FFFD}"])
      #expect(try await instance.log(pool).first?.new(.usersNotStored) == .number(3))
      remote.behavior.changePage = nil
      remote.behavior.count = nil
      remote.remove("b\0")
      remote.remove(String(repeating: "b", count: 513))
      try await instance.sync(pool)
      #expect(try await instance.test.query("SELECT count(*) FROM mirror_fault") == ["0"])
    }
  }
}
