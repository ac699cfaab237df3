import Testing

@testable import Identity
@testable import TestIdentity

/// Tenants that start with a copy of their project's policy.
@Suite struct TenantPolicyTests {
  private func setPolicy(_ instance: Instance) async throws -> Policy {
    let day = try #require(Day("2026-03-01"))
    return try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
      $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 1)
      $0.pattern = .mandatory
      $0.enforcement = Enforcement(.claim, from: day, graceDays: 7)
    }.value.policy
  }

  private func create(
    _ instance: Instance, version: Int, by agent: Agent
  ) async throws -> PoolSettings {
    try await instance.identity.pools.createTenant(
      in: instance.acme.project, .newTenant(named: "north"), withPolicyVersion: version,
      by: .console(agent.request(nil))
    ).value
  }

  @Test func `a tenant has every value of the policy that the administrator saw`() async throws {
    try await withInstance { instance in
      let policy = try await setPolicy(instance)
      let pia = try await instance.agent("pia", role: .policy)
      let tenant = try await create(instance, version: policy.version, by: pia)
      #expect(tenant.policy.edit == policy.edit && tenant.policy.version == 1)
      let history = try await instance.identity.policies.history(tenant.pool)
      #expect(history.count == 1)
      // What the project's policy becomes later doesn't change the tenant's.
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp?.adjacentIntervals = 4
      }
      let stored = try await instance.identity.policies.read(tenant.pool)
      #expect(stored.edit == policy.edit)
    }
  }

  @Test func `no tenant is created if the policy has changed since`() async throws {
    try await withInstance { instance in
      let policy = try await setPolicy(instance)
      let pia = try await instance.agent("pia", role: .policy)
      let (pools, acme) = (instance.identity.pools, instance.acme.project)
      let before = try await pools.tenants(project: acme).items.count
      await #expect(throws: PoolError.self) {
        _ = try await create(instance, version: policy.version - 1, by: pia)
      }
      let after = try await pools.tenants(project: acme).items.count
      #expect(after == before)
    }
  }

  @Test func `no tenant refuses users while the server sends no email`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let day = try #require(Day("2026-03-01"))
      let policy = try await instance.identity.policies.change(
        instance.acme, by: .program(Instance.boss)
      ) {
        $0.enforcement = Enforcement(.refuse, from: day, graceDays: 0)
      }.value.policy
      let pia = try await instance.agent("pia", role: .policy)
      let silent = try instance.identity()
      await #expect(throws: PoolError.self) {
        _ = try await silent.pools.createTenant(
          in: instance.acme.project, .newTenant(named: "north"),
          withPolicyVersion: policy.version, by: .console(pia.request(nil)))
      }
    }
  }

  @Test(arguments: [Role.support, .auditor])
  func `who can't change policies can't copy one`(role: Role) async throws {
    try await withInstance { instance in
      let policy = try await setPolicy(instance)
      let agent = try await instance.agent("sam", role: role)
      await #expect(throws: ActionDenial.self) {
        _ = try await create(instance, version: policy.version, by: agent)
      }
    }
  }
}
