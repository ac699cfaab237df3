import Database
import Foundation
import JSON
import TestDatabases
import Testing
import Text

@testable import Identity
@testable import TestIdentity

/// Tests that everything that's stored about a user is exported and erased.
struct UserDataTests {
  @Test func `each column with a user's data is exported or has a reason`() async throws {
    try await withInstance { instance in
      let schema = try await instance.schema()
      let exported = Dictionary(
        uniqueKeysWithValues: UserDataTable.all.map { ($0.name, $0) })
      for (table, columns) in schema {
        guard let found = exported[table] else {
          #expect(UserDataTable.excluded[table] != nil, "what about the table \(table)?")
          continue
        }
        // One is read from another table.
        let read = found.columns.map(\.sql.text).filter { !$0.hasPrefix("(") }
        let known = read + UserDataTable.omitted[table, default: [:]].keys
        #expect(known.sorted() == columns.sorted(), "\(table)")
      }
      let unknown = Set(exported.keys).union(UserDataTable.excluded.keys)
        .subtracting(schema.map(\.table))
      // PostgreSQL has an index and sequences in their place.
      #expect(unknown == (TestDatabase.isSQLite ? [] : ["account_search", "key_sequence"]))
      #expect(Set(exported.keys).isDisjoint(with: UserDataTable.excluded.keys))
    }
  }

  @Test func `a table that names an account is exported, or says why it isn't`() async throws {
    try await withInstance { instance in
      let without: Set<UserDataExclusion> = [.index, .accountNumbers, .secrets]
      for (table, columns) in try await instance.schema()
      where columns.contains("account_key") || columns.contains("uid") {
        let isExported = UserDataTable.all.contains { $0.name == table }
        let reason = UserDataTable.excluded[table]
        #expect(isExported || reason.map(without.contains) == true, "\(table)")
      }
    }
  }

  @Test func `the export contains every kind of data, and no secret`() async throws {
    try await withInstance { instance in
      let user = try await instance.marked()
      let bytes = try await instance.identity.userData.export(
        instance.acme, user.id, by: .program(Instance.boss)
      ).value
      let file = try JSON.parse(bytes)
      #expect(file["format"] == "countersign-user-data/1")
      #expect(file["account"]?["displayName"] == "qz7marker Alice")
      for table in UserDataTable.all where table.name != "account" {
        let rows = try #require(file[table.section]?.arrayValue, "\(table.section)")
        #expect(!rows.isEmpty, "\(table.section)")
        let names = rows.first?.objectValue?.names.map(\.text) ?? []
        #expect(names == table.columns.map(\.name))
      }
      let codes = try #require(file["emailCodes"]?.arrayValue)
      #expect(codes.contains { $0["kind"]?.textValue?.text == "EMAIL_SIGNIN" })
      let entry = try #require(file["auditLog"]?.arrayValue?.first)
      #expect(entry.objectValue?.names.map(\.text) == UserData.entryMembers)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(!text.contains("$argon2") && !text.contains("198.51.100"))
      #expect(text.contains("203.0.113.5"))
      #expect(try await instance.log().first?.action == .accountExportData)
    }
  }

