import Crypto
import Database
import Identity
import TestDatabases
import Testing

@testable import TestIdentity

@Suite struct ImportTests {
  @Test func `times in the future are stored as the current time`() async throws {
    try await withInstance { instance in
      let later = Instant(seconds: 253_402_300_799)
      let row = ImportRow.user(.alice) {
        $0.password = .salted(Secret("correct horse"))
        $0.passwordUpdatedAt = later
        ($0.createdAt, $0.lastLoginAt) = (later, later)
        var phone = ImportedFactor(.phone("+15555550101"))
        phone.enrolledAt = later
        $0.factors = [phone]
      }
      for existing in [ImportOptions.Existing.refuse, .replace] {
        let outcome = try await instance.identity.imports.run(
          instance.acme, [row], ImportOptions(existing: existing), by: Instance.boss)
        #expect(outcome.refusals.isEmpty)
        let found = try await instance.identity.accounts.find(instance.acme, ID("uid-alice"))
        let account = try #require(found)
        let times = [account.createdAt, account.lastLoginAt, account.passwordUpdatedAt]
        #expect(times == [instance.now, instance.now, instance.now])
        #expect(account.factors.map(\.enrolledAt.milliseconds) == [instance.now.milliseconds])
      }
      var change = AccountChange()
      (change.createdAt, change.lastLoginAt) = (later, later)
      let changed = try await instance.identity.accounts.update(
        instance.acme, ID("uid-alice"), change, by: Instance.boss)
      #expect(changed.createdAt == instance.now && changed.lastLoginAt == instance.now)
    }
  }

  @Test func `an imported account has all fields of its row`() async throws {
    try await withInstance { instance in
      let link = ProviderLink(provider: "google.com", rawID: "g-1", email: "a@gmail.com")
      let row = ImportRow.user(.alice) {
        $0.email = "Alice@Example.com"
        $0.displayName = "Alicia"
        $0.photoURL = "https://img.example.com/a.png"
        $0.phoneNumber = "+15555550100"
        $0.customAttributes = #"{"admin":true}"#
        $0.disabled = true
        $0.createdAt = Instant(seconds: 1_600_000_000)
        $0.lastLoginAt = Instant(seconds: 1_700_000_000)
        $0.validSince = 1_650_000_000
        $0.providers = [link]
        var phone = ImportedFactor(.phone("+15555550101"), id: "factor-1")
        phone.displayName = "Old phone"
        phone.enrolledAt = Instant(milliseconds: 1_650_000_000_123)
        $0.factors = [phone, ImportedFactor(.phone("+15555550102"))]
      }
      let outcome = try await instance.identity.imports.run(
        instance.acme, [row], .factorless, by: Instance.boss)
      #expect(outcome.created == 1 && outcome.refusals.isEmpty)
      let found = try await instance.identity.accounts.find(instance.acme, ID("uid-alice"))
      let account = try #require(found)
      #expect(account.email == "alice@example.com" && account.emailVerified)
      #expect(account.displayName == "Alicia" && account.phoneNumber == "+15555550100")
      #expect(account.photoURL == "https://img.example.com/a.png" && account.disabled)
      #expect(account.customAttributes == #"{"admin":true}"# && account.providers == [link])
      #expect(account.createdAt.seconds == 1_600_000_000)
      #expect(account.lastLoginAt?.seconds == 1_700_000_000)
      #expect(account.validSince == 1_650_000_000)
      #expect(account.factors.map(\.phoneNumber) == ["+15555550101", "+15555550102"])
      #expect(account.factors[0].id.text == "factor-1")
      #expect(account.factors[0].enrolledAt == Instant(milliseconds: 1_650_000_000_123))
      #expect(account.factors[1].id.text.utf8.count == 36)
      #expect(account.factors[1].enrolledAt.milliseconds == instance.now.milliseconds)
      for words in ["alicia", "alice@exa", "+15555550101", "factor-1", "al"] {
        let hits = try await instance.identity.accounts.search(instance.acme, words)
        #expect(hits.accounts.map(\.id.text) == ["uid-alice"], "\(words)")
      }
      let counts = try await instance.identity.accounts.counts(instance.acme)
      #expect(counts.users == 1 && counts.phoneUsers == 1 && counts.disabled == 1)
      let row2 = try #require(try await instance.wholeLog().first)
      #expect(row2.action == .accountImport && row2.new(.usersCreated) == .number(1))
    }
  }

