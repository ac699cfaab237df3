import Crypto
@testable import Identity
import IdentityToolkitClient
import Testing

@testable import TestIdentity

/// What pools of each kind offer, in the gate and in the rules that take a project's ID.
struct CapabilityTests {
  @Test func `a hosted pool offers all but a connection, a connected one what its level permits`() {
    for level in AccessLevel.allCases {
      #expect(
        PoolKind.hosted.offers(at: level) == Set(Capability.allCases).subtracting([.connection]))
    }
    for kind in [PoolKind.identityPlatform, .countersign] {
      #expect(kind.offers(at: .read) == [.bookkeeping, .connection])
      #expect(kind.offers(at: .support) == [.bookkeeping, .connection, .userChanges])
      #expect(
        kind.offers(at: .policy) == [.bookkeeping, .connection, .userChanges, .policyChanges])
    }
    #expect(PoolKind.allCases.map(\.rawValue) == ["hosted", "identity-platform", "countersign"])
  }

  @Test(arguments: PoolKind.allCases)
  func `the gate refuses exactly the actions that a pool doesn't offer, before anything else`(
    kind: PoolKind
  ) async throws {
    try await withInstance { instance in
      let store = instance.identity.store
      let auditor = try await instance.agent("ada", role: .auditor)
      for pool in [
        try await instance.connected(instance.acme, as: kind),
        try await instance.connected(instance.east, as: kind),
      ] {
        #expect(pool.kind == kind)
        for action in ConsoleAction.allCases {
          let isOffered = pool.offers.contains(action.requirements.needs)
          let byProgram = await outcome {
            try await store.run(action, by: .program(Instance.boss), in: ActionTarget(pool)) {
              _, _ in ()
            }
          }
          #expect(byProgram == (isOffered ? "done" : "notOffered"), "\(action)")
          // Without the permission, a reason, or a code.
          let byAuditor = await outcome {
            try await store.run(
              action, by: .console(auditor.request(nil)), in: ActionTarget(pool)
            ) { _, _ in () }
          }
          #expect((byAuditor == "notOffered") == !isOffered, "\(action): \(byAuditor)")
        }
      }
    }
  }

  @Test func `an administrator has a permission where the pool offers one of its actions`()
    async throws
  {
    try await withInstance { instance in
      let owner = Administrator(
        id: ID("o"), email: "o@example.com", displayName: "O", grants: [Grant(role: .owner)])
      for permission in Permission.allCases {
        #expect(owner.may(permission, in: instance.east), "\(permission)")
      }
      let pool = try await instance.connected(instance.east)
      let lost = Permission.allCases.filter { !owner.may($0, in: pool) }
      #expect(
        lost == [
          .changePolicy, .manageTenants, .deleteProject, .manageKeys, .removeFactors, .endSessions,
          .readMessages,
        ])
      // Not by the name of the place alone, which says nothing about the kind.
      #expect(owner.may(.changePolicy, project: pool.project, tenant: pool.tenant))
      #expect(owner.may(action: .eraseUser, in: pool) && !owner.may(action: .createUser, in: pool))
    }
  }

  @Test func `actions on a user are those that the pool offers`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      let owner = Administrator(
        id: ID("o"), email: "o@example.com", displayName: "O", grants: [Grant(role: .owner)])
      let pool = try await instance.connected(instance.acme, as: .countersign)
      for action in ConsoleAction.allCases {
        let denial = owner.denial(of: action, on: account, in: pool).map(caseName)
        let isOffered = pool.offers.contains(action.requirements.needs)
        #expect(denial == (isOffered ? nil : "notOffered"), "\(action)")
      }
    }
  }

  @Test func `rules that take a project's ID refuse a connected one`() async throws {
    try await withInstance { instance in
      let (identity, boss) = (instance.identity, Caller.program(Instance.boss))
      let (acme, east) = (instance.acme.project, instance.east.tenant)
      let key = try #require(try await identity.apiKeys.list(acme).first).id
      let pool = try await instance.connected(instance.acme)
      await expect("notOffered") {
        try await identity.pools.update(project: acme, by: boss) { $0.displayName = "New" }
      }
      await expect("notOffered") {
        try await identity.pools.update(project: acme, tenant: east, by: boss) {
          $0.disableAuth = true
        }
      }
      await expect("notOffered") { try await identity.pools.delete(project: acme, by: boss) }
      await expect("notOffered") {
        try await identity.pools.delete(project: acme, tenant: east, by: boss)
      }
      await expect("notOffered") {
        try await identity.pools.createTenant(in: acme, .newTenant(named: "North"), by: boss)
      }
      await expect("notOffered") { try await identity.apiKeys.create(for: acme, by: boss) }
      await expect("notOffered") { try await identity.apiKeys.revoke(key, of: acme, by: boss) }
      await expect("notOffered") {
        try await identity.serviceTokens.create(
          project: acme, tenant: east, role: .auditor, name: "x",
          by: .program(Author(actor: .commandLine)))
      }
      await expect("notOffered") {
        try await identity.imports.run(
          pool, [.user(.alice)], ImportOptions(existing: .keep), by: Instance.boss)
      }
      await expect("notOffered") {
        try await identity.policies.change(pool, by: boss) { $0.pattern = .stepUp }
      }
      #expect(try await identity.pools.existing(project: acme).name == instance.acme.name)
    }
  }

  @Test func `a connected pool doesn't exist for applications, and can be looked up by its kind`()
    async throws
  {
    try await withInstance { instance in
      let pools = instance.identity.pools
      _ = try await instance.connected(instance.acme)
      for tenant in [nil, instance.east.tenant] {
        await expect("projectNotFound") {
          try await pools.find(project: instance.acme.project, tenant: tenant)
        }
        await expect("projectNotFound") {
          try await pools.settings(project: instance.acme.project, tenant: tenant)
        }
        let found = try await pools.existing(project: instance.acme.project, tenant: tenant)
        #expect(found.kind == .identityPlatform)
      }
      #expect(try await pools.find(project: instance.globex.project).kind == .hosted)
      #expect(try await pools.settings(project: instance.globex.project).pool.kind == .hosted)
    }
  }

  @Test func `forecasts of sign-ins leave out users whose sign-ins are elsewhere`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let owner = try await instance.administrator("olga", .owner)
      let email = try #require(alice.email)
      let before = try await instance.identity.signIns.forecasts(of: email, visibleTo: owner)
      _ = try await instance.connected(instance.acme)
      let after = try await instance.identity.signIns.forecasts(of: email, visibleTo: owner)
      #expect(before.count == 1 && after.isEmpty)
    }
  }

  @Test func `a connected pool whose sign-in is off needs no attention for it`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.pools.update(
        project: instance.globex.project, by: .program(Instance.boss)
      ) { $0.disableAuth = true }
      let owner = try await instance.administrator("olga", .owner)
      func warnings() async throws -> [PoolWarning.Reason] {
        try await instance.identity.pools.warnings(visibleTo: owner, limit: 20)
          .filter { $0.project == instance.globex.project }.map(\.reason)
      }
      let before = try await warnings()
      _ = try await instance.connected(instance.globex)
      let after = try await warnings()
      #expect(before.contains(.signInOff) && !after.contains(.signInOff))
    }
  }
}