  @Test func `nothing of a user is left in the file after an erasure`() async throws {
    try await withInstance { instance in
      let user = try await instance.marked()
      let bob = try await instance.enrolled(.bob)
      let marked = try await instance.tables(with: "qz7marker")
      let expected = Set(UserDataTable.all.map(\.name)).union([
        "account_text", "audit", "audit_change", "bulk_job",
      ])
      // Backup codes and campaigns name the user by number.
      #expect(expected.subtracting(marked).subtracting(Self.byNumber) == [])
      let erasure = try await instance.identity.userData.erase(
        instance.acme, user.id, by: .program(Instance.boss, because: "asked for it")
      ).value
      #expect(
        try await instance.tables(with: "qz7marker") == ["audit", "audit_change", "user_erasure"])
      try await instance.finishErasures()
      for mark in ["qz7marker", user.id.text] {
        #expect(try await instance.tables(with: mark) == [], "\(mark)")
        #expect(instance.filesContain(mark) == [], "\(mark)")
      }
      let progress = try await instance.identity.userData.progress(
        of: erasure.number, in: instance.acme)
      #expect(progress?.isFinished == true && (progress?.parts ?? 0) > 3)
      let result = try await instance.identity.auditChain.verify()
      #expect(result.faults == [] && result.erased == progress?.parts)
      _ = try await instance.identity.sessions.check(bob.session)
      let row = try #require(try await instance.log().first { $0.action == .accountErase })
      #expect(row.object == .erasure && row.objectID == String(erasure.number))
      #expect(row.note == "asked for it")
      #expect(try await instance.identity.accounts.find(instance.acme, user.id) == nil)
    }
  }

  private static let byNumber: Set<String> = ["backup_code_set", "campaign_user"]

  @Test func `an erasure deletes the pool's count of texts to the user's number`()
    async throws
  {
    try await withInstance { instance in
      let user = try await instance.marked()
      _ = try await instance.identity.userData.erase(
        instance.acme, user.id, by: .program(Instance.boss, because: "asked for it"))
      try await instance.finishErasures()
      #expect(
        try await instance.tables(with: "sms number \(instance.acme.key) +15550100") == [])
    }
  }

  @Test func `an entry keeps what was done and by whom, without the user's details`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      _ = try await instance.identity.support.endSessions(
        instance.acme, device.account.id, agent.request(.left, ticket: "HR-7"))
      _ = try await instance.identity.userData.erase(
        instance.acme, device.account.id, by: .program(Instance.boss, because: "asked"))
      try await instance.finishErasures()
      let log = try await instance.log()
      let row = try #require(log.first { $0.action == .sessionsEnd })
      #expect(row.actorName == "Dora Support" && row.address == "198.51.100.7")
      #expect(row.new(.sessionsEnded) == .number(2))
      #expect(row.objectID.isEmpty && row.objectName.isEmpty && row.ticket == nil)
      let own = try #require(log.first { $0.action == .factorEnroll })
      #expect(own.actorID.isEmpty && own.address.isEmpty && own.actor != nil)
      #expect(own.changes.allSatisfy { $0.field != .factors || $0.new == nil })
    }
  }

  @Test func `what a deleted user left behind is erased by UID`() async throws {
    try await withInstance { instance in
      let user = try await instance.marked()
      try await instance.identity.accounts.delete(instance.acme, user.id, by: Instance.boss)
      let owner = try await instance.agent("olga", role: .owner)
      await expect("writtenReasonRequired") {
        _ = try await instance.identity.userData.eraseDeleted(
          instance.acme, user.id, owner.request(nil))
      }
      _ = try await instance.identity.userData.eraseDeleted(
        instance.acme, user.id, owner.request(nil, note: "asked by email"))
      try await instance.finishErasures()
      let left = try await instance.tables(with: "qz7marker")
      #expect(left == [])
      #expect(try await instance.tables(with: user.id.text) == [])
      await expect("accountNotFound") {
        _ = try await instance.identity.userData.eraseDeleted(
          instance.acme, user.id, owner.request(nil, note: "again"))
      }
    }
  }

  @Test func `a deleted user's address that only a provider supplied is erased by UID`()
    async throws
  {
    try await withInstance { instance in
      try await instance.configureProvider()
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.project?.allowDuplicateEmails = true }
      let user = try await instance.signIn(
        withProviderSaying: #""email":"qz7marker@example.com","email_verified":true"#
      ).signedIn().federated.account
      #expect(user.email == nil)
      try await instance.identity.accounts.delete(instance.acme, user.id, by: Instance.boss)
      #expect(
        try await instance.mails("notice-account-deleted").map(\.recipient)
          == ["qz7marker@example.com"])
      try await instance.database.write { connection in
        var list = AuditEntry(
          .accountDownload, .pool, instance.acme.objectID, name: instance.acme.name,
          in: instance.acme)
        list.add(.filter, .text("search qz7marker@example.com"))
        try list.record(by: Instance.support, at: instance.now, connection)
      }
      #expect(try await instance.tables(with: "qz7marker") == ["outbox", "audit_change"])
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.identity.userData.eraseDeleted(
        instance.acme, user.id, owner.request(nil, note: "asked by email"))
      try await instance.finishErasures()
      #expect(try await instance.tables(with: "qz7marker") == [])
      #expect(try await instance.tables(with: user.id.text) == [])
    }
  }

  @Test func `a message to an address that a deleted user only wanted is erased by UID`()
    async throws
  {
    try await withInstance { instance in
      let user = try await instance.account(.alice)
      _ = try await instance.code(.changeEmail, newEmail: "qz7marker@example.com")
      try await instance.identity.accounts.delete(instance.acme, user.id, by: Instance.boss)
      #expect(try await instance.tables(with: "qz7marker") == ["outbox"])
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.identity.userData.eraseDeleted(
        instance.acme, user.id, owner.request(nil, note: "asked by email"))
      try await instance.finishErasures()
      #expect(try await instance.tables(with: "qz7marker") == [])
    }
  }

  @Test func `an erasure requires the permission, a reason, and the user's name`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let data = instance.identity.userData
      let (owner, dora) = (
        try await instance.agent("olga", role: .owner), try await instance.agent()
      )
      await expect("notAllowed") {
        _ = try await data.erase(
          instance.acme, alice.id, by: .console(dora.request(.dataRequest, typed: alice.id.text)))
      }
      await expect("notAllowed") {
        _ = try await data.export(instance.acme, alice.id, by: .console(dora.request(.dataRequest)))
      }
      await expect("notConfirmed") {
        _ = try await data.erase(
          instance.acme, alice.id, by: .console(owner.request(.dataRequest, typed: "bob")))
      }
      await expect("reasonRequired") {
        _ = try await data.erase(
          instance.acme, alice.id, by: .console(owner.request(nil, typed: alice.id.text)))
      }
      await expect("nothingToDo") {
        _ = try await data.eraseDeleted(instance.acme, alice.id, owner.request(nil, note: "n"))
      }
      await expect("accountNotFound") {
        _ = try await data.erase(instance.east, alice.id, by: .program(Instance.boss, because: "r"))
      }
      #expect(try await instance.identity.accounts.find(instance.acme, alice.id) != nil)
    }
  }

  @Test func `entries are erased after they're sealed, and a restart continues`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let data = instance.identity.userData
      let erasure = try await data.erase(
        instance.acme, alice.id, by: .program(Instance.boss, because: "asked")
      ).value
      let isMore = try await data.continueErasures()
      #expect(!isMore)
      #expect(try await instance.log().contains { $0.objectName == Person.alice.email })
      let other = try instance.identity()
      while try await other.auditChain.seal() {}
      while try await other.userData.continueErasures() {}
      let progress = try await other.userData.progress(of: erasure.number, in: instance.acme)
      #expect(progress?.isFinished == true)
      #expect(try await instance.tables(with: Person.alice.email) == [])
    }
  }

  @Test func `another user's entries stay, even with the same address`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      try await instance.identity.accounts.delete(instance.acme, alice.id, by: Instance.boss)
      let next = try await instance.account(.alice)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.identity.userData.eraseDeleted(
        instance.acme, alice.id, owner.request(nil, note: "asked"))
      try await instance.finishErasures()
      let rows = try await instance.log().filter { $0.objectID == next.id.text }
      #expect(rows.map(\.objectName) == [Person.alice.email])
      #expect(try await instance.tables(with: next.id.text).isSuperset(of: ["account", "audit"]))
    }
  }

  @Test func `links to an address that another account has now stay`() async throws {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let alice = try await instance.account(.alice)
      var change = AccountChange()
      change.email = .set("moved@example.com")
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let data = instance.identity.userData
      func exportedLinks() async throws -> Int {
        let bytes = try await data.export(instance.acme, alice.id, by: .program(Instance.boss))
          .value
        let codes = try #require(try JSON.parse(bytes)["emailCodes"]?.arrayValue)
        return codes.count { $0["kind"]?.textValue?.text == "EMAIL_SIGNIN" }
      }
      // Nobody has the address, so its links are those of its former user.
      _ = try await instance.code(.signIn)
      #expect(try await exportedLinks() == 1)
      let next = try await instance.account(.alice)
      let code = try await instance.code(.signIn)
      #expect(try await exportedLinks() == 0)
      _ = try await data.erase(
        instance.acme, alice.id, by: .program(Instance.boss, because: "asked"))
      let signIn = try await instance.identity.signIns.emailLink(
        instance.acme, email: Person.alice.email, code: code, linking: nil, by: Instance.visitor)
      guard case .signedIn(let grant) = signIn.outcome else { throw Unexpected("not signed in") }
      #expect(grant.account.id == next.id)
    }
  }

  @Test(arguments: [
    ("call alice@example.com today", true), ("ALICE@EXAMPLE.COM", true),
    ("malice@example.com", false), ("alice@example.community", false), ("+491511", true),
    ("+4915112", false), ("Al", true), ("Alan", false), ("uid123456,", true), ("uid1234567", false),
  ])
  func `an identifier is found as a word of its own`(text: String, isMentioned: Bool) {
    var user = UserIdentifiers(uid: "uid123456")
    user.add(email: "Alice@example.com")
    user.add(phone: "+491511")
    user.add(name: "Al")
    #expect(user.isMentioned(in: text) == isMentioned)
  }
}