  @Test func `an imported password hash signs in and is then rehashed`() async throws {
    try await withInstance { instance in
      let row = ImportRow.user(.alice) { $0.password = .salted(Person.alice.password) }
      _ = try await instance.identity.imports.run(
        instance.acme, [row], .factorless, by: Instance.boss)
      func stored() async throws -> String {
        try await instance.identity.accounts.export(instance.acme, after: nil, limit: 1)
          .items[0].passwordHash?.encoded ?? ""
      }
      #expect(try await stored().hasPrefix("$sha256$"))
      await expect("wrongPassword") {
        try await instance.identity.signIns.password(
          instance.acme, email: Person.alice.email, password: Person.wrong, address: "192.0.2.1")
      }
      #expect(try await stored().hasPrefix("$sha256$"))
      _ = try await instance.session(.alice)
      #expect(try await stored().hasPrefix("$argon2id$"))
      _ = try await instance.session(.alice)
    }
  }

  @Test func `an invalid row doesn't stop the others`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.bob)
      let given: [ImportRow] = [
        .user(.alice), .user(.mallory) { $0.localID = "" },
        .user(.bob), .user(.mallory) { $0.email = "nobody" },
        .user(.mallory) { $0.phoneNumber = "555" },
        .user(.mallory) { $0.localID = String(repeating: "x", count: Account.longestID + 1) },
        .failure(.unreadable("no")),
        .user(.mallory) { $0.tenant = ID("elsewhere") },
        .user(.mallory) { $0.providers = [ProviderLink(provider: "google.com", rawID: "")] },
        .user(.mallory) { $0.displayName = String(repeating: "é", count: 257) },
        .user(.mallory) { $0.password = .emulatorText("fakeHash:salt=a:password=bcdefg") },
        .user(.mallory) { $0.password = .plain(Secret("short")) },
        .user(.mallory) { $0.password = .plain(Person.mallory.password) },
      ]
      let rows = given.enumerated().map { number, row in
        row.map { user in
          var user = user
          if user.localID.hasPrefix("uid-") { user.localID += String(number) }
          return user
        }
      }
      let outcome = try await instance.identity.imports.run(
        instance.acme, rows, .factorless, by: Instance.boss)
      #expect(outcome.created == 2)
      #expect(outcome.refusals.map(\.index) == Array(1...11))
      let faults = outcome.refusals.map { "\($0.fault)".prefix { $0 != "(" } }
      #expect(
        faults == [
          "missingLocalID", "emailExists", "invalidEmail", "invalidPhone", "invalidLocalID",
          "unreadable", "otherTenant", "missingRawID", "nameTooLong", "emulatorHash",
          "weakPassword",
        ])
      _ = try await instance.session(.mallory)
    }
  }

  @Test func `imported identities and second factors are validated`() async throws {
    try await withInstance { instance in
      func row(_ factors: [ImportedFactor], _ set: (inout ImportedUser) -> Void = { _ in })
        -> ImportRow
      {
        .user(.alice) {
          $0.factors = factors
          set(&$0)
        }
      }
      let phone = ImportedFactor(.phone("+15555550101"), id: "f")
      let other = ImportedFactor(.phone("+15555550102"), id: "f")
      let secret = ImportedFactor(.totp(Secret([UInt8](repeating: 7, count: 20))))
      let cases: [(ImportRow, String)] = [
        (
          row([]) {
            $0.providers = ["1", "2"].map { ProviderLink(provider: "google.com", rawID: $0) }
          }, "duplicateProvider"
        ),
        (row([phone]) { $0.email = nil }, "factorNeedsEmail"),
        (row([phone]) { $0.emailVerified = false }, "factorNeedsVerifiedEmail"),
        (row([phone, other]), "duplicateFactorID"),
        (row([ImportedFactor(.phone("1"))]), "invalidFactorPhone"),
        (row([phone, ImportedFactor(.phone("+15555550101"))]), "duplicateFactorPhone"),
        (row([ImportedFactor(.unknown)]), "unsupportedFactor"),
        (row([ImportedFactor(.totp(nil))]), "totpNotAllowed"),
        (row([secret]), "totpImportOff"),
        (row([ImportedFactor(.totp(Secret([1, 2, 3])))]), "invalidTOTPSecret"),
        (row([secret, secret]), "tooManyTOTP"),
        (row((1...6).map { ImportedFactor(.phone("+1555555010\($0)")) }), "tooManyFactors"),
      ]
      for (row, fault) in cases {
        let outcome = try await instance.identity.imports.run(
          instance.acme, [row], .factorless, by: Instance.boss)
        #expect(outcome.refusals.map { "\($0.fault)" } == [fault])
      }
      // Nothing was imported, so nothing is audited.
      #expect(try await instance.wholeLog().allSatisfy { $0.action != .accountImport })
    }
  }

  @Test func `duplicates stop an import with the sanity check`() async throws {
    try await withInstance { instance in
      let imports = instance.identity.imports
      var options = ImportOptions.factorless
      options.sanityCheck = true
      let link = ProviderLink(provider: "google.com", rawID: "1")
      let asked = options
      await expect("duplicateLocalID") {
        try await imports.run(
          instance.acme, [.user(.alice), .user(.alice)], asked, by: Instance.boss)
      }
      await expect("duplicateEmail") {
        try await imports.run(
          instance.acme, [.user(.alice), .user(.alice) { $0.localID = "other" }], asked,
          by: Instance.boss)
      }
      await expect("duplicateProvider") {
        try await imports.run(
          instance.acme,
          [.user(.alice) { $0.providers = [link] }, .user(.bob) { $0.providers = [link] }],
          asked, by: Instance.boss)
      }
      await expect("empty") { try await imports.run(instance.acme, [], asked, by: Instance.boss) }
      await expect("tooMany") {
        try await imports.run(
          instance.acme, [ImportRow](repeating: .user(.alice), count: 1_001), asked,
          by: Instance.boss)
      }
      // Without the check, each row is handled separately.
      let outcome = try await imports.run(
        instance.acme,
        [.user(.alice) { $0.providers = [link] }, .user(.bob) { $0.providers = [link] }],
        .factorless, by: Instance.boss)
      #expect(outcome.created == 1 && "\(outcome.refusals[0].fault)" == "providerExists")
    }
  }

  @Test func `users of other tenants don't conflict`() async throws {
    try await withInstance { instance in
      for pool in [instance.acme, instance.east, instance.globex] {
        let outcome = try await instance.identity.imports.run(
          pool, [.user(.alice)], .factorless, by: Instance.boss)
        #expect(outcome.created == 1)
      }
    }
  }

  @Test func `a thousand rows are imported in one transaction`() async throws {
    try await withInstance { instance in
      let rows: [ImportRow] = (0..<1_000).map { number in
        .user(.alice) {
          $0.localID = "uid-\(number)"
          $0.email = "user-\(number)@example.com"
          $0.displayName = number % 2 == 0 ? "Zoë Ægir \(number)" : "山田 \(number)"
        }
      }
      let before = instance.database.statistics.writes
      let outcome = try await instance.identity.imports.run(
        instance.acme, rows, .factorless, by: Instance.boss)
      // PostgreSQL's servers take the numbers of the accounts first.
      let writes = TestDatabase.isSQLite ? 1 : 2
      #expect(outcome.created == 1_000 && instance.database.statistics.writes == before + writes)
      #expect(
        try await instance.identity.accounts.search(instance.acme, "zoe 998").accounts.count == 1)
      #expect(try await instance.identity.accounts.search(instance.acme, "山").accounts.count > 10)
    }
  }

  @Test(arguments: [(true, "complete"), (false, "interrupted")])
  func `the end of an import is recorded with its name and whether the file was read`(
    isComplete: Bool, part: String
  ) async throws {
    try await withInstance { instance in
      try await instance.identity.imports.recordEnd(
        ImportOutcome(), of: instance.acme, name: "users.json", isComplete: isComplete,
        by: Instance.boss)
      let row = try #require(try await instance.log().first)
      #expect(row.new(.fileName) == .text("users.json") && row.new(.importPart) == .code(part))
    }
  }
}
