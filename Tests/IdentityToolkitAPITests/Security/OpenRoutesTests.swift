import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

struct OpenRoutesTests {
  private static let documents: Set<String> = [
    "GET /robot/v1/metadata/x509/securetoken@system.gserviceaccount.com", "GET /v1/publicKeys",
    "GET /identitytoolkit/v3/relyingparty/publicKeys",
    "GET /service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
    "GET /v1/sessionCookiePublicKeys", "GET /{String}/.well-known/openid-configuration",
    "GET /.well-known/countersign-evidence-keys", "GET /openapi.json",
  ]

  private static let emulator: Set<String> = [
    "GET /", "GET /emulator/action", "GET /emulator/auth/handler", "GET /emulator/auth/iframe",
    "GET /emulator/openapi.json",
    "DELETE /emulator/v1/projects/{String}/accounts",
    "DELETE /emulator/v1/projects/{String}/tenants/{String}/accounts",
    "GET /emulator/v1/projects/{String}/config", "PATCH /emulator/v1/projects/{String}/config",
    "GET /emulator/v1/projects/{String}/tenants/{String}/config",
    "PATCH /emulator/v1/projects/{String}/tenants/{String}/config",
    "GET /emulator/v1/projects/{String}/oobCodes",
    "GET /emulator/v1/projects/{String}/tenants/{String}/oobCodes",
    "GET /emulator/v1/projects/{String}/verificationCodes",
    "GET /emulator/v1/projects/{String}/tenants/{String}/verificationCodes",
  ]

  @Test(arguments: [Profile.standalone, .emulator])
  func `every route requires a credential except those listed here`(profile: Profile) async throws {
    try await TestServer.with(profile) { server in
      var open: Set<String> = []
      for route in server.api.router.routes {
        let path = route.pattern.replacing("{String}", with: TestServer.project)
        let response = try #require(
          try await server.send(route.method, path, Array("{}".utf8), .none))
        let isRefused = response.status == .unauthorized || response.status == .forbidden
        if !isRefused { open.insert(route.description) }
      }
      #expect(open == (profile == .emulator ? Self.documents.union(Self.emulator) : Self.documents))
    }
  }
}
