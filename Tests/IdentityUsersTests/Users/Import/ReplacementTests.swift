import Crypto
import Database
import Identity
import TestDatabases
import Testing

@testable import TestIdentity

@Suite struct ReplacementTests {
  private func replace(_ instance: Instance, _ row: ImportRow) async throws -> ImportOutcome {
    try await instance.identity.imports.run(
      instance.acme, [row], ImportOptions(existing: .replace), by: Instance.boss)
  }

  @Test func `an existing account is refused, kept, or replaced`() async throws {
    try await withInstance { instance in
      let imports = instance.identity.imports
      let first = ImportRow.user(.alice) { $0.displayName = "First" }
      let second = ImportRow.user(.alice) { $0.displayName = "Second" }
      _ = try await imports.run(
        instance.acme, [first], .factorless, by: Instance.boss)
      let refused = try await imports.run(
        instance.acme, [second], .factorless, by: Instance.boss)
      #expect("\(refused.refusals[0].fault)" == "localIDExists")
      let kept = try await imports.run(
        instance.acme, [second], ImportOptions(existing: .keep), by: Instance.boss)
      #expect(kept.kept == 1 && kept.created == 0 && kept.refusals.isEmpty)
      func name() async throws -> String? {
        try await instance.identity.accounts.find(instance.acme, ID("uid-alice"))?.displayName
      }
      #expect(try await name() == "First")
      let replaced = try await replace(instance, second)
      #expect(replaced.replaced == 1 && replaced.created == 0)
      #expect(try await name() == "Second")
      let log = try await instance.wholeLog().prefix(2).map(\.action)
      #expect(log == [.accountImport, .accountChange])
    }
  }

  @Test func `a later row of the same import replaces the account of an earlier one`() async throws
  {
    try await withInstance { instance in
      let first = ImportRow.user(.alice) { $0.displayName = "Penelope" }
      let second = ImportRow.user(.alice) {
        $0.displayName = "Ulysses"
        $0.disabled = true
      }
      let outcome = try await instance.identity.imports.run(
        instance.acme, [first, second, ImportRow.user(.bob)], ImportOptions(existing: .replace),
        by: Instance.boss)
      #expect(outcome.created == 2 && outcome.replaced == 1 && outcome.refusals.isEmpty)
      for (word, found) in [("Penelope", []), ("Ulysses", ["uid-alice"])] {
        let users = try await instance.identity.accounts.search(instance.acme, word)
        #expect(users.accounts.map(\.id.text) == found, "\(word)")
      }
      let policy = try await instance.identity.policies.read(instance.acme)
      #expect(policy.users == 2)
    }
  }

