import Identity
import Testing

@testable import TestIdentity

struct PoolTests {
  @Test func `an empty tenant ID is neither a tenant nor the project's own pool`() async throws {
    try await withInstance { instance in
      await expect("tenantNotFound") {
        try await instance.identity.pools.find(project: instance.acme.project, tenant: ID(""))
      }
    }
  }

  @Test func `in the standalone profile, a lookup creates nothing`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      await expect("projectNotFound") { try await pools.find(project: ID("nowhere")) }
      await expect("tenantNotFound") {
        try await pools.find(project: instance.acme.project, tenant: ID("nobody"))
      }
      await expect("projectNotFound") {
        try await pools.find(project: ID("nowhere"), tenant: ID("x"))
      }
    }
  }

  @Test func `in the emulator profile, projects and tenants are created on first use`() async throws
  {
    try await withEmulator { identity in
      let pool = try await identity.pools.find(project: ID("Any_Thing"), tenant: ID("t1"))
      #expect(pool.tenant == ID("t1"))
      let tenant = try await identity.pools.existingSettings(
        project: ID("Any_Thing"), tenant: ID("t1"))
      let everything = SignInMethods(password: true, emailLink: true, anonymous: true)
      #expect(tenant.signIn == everything)
      #expect(tenant.policy.configuration.isTOTPOn)
      #expect(identity.defaultProject == ID("demo-project"))
      _ = try await identity.pools.existing(project: ID("demo-project"))
    }
  }

  @Test func `concurrent first uses of a project find the same one`() async throws {
    try await withEmulator { identity in
      let pools = try await concurrently(16) { _ in
        try await identity.pools.find(project: ID("new"), tenant: ID("new"))
      }
      #expect(Set(pools.map(\.key)).count == 1)
    }
  }

  @Test(arguments: ["", "a\nb", String(repeating: "x", count: 129)])
  func `an invalid ID creates nothing, even in the emulator`(id: String) async throws {
    try await withEmulator { identity in
      await expect("projectNotFound") { try await identity.pools.find(project: ID(id)) }
      let tenant = await outcome {
        try await identity.pools.find(project: ID("demo-project"), tenant: ID(id))
      }
      #expect(id == "a\nb" || tenant == "tenantNotFound")
    }
  }
}
