import Database
import Identity
import Testing

@testable import TestIdentity

/// Changes that service tokens make to second factors are audited and notified like those of
/// administrators, and a pool can limit them.
struct TokenFactorRuleTests {
  private func update(
    _ instance: Instance, _ account: Account, _ factors: FactorsChange,
    by author: Author? = nil
  ) async throws {
    let program = try await instance.program()
    var change = AccountChange()
    change.factors = factors
    try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: author ?? program)
  }

  @Test func `a removal by a token is audited and emailed like one by an agent`() async throws {
    try await withInstance { instance in
      let byToken = try await instance.enrolled(.alice)
      let byPerson = try await instance.enrolled(.bob)
      try await update(instance, byToken.account, .clear)
      let agent = try await instance.agent()
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, byPerson.account.id, byPerson.factor, agent.request())
      let rows = try await instance.log().filter {
        [.factorRemove, .factorRemoveAll].contains($0.action)
      }
      #expect(rows.count == 2)
      let (person, token) = (rows[0], rows[1])
      #expect(token.action == .factorRemoveAll && token.actorName == "sync")
      #expect(token.objectID == byToken.account.id.text)
      #expect(token.new(.factorsLeft) == .number(0))
      #expect(AuditRow.factors(token.old(.factors)).map(\.displayName) == ["phone"])
      #expect(token.new(.sessionsEnded) == .number(2))
      #expect(person.new(.sessionsEnded) == .number(2))
      // The REST API requires no reason.
      #expect(token.reason == nil)
      let messages = try await instance.messages()
      for email in ["alice@example.com", "bob@example.com"] {
        #expect(messages.count { $0 == "mail notice-factors-removed \(email)" } == 1)
      }
    }
  }

  @Test func `a removal by a token says how many backup codes it revoked`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      _ = try await instance.recoveryCodes(.alice, device)
      _ = try await instance.temporaryCode(device.account)
      try await update(instance, device.account, .clear)
      let row = try #require(try await instance.log().first { $0.action == .factorRemoveAll })
      #expect(row.new(.recoveryCodesEnded) == .number(10))
      #expect(row.new(.temporaryCodesEnded) == .number(1))
    }
  }

  @Test func `phones that a token adds, renames, and removes are audited separately`() async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let (one, two) = ("+15555550101", "+15555550102")
      try await update(
        instance, alice,
        .replace([
          FactorEntry(id: "1", displayName: "Home", phoneNumber: one),
          FactorEntry(id: "2", phoneNumber: two),
        ]))
      try await update(
        instance, alice,
        .replace([FactorEntry(id: "1", displayName: "Work", phoneNumber: one)]))
      let actions = try await instance.log().map(\.action).filter {
        $0?.rawValue.hasPrefix("factor.") == true
      }
      #expect(
        actions == [.factorRename, .factorRemove, .factorEnroll, .factorEnroll])
      #expect(
        Set(try await instance.messages()) == [
          "mail notice-factors-added alice@example.com",
          "mail notice-factors-removed alice@example.com",
          "mail notice-factor-renamed alice@example.com",
        ])
      // A request that changes no factor isn't audited.
      let rows = try await instance.log().count
      try await update(
        instance, alice,
        .replace([FactorEntry(id: "1", displayName: "Work", phoneNumber: one)]))
      #expect(try await instance.log().count == rows)
    }
  }

  @Test func `a name that nobody could see, or that is shown already, is no change`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let phone = FactorEntry(id: "p", phoneNumber: "+15555550101")
      try await update(instance, device.account, .replace([phone]))
      func rename(_ name: String) async throws -> [String?] {
        let app = FactorEntry(id: device.factor.text, displayName: name)
        try await update(instance, device.account, .replace([app, phone]))
        return try await instance.reload(device.account).factors.map(\.displayName)
      }
      func renames() async throws -> [Int] {
        [
          try await instance.messages().count { $0.contains("notice-factor-renamed") },
          try await instance.log().count { $0.action == .factorRename },
        ]
      }
      let rows = try await instance.log().count
      for name in ["", "   ", "\u{200B}\u{200B}", "\n\n", "phone", " phone\n"] {
        #expect(try await rename(name) == ["phone", nil])
      }
      #expect(try await instance.log().count == rows)
      #expect(try await renames() == [0, 0])
      #expect(try await rename("  Tablet ") == ["Tablet", nil])
      #expect(try await renames() == [1, 1])
      // Its number was shown before it was its name.
      let named = FactorEntry(id: "p", displayName: "+15555550101")
      try await update(instance, device.account, .replace([named]))
      #expect(
        try await instance.reload(device.account).factors.map(\.label) == [
          "Tablet", "+15555550101",
        ])
      #expect(try await renames() == [1, 1])
    }
  }

  @Test func `C15: a pool limits how many users a token can change per hour`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let phone = FactorsChange.replace([FactorEntry(phoneNumber: "+15555550101")])
      // There is no limit by default.
      for _ in 0..<5 {
        try await update(instance, alice, phone)
        try await update(instance, alice, .clear)
      }
      try await instance.setSupportRules { $0.tokenChangesPerHour = 2 }
      try await update(instance, alice, phone)
      try await update(instance, alice, .clear)
      let refused = try await thrown(AccountError.self) {
        try await update(instance, alice, phone)
      }
      guard case .tooManyFactorChanges(let until) = refused else {
        Issue.record("\(String(describing: refused))")
        return
      }
      #expect(until == instance.now.advanced(bySeconds: 3_600))
      #expect(try await instance.reload(alice).factors.isEmpty)
      // Each token has its own limit. Administrators and other changes aren't limited.
      try await update(instance, alice, phone, by: instance.program("other"))
      try await update(instance, alice, .clear, by: Instance.boss)
      var change = AccountChange()
      change.displayName = .set("Alice")
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: instance.program())
      // Nor are new users of an import, or users whose factors stay as they are.
      func row(_ number: String) -> ImportRow {
        ImportRow.user(.bob) {
          $0.factors = [ImportedFactor(.phone(number), id: "p")]
        }
      }
      let replacing = ImportOptions(existing: .replace)
      for options in [ImportOptions.factorless, replacing] {
        let outcome = try await instance.identity.imports.run(
          instance.acme, [row("+15555550103")], options, by: instance.program())
        #expect(outcome.refusals.isEmpty)
      }
      let changing = try await instance.identity.imports.run(
        instance.acme, [row("+15555550104")], replacing, by: instance.program())
      #expect(changing.refusals.map { "\($0.fault)" } == ["tooManyFactorChanges"])
      let bob = try await instance.identity.accounts.find(instance.acme, ID("uid-bob"))
      #expect(bob?.factors.map(\.phoneNumber) == ["+15555550103"])
      instance.clock.advance(3_600)
      try await update(instance, alice, phone)
      let within = try await instance.identity.imports.run(
        instance.acme, [row("+15555550104")], replacing, by: instance.program())
      #expect(within.replaced == 1)
    }
  }

  @Test func `a pool can keep tokens from removing factors, also by import`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.setSupportRules { $0.tokensRemoveFactors = false }
      await expect("factorRemovalByTokenOff") {
        try await update(instance, device.account, .clear)
      }
      let phone = FactorEntry(id: "p", phoneNumber: "+15555550101")
      try await update(instance, device.account, .replace([phone]))
      // A different number is a different factor.
      for other in ["+15555550102", nil] {
        await expect("factorRemovalByTokenOff") {
          try await update(
            instance, device.account,
            .replace(other.map { [FactorEntry(id: "p", phoneNumber: $0)] } ?? []))
        }
      }
      let row = ImportRow.user(.alice) {
        $0.localID = device.account.id.text
        $0.factors = [ImportedFactor(.phone("+15555550103"))]
      }
      let outcome = try await instance.identity.imports.run(
        instance.acme, [row], ImportOptions(existing: .replace), by: instance.program())
      #expect(outcome.refusals.map { "\($0.fault)" } == ["factorRemovalByTokenOff"])
      #expect(try await instance.reload(device.account).factors.count == 2)
      #expect(try await instance.reload(device.account).email == Person.alice.email)
      // Administrators still can.
      try await update(instance, device.account, .clear, by: Instance.boss)
    }
  }

  @Test func `deleting a user removes their factors, under the same rules`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      let (alice, bob) = (try await instance.enrolled(.alice), try await instance.enrolled(.bob))
      @Sendable func delete(
        _ device: Device, by author: Author? = nil
      ) async throws {
        let program = try await instance.program()
        try await accounts.delete(instance.acme, device.account.id, by: author ?? program)
      }
      try await instance.setSupportRules { $0.tokensRemoveFactors = false }
      await expect("factorRemovalByTokenOff") { try await delete(alice) }
      #expect(try await instance.reload(alice.account).factors.count == 1)
      let plain = try await instance.account(.mallory)
      try await accounts.delete(instance.acme, plain.id, by: instance.program())
      try await instance.setSupportRules {
        $0.tokensRemoveFactors = true
        $0.tokenChangesPerHour = 1
      }
      try await delete(alice)
      let refused = try await thrown(AccountError.self) { try await delete(bob) }
      guard case .tooManyFactorChanges = refused else {
        Issue.record("\(String(describing: refused))")
        return
      }
      // Administrators still can.
      try await delete(bob, by: Instance.boss)
    }
  }

  @Test(arguments: [0, -1, 1_000_001])
  func `the limit is between 1 and a million users`(limit: Int) async throws {
    try await withInstance { instance in
      await expect("outOfRange") {
        try await instance.setSupportRules { $0.tokenChangesPerHour = limit }
      }
    }
  }
}
