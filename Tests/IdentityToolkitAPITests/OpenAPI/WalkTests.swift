import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

struct WalkTests {
  /// Returns the operation's path with its parameters replaced.
  private static func address(_ operation: Operation, tenant: String) -> String {
    var path = operation.path.template
    path.replace("{projectId}", with: TestServer.project)
    path.replace("{tenantId}", with: tenant)
    for name in operation.path.parameters { path.replace("{\(name)}", with: "some") }
    return path
  }

  @Test(arguments: [Profile.standalone, .emulator])
  func `every operation responds as declared`(profile: Profile) async throws {
    try await TestServer.with(profile) { server in
      let tenant = try await server.addTenant()
      let document = DocumentCheck.of(server.api, profile)
      // Deletions come last.
      let operations =
        server.api.operations.filter { $0.method != .delete }
        + server.api.operations.filter { $0.method == .delete }
      for operation in operations {
        let path = Self.address(operation, tenant: tenant)
        let hasBody = operation.method == .post || operation.method == .patch
        for credential in [Credential.key, .owner, .none] {
          let response = try #require(
            try await server.send(
              operation.method, path, hasBody ? Array("{}".utf8) : [], credential))
          #expect(response.status != .methodNotAllowed, "\(path)")
          #expect(response.status.code != 500, "\(path)")
          let request = Request(method: operation.method, target: try #require(Target(path)))
          #expect(document.faults(response, to: request) == [])
          if response.status == .notFound {
            // A missing resource has an error code; only an unknown path responds "Not Found".
            let message = try JSON.parse(response.body.bytes)["error"]?["message"]
            #expect(message != "Not Found", "\(path)")
          }
        }
      }
    }
  }

  @Test(arguments: [Profile.standalone, .emulator])
  func `the check finds undeclared responses`(profile: Profile) async throws {
    try await TestServer.with(profile) { server in
      let document = DocumentCheck.of(server.api, profile)
      let request = Request(method: .get, target: try #require(Target("/v1/projects")))
      for (answer, faults) in [
        (#"{"projectId":"1","authorizedDomains":[]}"#, 0), (#"{"projectId":"1"}"#, 1),
        (#"{"projectId":1,"authorizedDomains":["a"]}"#, 1), ("[]", 1),
        (#"{"projectId":"1","authorizedDomains":[1],"more":true}"#, 2),
      ] {
        #expect(document.faults(.json(try json(answer)), to: request).count == faults)
      }
      #expect(document.faults(.json([:], status: Status(418)), to: request).count == 1)
    }
  }
}
