import Database
import IdentityToolkitClient
import JSON
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

@Suite struct RemotePolicyTests {
  @Test func `a policy that's changed elsewhere is audited, and mailed if it's weaker`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.administrator("olga", .owner)
      let remote = instance.remote
      remote.set(TestRemote.user("a", totp: true))
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let policy = try await instance.identity.policies.read(pool)
      #expect(policy.configuration.totp?.adjacentIntervals == 3)
      let sent = try await instance.test.query("SELECT count(*) FROM outbox")
      remote.behavior.mfa = [
        "state": "ENABLED",
        "providerConfigs": [
          ["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 9]]
        ],
      ]
      try await instance.sync(pool)
      let row = try #require(try await instance.log(pool).first)
      #expect(row.action == .policyWiden && row.actor == .remote)
      #expect(row.new(.adjacentIntervals) == .number(9))
      #expect(try await instance.test.query("SELECT count(*) FROM outbox") != sent)
      #expect(try await instance.mirror(pool).changedAt == instance.now)
      // The same again changes nothing.
      try await instance.sync(pool)
      #expect(try await instance.log(pool).first?.id == row.id)
    }
  }

  @Test func `intervals that the remote doesn't say are a third value`() async throws {
    try await withInstance { instance in
      let remote = instance.remote
      remote.set(TestRemote.user("a", totp: true))
      let pool = try await instance.connect()
      try await instance.sync(pool)
      func set(_ window: JSON) async throws -> AuditRow? {
        remote.behavior.mfa = [
          "state": "ENABLED",
          "providerConfigs": [["state": "ENABLED", "totpProviderConfig": window]],
        ]
        try await instance.sync(pool)
        return try await instance.log(pool).first
      }
      let unsaid = try await set([:])
      #expect(unsaid?.new(.adjacentIntervals) == .code("unsaid"))
      let policy = try await instance.identity.policies.read(pool)
      #expect(policy.configuration.totp?.intervals == .unsaid)
      // From “0 or 5” to 5 is no weakening, to 6 is one.
      #expect(try await set(["adjacentIntervals": 5])?.action == .policyChange)
      _ = try await set([:])
      #expect(try await set(["adjacentIntervals": 6])?.action == .policyWiden)
    }
  }

  @Test func `tenants appear, are renamed and disabled, go, and return under their IDs`()
    async throws
  {
    try await withInstance { instance in
      let (remote, pools) = (instance.remote, instance.identity.pools)
      remote.behavior.tenants = [
        "east": TestRemote.tenant("east"), "west": TestRemote.tenant("west", intervals: nil),
      ]
      remote.set(TestRemote.user("a"), in: "east")
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let east = try await pools.existing(project: pool.project, tenant: ID("east"))
      #expect(east.kind == .countersign)
      #expect(try await instance.identity.accounts.count(east) == 1)
      remote.behavior.tenants["east"] = TestRemote.tenant("east", name: "East", isDisabled: true)
      try await instance.sync(pool)
      let renamed = try await pools.existing(project: pool.project, tenant: ID("east"))
      #expect(renamed.name == "East" && renamed.isDisabled)
      let rename = try await instance.log(east).first
      #expect(rename?.action == .tenantChange && rename?.actor == .remote)
      #expect(try await instance.identity.accounts.count(east) == 1)
      remote.behavior.tenants["east"] = nil
      try await instance.sync(pool)
      #expect(try await instance.mirror(east).state == .gone)
      #expect(try await instance.log(east).first?.action == .tenantGone)
      #expect(try await instance.identity.accounts.count(east) == 1)
      // After 30 days, its users are deleted.
      instance.clock.advance(30 * 86_400 - 302)
      try await instance.sync(pool)
      #expect(try await instance.identity.accounts.count(east) == 1)
      try await instance.sync(pool)
      #expect(try await instance.log(east).first?.action == .tenantDelete)
      while try await instance.identity.purge() {}
      await expect("tenantDeleted") {
        _ = try await pools.existing(project: pool.project, tenant: ID("east"))
      }
      remote.behavior.tenants["east"] = TestRemote.tenant("east")
      try await instance.sync(pool)
      let returned = try await pools.existing(project: pool.project, tenant: ID("east"))
      #expect(returned.key == east.key && !returned.isDisabled)
      #expect(try await instance.identity.accounts.count(east) == 1)
    }
  }

  @Test func `tenants that are off aren't gone`() async throws {
    try await withInstance { instance in
      let remote = instance.remote
      remote.behavior.tenants = ["east": TestRemote.tenant("east")]
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let east = try await instance.identity.pools.existing(
        project: pool.project, tenant: ID("east"))
      remote.behavior.allowsTenants = false
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirror(east).state == .disabled)
      remote.behavior.allowsTenants = true
      try await instance.sync(pool)
      #expect(try await instance.mirror(east).state == .present)
    }
  }

  @Test func `a policy that was asked for earlier than the stored one is skipped`() async throws {
    try await withInstance { instance in
      let remote = instance.remote
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let known = try await instance.connection(pool)
      let other = try instance.identity()
      // While a first answer is on its way, the policy changes, and another server reads it.
      let old = remote.behavior.mfa
      remote.behavior.mfa = ["state": "DISABLED"]
      remote.behavior.afterward = { address in
        guard address.hasSuffix("config") || address.contains("config?") else { return }
        remote.behavior.afterward = nil
        remote.behavior.mfa = old
        instance.clock.advance(10)
        _ = try await other.connections.sync(known) { true }
      }
      instance.clock.advance(301)
      _ = try await instance.identity.connections.sync(known) { true }
      let policy = try await instance.identity.policies.read(pool)
      #expect(policy.configuration.totp?.adjacentIntervals == 3)
    }
  }
}
