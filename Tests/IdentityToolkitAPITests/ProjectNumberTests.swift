import Database
import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// The project's number, which resource names contain, in place of its ID.
struct ProjectNumberTests {
  /// Calls every route below a project, named one way; returns each route with the status of its
  /// response, and the projects that exist afterward.
  private static func walk(
    _ profile: Profile, byNumber: Bool
  ) async throws -> (statuses: [String], projects: [String]) {
    try await TestServer.with(profile) { server in
      let tenant = try await server.addTenant()
      let project = try await server.identity.pools.find(project: ID(TestServer.project))
      let name = byNumber ? String(project.projectNumber) : TestServer.project
      let operations = server.api.operations.filter { $0.path.template.contains("projects/{p") }
      #expect(operations.count > 30)
      var statuses: [String] = []
      for operation in operations.filter({ $0.method != .delete })
        + operations.filter({ $0.method == .delete })
      {
        var path = operation.path.template
        path.replace("{projectId}", with: name)
        path.replace("{tenantId}", with: tenant)
        for parameter in operation.path.parameters { path.replace("{\(parameter)}", with: "some") }
        let hasBody = operation.method == .post || operation.method == .patch
        for credential in [Credential.key, .owner] {
          let response = try #require(
            try await server.send(
              operation.method, path, hasBody ? Array("{}".utf8) : [], credential))
          statuses.append("\(operation.id) \(credential) \(response.status.code)")
        }
      }
      for path in ["/v1/accounts:lookup", "/v1/accounts:update", "/v1/accounts:signUp"] {
        let answer = try await server.post(
          path, ["targetProjectId": .string(name), "localId": "some"], .owner)
        statuses.append("\(path) \(answer.status)")
      }
      let projects = try await server.database.read { connection in
        try connection.all("SELECT /* test */ project_id FROM project ORDER BY 1") {
          try $0.next() as String
        }
      }
      return (statuses.map { $0.replacing(name, with: "P") }, projects)
    }
  }

  @Test(arguments: [Profile.standalone, .emulator])
  func `every route accepts the number wherever it accepts the ID`(profile: Profile) async throws {
    let byID = try await Self.walk(profile, byNumber: false)
    let byNumber = try await Self.walk(profile, byNumber: true)
    #expect(byNumber.statuses == byID.statuses)
    #expect(byNumber.projects == byID.projects)
  }
}
