import Crypto
import Database
@testable import Identity
import TestDatabases
import Testing

/// Tests of what a restore reports about settings.
@Suite struct RevivedSettingsTests {
  @Test func `support rules that were changed since the backup are reported, also of the default`()
    async throws
  {
    try await withInstance { instance in
      let support = instance.identity.support
      try await instance.test.withRestored { restored, former in
        // The same rules as those without a row.
        try await instance.database.write { try SupportRules().store(instance.acme, $0) }
        let same = try await RevivedState.compare(restored, with: former, keys: instance.keys)
        #expect(same.isEmpty)
        let changes: [@Sendable (inout SupportRules) -> Void] = [
          { $0.tokensRemoveFactors = false }, { $0.signInGoal = 9_500 },
          { $0.identityProof = ["date of birth"] }, { $0.approvalOverUsers = 0 },
          { $0.callerVerification = .required },
        ]
        for change in changes {
          var rules = SupportRules()
          change(&rules)
          try await support.change(instance.acme, to: rules, by: Instance.boss)
          let revived = try await RevivedState.compare(restored, with: former, keys: instance.keys)
          #expect(revived.map(\.kind) == [.supportRules])
        }
      }
    }
  }

  @Test func `a role that had ended anyway isn't reported`() async throws {
    try await withInstance { instance in
      let (boss, nora) = try await instance.bossAndNora()
      let end = instance.now.advanced(bySeconds: 60)
      try await instance.identity.administrators.grant(
        Grant(role: .support), until: end, to: nora.id, by: instance.author(boss))
      try await instance.test.withRestored { restored, former in
        instance.clock.advance(60)
        try await instance.identity.purgeExpired()
        let rows = try await instance.database.read { connection in
          try connection.all(
            "SELECT /* test */ 1 FROM administrator_grant WHERE ends_at IS NOT NULL"
          ) { _ in true }
        }
        #expect(rows.isEmpty)
        let revived = try await RevivedState.compare(restored, with: former, keys: instance.keys)
        #expect(!revived.map(\.kind).contains(.role))
      }
    }
  }

  @Test func `a role that ends earlier than in the backup is reported`() async throws {
    try await withInstance { instance in
      _ = try await instance.administrator("olga", .owner)
      let nora = try await instance.administrator("nora", .auditor)
      try await instance.test.withRestored { restored, former in
        let end = instance.now.advanced(bySeconds: 86_400)
        try await instance.identity.administrators.grant(
          Grant(role: .auditor), until: end, to: nora.id, by: Author(actor: .commandLine))
        let revived = try await RevivedState.compare(restored, with: former, keys: instance.keys)
        let kinds = Set(revived.map(\.kind))
        #expect(kinds == [.role])
      }
    }
  }

  @Test func `a provider's former secret is reported, and one that was sealed again isn't`()
    async throws
  {
    try await withInstance { instance in
      let providers = instance.identity.identityProviders
      _ = try await providers.create(
        in: instance.acme, id: "oidc.acme", IdentityProviderTests.oidc(), by: Instance.boss)
      try await instance.test.withRestored { restored, former in
        func seal(_ secret: String) async throws {
          let sealer = try IdentityProviders.sealer(instance.keys, random: .system)
          let place = Array("\(instance.acme.key) oidc.acme".utf8)
          let box = try sealer.seal(Array(secret.utf8), with: place)
          try await instance.database.write { connection in
            _ = try connection.run(
              """
              UPDATE /* test */ identity_provider SET sealed_secret = \(box)
              WHERE scope_key = \(instance.acme.key)
              """)
          }
        }
        try await seal("not for everybody")
        let same = try await RevivedState.compare(restored, with: former, keys: instance.keys)
        #expect(same.isEmpty)
        try await seal("another")
        let revived = try await RevivedState.compare(restored, with: former, keys: instance.keys)
        #expect(revived.map(\.kind) == [.identityProvider])
        #expect(revived.first?.what.hasSuffix("oidc.acme") == true)
      }
    }
  }

  @Test func `settings of sign-in to the console are compared, with defaults for those not stored`()
    async throws
  {
    try await withInstance { instance in
      try await instance.test.withRestored { restored, former in
        try await instance.database.write { connection in
          try SessionLimits.standard.store(connection)
          try Support.stepUp.store(String(Support.usualStepUp), connection)
        }
        let same = try await RevivedState.compare(restored, with: former, keys: instance.keys)
        #expect(same.isEmpty)
        try await instance.database.write { connection in
          try SessionLimits(idleMinutes: 5, hours: 8, requiresSecondFactor: true).store(connection)
          try Support.stepUp.store("5", connection)
          try PasskeyRequirement.setting.store("1", connection)
          try PasswordSignIn.setting.store("olga", connection)
        }
        let revived = try await RevivedState.compare(restored, with: former, keys: instance.keys)
        #expect(
          revived.map { "\($0.kind) \($0.what)" } == [
            "passwordSignIn on", "passkeyRequirement off", "secondFactorRequirement off",
            "idleLimit 60", "sessionLimit 12", "reauthentication 15",
          ])
      }
    }
  }
}