  @Test func `an import without authenticator apps removes none`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let uid = device.account.id
      let outcome = try await replace(
        instance,
        ImportRow.user(.alice) {
          $0.localID = uid.text
          $0.factors = [ImportedFactor(.phone("+15555550101"))]
        })
      #expect(outcome.replaced == 1)
      let account = try #require(
        try await instance.identity.accounts.find(instance.acme, uid))
      #expect(account.factors.map(\.kind) == [.totp, .phone])
      #expect(account.factors.first?.id == device.factor)
      // The open session has ended.
      await expect("tokenExpired") { try await instance.identity.sessions.check(device.session) }
    }
  }

  @Test func `the user is notified of changes to the account`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      func row(_ number: String) -> ImportRow {
        ImportRow.user(.alice) {
          $0.localID = account.id.text
          $0.email = "new@example.com"
          $0.password = .salted(Person.bob.password)
          $0.factors = [ImportedFactor(.phone(number))]
          $0.providers = [ProviderLink(provider: "google.com", rawID: "g")]
        }
      }
      _ = try await replace(instance, row("+15555550101"))
      _ = try await replace(instance, row("+15555550102"))
      let mails = try await instance.database.read { connection in
        try connection.all("SELECT /* test */ purpose, recipient FROM outbox ORDER BY message_id") {
          "\(try $0.next() as String) \(try $0.next() as String)"
        }
      }
      #expect(
        mails == [
          "notice-factors-added alice@example.com", "notice-password-changed new@example.com",
          "notice-email-changed alice@example.com", "notice-provider-linked alice@example.com",
          "notice-factors-removed new@example.com", "notice-factors-added new@example.com",
        ])
    }
  }

  @Test func `a repeated import keeps a user whose identity has moved to another`() async throws {
    try await withInstance { instance in
      let link = ProviderLink(provider: "google.com", rawID: "g-1")
      let row = ImportRow.user(.alice) { $0.providers = [link] }
      let keep = ImportOptions(existing: .keep)
      _ = try await instance.identity.imports.run(instance.acme, [row], keep, by: Instance.boss)
      _ = try await replace(instance, ImportRow.user(.alice))
      _ = try await instance.identity.imports.run(
        instance.acme, [ImportRow.user(.bob) { $0.providers = [link] }], keep,
        by: Instance.boss)
      let again = try await instance.identity.imports.run(
        instance.acme, [row, ImportRow.user(.mallory) { $0.providers = [link] }], keep,
        by: Instance.boss)
      #expect(again.kept == 1 && again.created == 0)
      #expect(again.refusals.map { "\($0.index) \($0.fault)" } == ["1 providerExists"])
    }
  }

  @Test func `phones without an enrollment ID stay the same factors if nothing changes`()
    async throws
  {
    try await withInstance { instance in
      let row = ImportRow.user(.alice) {
        $0.factors = [
          ImportedFactor(.phone("+15555550101")), ImportedFactor(.phone("+15555550102")),
        ]
      }
      _ = try await replace(instance, row)
      func factors() async throws -> [String] {
        try await instance.identity.accounts.find(instance.acme, ID("uid-alice"))?.factors.map {
          "\($0.id.text) \($0.phoneNumber ?? "") \($0.enrolledAt.microseconds)"
        } ?? []
      }
      let before = try await factors()
      instance.clock.advance(3_600)
      _ = try await replace(instance, row)
      let after = try await factors()
      #expect(before.count == 2 && after == before)
      #expect(try await instance.messages().isEmpty)
    }
  }

  /// A user with a phone and a suspended authenticator app, whose codes are locked.
  private struct Protected {
    let device: Device
    let recoveryCodes: [String]
    let temporaryCode: String
  }

  private func protected(_ instance: Instance, appID: String) async throws -> Protected {
    let identity = instance.identity
    try await instance.allowTOTPImport()
    try await instance.setWindow(1)
    try await instance.allowBackupCodes()
    _ = try await replace(instance, row(appID: appID))
    let account = try #require(try await identity.accounts.find(instance.acme, ID("uid-alice")))
    let device = Device(
      account: account, factor: ID(appID), secret: ImportedFactor.secret,
      session: UserSession(
        pool: instance.acme, account: account.id, authTime: instance.now.seconds,
        provider: .password))
    let recoveryCodes = try await instance.recoveryCodes(.alice, device)
    for _ in 0..<10 {
      try await instance.enterCode(device, code: device.wrongCode(at: instance.now))
      // Longer than any block after wrong codes.
      instance.clock.advance(3_601)
    }
    #expect(try await instance.reload(account).codeLock(at: instance.now) == .closed)
    let agent = try await instance.agent()
    _ = try await identity.support.suspend(
      instance.acme, account.id, device.factor, until: instance.now.advanced(bySeconds: 86_400),
      agent.request())
    let temporaryCode = try await instance.temporaryCode(account, hours: 24, by: agent)
    return Protected(device: device, recoveryCodes: recoveryCodes, temporaryCode: temporaryCode)
  }

  private func row(appID: String?, named name: String = "App") -> ImportRow {
    ImportRow.user(.alice) {
      $0.password = .plain(Person.alice.password)
      var app = ImportedFactor(.totp(ImportedFactor.secret), id: appID)
      app.displayName = name
      $0.factors = [app, ImportedFactor(.phone("+15555550101"), id: "phone-1")]
    }
  }

  @Test(arguments: ["app-1", nil] as [String?])
  func `a factor that a row doesn't change stays suspended and locked, with its backup codes`(
    appID: String?
  ) async throws {
    try await withInstance { instance in
      let user = try await protected(instance, appID: "app-1")
      let before = try await instance.reload(user.device.account)
      let messages = try await instance.messages().filter { $0.contains("factors") }
      _ = try await replace(instance, row(appID: appID, named: "Renamed"))
      let after = try await instance.reload(user.device.account)
      #expect(after.factors.map(\.id) == before.factors.map(\.id))
      #expect(after.factors.first?.displayName == "Renamed")
      #expect(after.factors.first?.suspendedUntil == before.factors.first?.suspendedUntil)
      #expect(after.factors.first?.suspendedUntil != nil)
      #expect(after.wrongCodes == before.wrongCodes)
      #expect(after.codeLock(at: instance.now) == .closed)
      #expect(try await instance.messages().filter { $0.contains("factors") } == messages)
      let agent = try await instance.agent()
      _ = try await instance.identity.support.unlock(
        instance.acme, after.id, agent.request())
      for code in [user.temporaryCode, user.recoveryCodes[0]] {
        try await instance.signIn(.alice, user.device, code: code)
      }
    }
  }

  @Test func `the entry of a row that replaces an app says how many backup codes it revoked`()
    async throws
  {
    try await withInstance { instance in
      _ = try await protected(instance, appID: "app-1")
      _ = try await replace(instance, row(appID: "app-2"))
      let entry = try #require(try await instance.log().first { $0.action == .accountChange })
      #expect(entry.new(.origin) == .code("import"))
      #expect(entry.new(.temporaryCodesEnded) == .number(1))
      #expect(entry.new(.recoveryCodesEnded) == .number(10))
    }
  }

  @Test func `an app that gets another ID stays suspended`() async throws {
    try await withInstance { instance in
      let user = try await protected(instance, appID: "app-1")
      let before = try await instance.reload(user.device.account)
      _ = try await replace(instance, row(appID: "app-2"))
      let app = try #require(
        try await instance.reload(before).factors.first { $0.kind == .totp })
      #expect(app.id.text == "app-2" && app.suspendedUntil == before.factors.first?.suspendedUntil)
      #expect(app.isSuspended(at: instance.now))
      try await instance.expectSoundData()
    }
  }

  @Test func `a phone that gets another ID stays suspended`() async throws {
    try await withInstance { instance in
      func row(id: String) -> ImportRow {
        ImportRow.user(.alice) { $0.factors = [ImportedFactor(.phone("+15555550101"), id: id)] }
      }
      _ = try await replace(instance, row(id: "phone-1"))
      let alice = try #require(
        try await instance.identity.accounts.find(instance.acme, ID("uid-alice")))
      let agent = try await instance.agent()
      _ = try await instance.identity.support.suspend(
        instance.acme, alice.id, ID("phone-1"), until: instance.now.advanced(bySeconds: 86_400),
        agent.request())
      _ = try await replace(instance, row(id: "phone-2"))
      let phone = try #require(try await instance.reload(alice).factors.first)
      #expect(phone.id.text == "phone-2" && phone.isSuspended(at: instance.now))
    }
  }

  @Test func `a refused row doesn't change the account`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await instance.account(.bob)
      let before = try await instance.contents()
      for set in [
        { $0.email = Person.bob.email },
        { $0.factors = [ImportedFactor(.phone("+15555550101"), id: device.factor.text)] },
        { $0.factors = (1...6).map { ImportedFactor(.phone("+1555555010\($0)")) } },
      ] as [(inout ImportedUser) -> Void] {
        let outcome = try await replace(
          instance,
          ImportRow.user(.alice) {
            $0.localID = device.account.id.text
            set(&$0)
          })
        #expect(outcome.refusals.count == 1)
      }
      // The numbers of refused rows are skipped if there can be several servers.
      let after = try await instance.contents()
      for (table, rows) in after where TestDatabase.isSQLite || table != "scope" {
        #expect(rows == before[table], "\(table)")
      }
    }
  }
}
