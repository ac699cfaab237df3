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
      let scopes = server.identity.scopes
      let project = try await scopes.find(project: ID(TestServer.project))
      let pool = try await scopes.find(project: ID(TestServer.project), tenant: ID(tenant))
      for (scope, code) in [(project, "PROJECT_NOT_FOUND"), (pool, "TENANT_DELETED")] {
        let error = WireError(CallError.scopeDeleted(scope))
        #expect(error.message == code && error.status == .badRequest)
      }
    }
  }
}
