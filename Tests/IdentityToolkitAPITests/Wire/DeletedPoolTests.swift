import HTTP
import Identity
import Testing

@testable import IdentityToolkitAPI

struct DeletedPoolTests {
  @Test func `a pool deleted during a call gets the same error as one deleted before`()
    async throws
  {
    try await TestServer.with { server in
      let tenant = try await server.addTenant()
      let pools = server.identity.pools
      let project = try await pools.find(project: ID(TestServer.project))
      let tenantPool = try await pools.find(project: ID(TestServer.project), tenant: ID(tenant))
      for (pool, code) in [(project, "PROJECT_NOT_FOUND"), (tenantPool, "TENANT_DELETED")] {
        let error = WireError(CallError.poolDeleted(pool))
        #expect(error.message == code && error.status == .badRequest)
      }
    }
  }
}
