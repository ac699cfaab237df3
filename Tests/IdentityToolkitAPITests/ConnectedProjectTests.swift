import Database
import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// A project whose users are at another server isn't served.
struct ConnectedProjectTests {
  /// Calls every route below the server's project, and some that its key or a member names.
  private static func statuses(_ server: TestServer, tenant: String) async throws -> [String: Int] {
    var statuses: [String: Int] = [:]
    for operation in server.api.operations where operation.path.template.contains("projects/{p") {
      var path = operation.path.template
      path.replace("{projectId}", with: TestServer.project)
      path.replace("{tenantId}", with: tenant)
      for parameter in operation.path.parameters { path.replace("{\(parameter)}", with: "some") }
      let hasBody = operation.method == .post || operation.method == .patch
      for credential in [Credential.key, .owner] {
        let response = try await server.send(
          operation.method, path, hasBody ? Array("{}".utf8) : [], credential)
        statuses["\(operation.id) \(credential)"] = response?.status.code
      }
    }
    for path in ["/v1/accounts:signUp", "/v1/accounts:signInWithPassword"] {
      let person: JSON = ["email": "pat@example.com", "password": "a user's password"]
      statuses[path] = try await server.post(path, person).status
    }
    return statuses
  }

  @Test func `no call of a connected project succeeds, even with a key and a token of before`()
    async throws
  {
    try await TestServer.with(.standalone) { server in
      let tenant = try await server.addTenant()
      try await server.database.write { connection in
        _ = try connection.run("UPDATE /* test */ project SET kind = 'identity-platform'")
      }
      let statuses = try await Self.statuses(server, tenant: tenant)
      #expect(statuses.count > 60)
      for (call, status) in statuses { #expect(status >= 400, "\(call): \(status)") }
      let answer = try await server.post(
        "/v1/accounts:signUp", ["email": "pat@example.com", "password": "a user's password"])
      #expect(answer.json["error"]?["message"] == "PROJECT_NOT_FOUND")
    }
  }
}
