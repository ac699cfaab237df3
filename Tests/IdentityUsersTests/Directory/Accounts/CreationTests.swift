import Crypto
import Identity
import Testing

@testable import TestIdentity

struct AccountCreationTests {
  @Test func `an account is created with the given fields, and its audit row omits the password`()
    async throws
  {
    try await withInstance { instance in
      var new = NewAccount()
      new.localID = "uid-1"
      new.email = "Alice@Example.COM"
      new.password = Secret("correct horse")
      new.displayName = "Alice"
      new.photoURL = "https://example.com/a.png"
      new.phoneNumber = "+4917012345678"
      new.emailVerified = true
      new.disabled = true
      let account = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss)
      ).value
      #expect(account.id.text == "uid-1")
      #expect(account.email == "alice@example.com")
      #expect(account.displayName == "Alice")
      #expect(account.photoURL == "https://example.com/a.png")
      #expect(account.phoneNumber == "+4917012345678")
      #expect(account.emailVerified && account.disabled && account.hasPassword)
      #expect(!account.isAnonymous)
      #expect(account.createdAt == instance.now)
      #expect(account.validSince == instance.now.seconds)
      #expect((account.lastLoginAt, account.lastRefreshAt) == (nil, nil))
      let row = try #require(try await instance.log().first)
      #expect((row.action, row.objectID) == (.accountCreate, "uid-1"))
      #expect(
        row.changes == [
          AuditChange(.uid, to: .text("uid-1")),
          AuditChange(.email, to: .text("alice@example.com")),
          AuditChange(.phoneNumber, to: .text("+4917012345678")),
        ])
      #expect(row.actorName == "Bo the boss")
    }
  }

  @Test func `a missing UID is generated from 28 letters and digits`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      #expect(account.id.text.wholeMatch(of: /[A-Za-z0-9]{28}/) != nil)
    }
  }

  @Test(
    arguments: [
      "", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b\n", "a\u{0}@b", "a@b\u{7F}",
      String(repeating: "x", count: 320) + "@b", "a@b..com", "a@b.com.", "a@.com", "<a@b.com>",
      "Ann <a@b.com>", "mailto:a@b.com", "a@b.com,c", "a\u{200B}@b.com", "a@b\u{200D}.com",
      "\u{FEFF}a@b.com", "\u{202E}a@b.com", "a@b.com\u{2066}", "a\u{A0}@b.com", "a\u{2028}@b",
      "a\u{FE0F}@b.com", "a\u{AD}@b.com", "a@b\u{E9}_.com",
      "a@\(String(repeating: "\u{E9}", count: 64)).com",
    ])
  func `an invalid email address is rejected`(email: String) async throws {
    try await withInstance { instance in
      await expect("invalidEmail") {
        var new = NewAccount()
        new.email = email
        return try await instance.identity.accounts.create(
          instance.acme, new, by: .program(Instance.boss)
        ).value
      }
    }
  }

  @Test(arguments: [
    ("", "weakPassword"), ("12345", "weakPassword"),
    ("пароль".prefix(5).description, "weakPassword"),
    ("é😀😀", "weakPassword"), ("😀😀😀", "done"),
    (String(repeating: "é", count: 4_096), "done"),
    (String(repeating: "é", count: 4_097), "passwordTooLong"),
    (String(repeating: "😀", count: 2_048), "done"),
    (String(repeating: "😀", count: 2_048) + "a", "passwordTooLong"),
  ])
  func `a password has 6 to 4096 UTF-16 code units`(
    password: String, outcome: String
  ) async throws {
    try await withInstance { instance in
      await expect(outcome) {
        var new = NewAccount()
        new.email = Person.alice.email
        new.password = Secret(password)
        return try await instance.identity.accounts.create(
          instance.acme, new, by: .program(Instance.boss)
        ).value
      }
    }
  }

  @Test(arguments: ["1", "+0123456", "+123456", "+1234567890123456", "+12345６7", "+1 2345678"])
  func `a phone number that isn't in E.164 format is rejected`(phone: String) async throws {
    try await withInstance { instance in
      await expect("invalidPhone") {
        var new = NewAccount()
        new.phoneNumber = phone
        return try await instance.identity.accounts.create(
          instance.acme, new, by: .program(Instance.boss)
        ).value
      }
    }
  }

  @Test(arguments: ["", "a\u{0}b", "a\nb", String(repeating: "é", count: 257)])
  func `a UID that is empty, too long, or has control characters is rejected`(
    uid: String
  ) async throws {
    try await withInstance { instance in
      await expect("invalidLocalID") {
        var new = NewAccount()
        new.localID = uid
        return try await instance.identity.accounts.create(
          instance.acme, new, by: .program(Instance.boss)
        ).value
      }
    }
  }

  @Test func `of several conflicts, the UID is reported first, then phone number, then email`()
    async throws
  {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      // Three separate accounts, so that the result doesn't depend on the order of rows.
      let taken: [(String?, String?, String?)] = [
        (nil, "taken@example.com", nil), (nil, nil, "+4912345678"), ("taken", nil, nil),
      ]
      for (uid, email, phone) in taken {
        var new = NewAccount()
        (new.localID, new.email, new.phoneNumber) = (uid, email, phone)
        _ = try await accounts.create(instance.acme, new, by: .program(Instance.boss))
      }
      let wanted: [(String?, String?, String?, String)] = [
        ("taken", "TAKEN@example.com", "+4912345678", "duplicateLocalID"),
        ("taken", "TAKEN@example.com", nil, "duplicateLocalID"),
        ("free", "TAKEN@example.com", "+4912345678", "phoneExists"),
        (nil, "TAKEN@example.com", "+4912345678", "phoneExists"),
        ("free", "TAKEN@example.com", "+4912345679", "emailExists"),
      ]
      for (uid, email, phone, expected) in wanted {
        var new = NewAccount()
        (new.localID, new.email, new.phoneNumber) = (uid, email, phone)
        let copy = new
        await expect(expected) {
          try await accounts.create(instance.acme, copy, by: .program(Instance.boss))
        }
      }
    }
  }

  @Test func `UID, email, and phone number are unique per pool`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      var first = NewAccount()
      (first.localID, first.email, first.phoneNumber) = ("one", "one@example.com", "+4912345678")
      for pool in [instance.acme, instance.east, instance.globex] {
        _ = try await accounts.create(pool, first, by: .program(Instance.boss))
      }
      let taken: [(String?, String?, String?, String)] = [
        ("one", nil, nil, "duplicateLocalID"), (nil, "ONE@example.com", nil, "emailExists"),
        (nil, nil, "+4912345678", "phoneExists"), ("ONE", "two@example.com", nil, "done"),
      ]
      for (uid, email, phone, expected) in taken {
        await expect(expected) {
          var new = NewAccount()
          (new.localID, new.email, new.phoneNumber) = (uid, email, phone)
          return try await accounts.create(instance.acme, new, by: .program(Instance.boss)).value
        }
      }
      let policy = try await instance.identity.policies.read(instance.acme)
      #expect(policy.users == 2)
      #expect(try await instance.log().map(\.action).tally[.accountCreate] == 2)
    }
  }

  @Test func `64 concurrent sign-ups with one email create one account`() async throws {
    try await withInstance { instance in
      let outcomes = try await concurrently(64) { number in
        await outcome {
          var new = NewAccount()
          new.email = number % 2 == 0 ? "alice@example.com" : "ALICE@example.com"
          new.password = Secret("password \(number)")
          return try await instance.identity.signIns.signUp(
            instance.acme, new, by: Instance.visitor)
        }
      }
      #expect(outcomes.tally == ["done": 1, "emailExists": 63])
      #expect(try await instance.identity.policies.read(instance.acme).users == 1)
      #expect(try await instance.log().map(\.action).tally[.accountSignUp] == 1)
    }
  }
}

