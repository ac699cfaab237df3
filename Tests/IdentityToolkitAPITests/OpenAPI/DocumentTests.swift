import HTTP
import Identity
import JSON
import Testing
import Text

@testable import IdentityToolkitAPI

struct DocumentTests {
  @Test(arguments: [Profile.standalone, .emulator])
  func `every route has an operation, and every operation has a route`(profile: Profile)
    async throws
  {
    try await TestServer.with(profile) { server in
      let document = try await server.get("/openapi.json", .none)
      let paths = try #require(document["paths"]?.objectValue)
      var described: Set<String> = []
      for (path, item) in paths {
        for (method, _) in try #require(item.objectValue) {
          described.insert("\(method.text.uppercased()) \(path)")
        }
      }
      let routes = Set(server.api.operations.map { "\($0.method) \($0.path.template)" })
      #expect(described == routes)
      #expect(routes.count == server.api.router.routes.count)
      #expect(Set(server.api.operations.map(\.id)).count == routes.count)
    }
  }

  @Test func `an unchanged document responds 304`() async throws {
    try await TestServer.with { server in
      let first = try await server.get("/openapi.json", .none)
      let tag = try #require(first.response.fields[.eTag])
      let again = try #require(
        try await server.send(.get, "/openapi.json", fields: [.ifNoneMatch: tag]))
      #expect(again.status == .notModified)
      #expect(again.body.count == 0)
      #expect(try await server.send(.get, "/emulator/openapi.json") == nil)
    }
  }

  @Test func `the emulator's greeting links to the document`() async throws {
    try await TestServer.with(.emulator) { server in
      let greeting = try await server.get("/", .none)
      let path = try #require(greeting["authEmulator"]?["apiSpec"]?.stringValue)
      let document = try await server.get(path, .none)
      #expect(document["openapi"] == "3.1.0")
      #expect(document.json == (try await server.get("/openapi.json", .none)).json)
    }
  }

  @Test(arguments: [
    ("/v2/projects/{projectId}/config", "patch", "owner, policy, connection-policy"),
    (
      "/v1/projects/{projectId}/tenants/{tenantId}/accounts:lookup", "post",
      "owner, support, auditor, application, connection-read, connection-support, connection-policy"
    ),
    (
      "/v1/accounts:delete", "post", "owner, application, connection-support, connection-policy"
    ),
  ])
  func `an operation lists the roles of service tokens that can call it`(
    path: String, method: String, roles: String
  ) async throws {
    try await TestServer.with { server in
      let document = try await server.get("/openapi.json", .none)
      let operation = try #require(document["paths"]?[path]?[method])
      #expect(operation["description"] == .string("Service token roles: \(roles)."))
    }
  }

  @Test func `a form-encoded request body is documented as a form`() async throws {
    try await TestServer.with { server in
      let document = try await server.get("/openapi.json", .none)
      let content = document["paths"]?["/v1/token"]?["post"]?["requestBody"]?["content"]
      #expect(
        content?["application/x-www-form-urlencoded"]?["schema"]?["required"]
          == ["grant_type", "refresh_token"])
      #expect(content?["application/json"] != nil)
    }
  }
}
