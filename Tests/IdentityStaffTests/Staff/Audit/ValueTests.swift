import Crypto
import Database
import OTP
import OpenIDConnect
import Testing

@testable import Identity
@testable import TestIdentity

/// What is stored and audited depends on values, not on how the audit log displays them.
struct ValueTests {
  @Test func `a provider's new key replaces the old one with the same ID`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let providers = instance.identity.identityProviders
      let new = try KeySet(TestTokenIssuer.other.keySet())
      #expect(new.names == ["k1"])
      _ = try await providers.update(instance.acme, "oidc.acme", by: .program(Instance.boss)) {
        (settings) throws(ProviderError) in settings.keys = new
      }
      #expect(try await providers.find(instance.acme, "oidc.acme").settings.keys == new)
      let row = try #require(try await instance.log().first)
      #expect(
        row.changes == [AuditChange(.keys, from: .list(["k1"]), to: .list(["k1"]))])
      // Tokens of the old key are rejected, and those of the new key are accepted.
      let (old, fresh) = (TestTokenIssuer.back, TestTokenIssuer.other)
      await expect("invalidResponse") {
        try await instance.assertion(try old.token(Instance.claims()))
      }
      _ = try await instance.assertion(try fresh.token(Instance.claims()))
    }
  }

  @Test(arguments: ["none", "None", "never", "as it was"])
  func `a name that looks like the placeholder for no name is audited`(name: String) async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      var change = AccountChange()
      change.displayName = .set(name)
      let rows = try await instance.log().count
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      #expect(try await instance.reload(alice).displayName == name)
      let row = try #require(try await instance.log().first)
      #expect(try await instance.log().count == rows + 1)
      #expect(row.changes == [AuditChange(.displayName, from: .absent, to: .text(name))])
      change.displayName = .clear
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      #expect(try await instance.log().count == rows + 2)
    }
  }

  @Test func `an explicit minimum length equal to the default is stored`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      for shortest in [nil, 6, nil] as [Int?] {
        let policy = PasswordPolicy(isEnforced: true, shortest: shortest)
        let rows = try await instance.wholeLog().count
        let project = try await pools.update(
          project: instance.acme.project, by: .program(Instance.boss)
        ) {
          $0.passwords = policy
        }.value
        #expect(project.passwords?.shortest == shortest)
        let tenant = try await pools.update(
          project: instance.acme.project, tenant: instance.east.tenant,
          by: .program(Instance.boss)
        ) { $0.passwords = policy }.value
        #expect(tenant.passwords?.shortest == shortest)
        #expect(try await instance.wholeLog().count == rows + 2)
      }
    }
  }

  @Test func `values that only look the same are different`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      let (composed, decomposed) = ("Caf\u{E9} project", "Cafe\u{301} project")
      for name in [composed, decomposed] {
        _ = try await pools.update(project: instance.acme.project, by: .program(Instance.boss)) {
          $0.displayName = name
        }
        let found = try await pools.existingSettings(project: instance.acme.project).displayName
        #expect(Array(found.utf8) == Array(name.utf8))
      }
      // One line, and two lines that are displayed the same way when joined.
      for proof in [["one / two"], ["one", "two"]] {
        try await instance.setSupportRules { $0.identityProof = proof }
        #expect(try await instance.identity.support.settings(instance.acme).identityProof == proof)
        #expect(try await instance.log().first?.action == .supportChange)
      }
      let rows = try await instance.log().count
      try await instance.setSupportRules { $0.identityProof = ["one", "two"] }
      #expect(try await instance.log().count == rows)
    }
  }

  @Test func `a change to a linked identity's profile is audited`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for name in ["Alice", "Alicia"] {
        var change = AccountChange()
        change.link = ProviderLink(provider: "google.com", rawID: "g", displayName: name)
        try await instance.identity.accounts.update(
          instance.acme, alice.id, change, by: Instance.boss)
      }
      let row = try #require(try await instance.log().first)
      #expect(row.old(.providers) == row.new(.providers) && row.fields == [.providers])
    }
  }

  @Test func `a secret replaced by import is audited and emailed as a new factor`() async throws {
    try await withInstance { instance in
      try await instance.allowTOTPImport()
      func run(_ secret: String, _ options: ImportOptions) async throws {
        let row = ImportRow.user(.alice) {
          var factor = ImportedFactor(.totp(Secret(Array(secret.utf8))), id: "app-1")
          factor.displayName = "Authenticator"
          factor.enrolledAt = Instant(seconds: 1_650_000_000)
          $0.factors = [factor]
        }
        let outcome = try await instance.identity.imports.run(
          instance.acme, [row], options, by: Instance.boss)
        #expect(outcome.refusals.isEmpty)
      }
      try await run("12345678901234567890", .factorless)
      let account = try #require(
        try await instance.identity.accounts.find(instance.acme, ID("uid-alice")))
      let before = (try await instance.log().count, try await instance.messages().count)

      // The same secret: the factor doesn't change, and a used code remains used.
      let app = try #require(OneTimePassword(secret: Secret(Array("12345678901234567890".utf8))))
      let (totp, now) = (instance.identity.enrollments.totp, instance.now)
      let step = app.step(at: now.seconds)
      let code = TypedCode(try app.code(step: step))
      let finding = try await instance.database.write { connection in
        try totp.check(
          code, for: ID("app-1"), of: account, in: instance.acme, window: .standard, at: now,
          connection)
      }
      #expect(finding.result == .accepted)
      try await run("12345678901234567890", ImportOptions(existing: .replace))
      #expect(try await instance.messages().count == before.1)
      func lastStep() async throws -> Int64? {
        try await instance.database.read { connection in
          try connection.first("SELECT /* test */ last_step FROM factor") {
            try $0.next() as Int64?
          } ?? nil
        }
      }
      #expect(try await lastStep() == step)

      try await run("09876543210987654321", ImportOptions(existing: .replace))
      #expect(try await lastStep() == nil)
      let rows = try await instance.log()
      #expect(rows.count > before.0)
      let change = try #require(rows.first { $0.action == .accountChange })
      #expect(change.new(.factorSecrets) == .secret)
      let messages = try await instance.messages()
      #expect(messages.contains("mail notice-factors-removed alice@example.com"))
      #expect(messages.contains("mail notice-factors-added alice@example.com"))
      #expect(try await instance.reload(account).factors.map(\.id.text) == ["app-1"])
    }
  }
}