struct SignUpTests {
  private func signUp(
    _ instance: Instance, _ pool: Pool? = nil, _ fill: (inout NewAccount) -> Void
  ) async throws -> SessionGrant {
    var new = NewAccount()
    fill(&new)
    return try await instance.identity.signIns.signUp(
      pool ?? instance.acme, new, by: Instance.visitor)
  }

  @Test func `sign-up signs the user in and is audited with the user as actor`() async throws {
    try await withInstance { instance in
      let grant = try await signUp(instance) {
        ($0.email, $0.password) = (Person.alice.email, Person.alice.password)
      }
      #expect(grant.session.provider == .password)
      #expect(grant.session.authTime == instance.now.seconds)
      #expect(grant.account.lastLoginAt == instance.now)
      #expect(!grant.account.emailVerified)
      _ = try await instance.identity.sessions.check(grant.session)
      let row = try #require(try await instance.log().first)
      #expect((row.action, row.actorKind) == (.accountSignUp, "user"))
      #expect(row.actorID == grant.account.id.text)
      #expect(row.address == Instance.visitor.address)
    }
  }

  @Test func `sign-up ignores a UID, phone number, verified email, or disabled flag`() async throws
  {
    try await withInstance { instance in
      let grant = try await signUp(instance) { new in
        (new.email, new.password) = (Person.mallory.email, Person.mallory.password)
        (new.localID, new.phoneNumber) = ("alice", "+4912345678")
        (new.emailVerified, new.disabled) = (true, true)
      }
      let account = try await instance.reload(grant.account)
      #expect(!account.emailVerified && !account.disabled)
      #expect(account.phoneNumber == nil)
      #expect(account.id.text != "alice")
    }
  }

  @Test func `sign-up reports a missing password or email`() async throws {
    try await withInstance { instance in
      await expect("missingPassword") {
        try await signUp(instance) { $0.email = Person.alice.email }
      }
      await expect("missingEmail") {
        try await signUp(instance) { $0.password = Person.alice.password }
      }
      await expect("adminOnly") { try await signUp(instance) { _ in } }
    }
  }

  @Test func `sign-up requires an enabled sign-in method`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.signIn = SignInMethods(password: false, emailLink: false, anonymous: true)
      }
      await expect("operationNotAllowed") {
        try await signUp(instance) {
          ($0.email, $0.password) = (Person.alice.email, Person.alice.password)
        }
      }
      let grant = try await signUp(instance) { _ in }
      #expect(grant.account.isAnonymous)
      #expect(grant.session.provider == .anonymous)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.disableAuth = true
      }
      let pool = try await instance.identity.pools.find(project: instance.acme.project)
      await expect("poolDisabled") { try await signUp(instance, pool) { _ in } }
    }
  }
}
