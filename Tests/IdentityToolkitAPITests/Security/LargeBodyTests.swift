import Crypto
import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// Tests for the credentials that let a body above 64 KiB be read.
struct LargeBodyTests {
  /// Returns the status of each operation's refusal of a large body, by its header; 200 for none.
  private static func statuses(
    _ server: TestServer, _ query: String, _ fields: Fields
  ) async throws -> [(access: Operation.Access, status: Int)] {
    var statuses: [(access: Operation.Access, status: Int)] = []
    for (route, operation) in zip(server.api.router.routes, server.api.operations) {
      let path = route.pattern.replacing("{String}", with: TestServer.project)
      let request = Request(
        method: route.method, target: try #require(Target(path + query)), fields: fields)
      let refusal = await server.api.refusal(ofLarge: request)
      if let refusal { #expect(refusal.fields[.accessControlAllowOrigin] == "*") }
      statuses.append((operation.access, refusal?.status.code ?? 200))
    }
    return statuses
  }

  @Test(arguments: [Profile.standalone, .emulator])
  func `only a valid bearer token admits a large body, to every operation`(profile: Profile)
    async throws
  {
    try await TestServer.with(profile) { server in
      let session = try await server.post("/v1/accounts:signUp", ["returnSecureToken": true])
      let idToken = try session.text("idToken")
      for (query, fields) in [
        ("", [:]), ("?key=\(server.key)", [:]), ("", ["X-Goog-Api-Key": server.key]),
        ("", [.authorization: "Bearer wrong"]), ("", [.authorization: "Basic b3duZXI6"]),
        ("", [.authorization: "Bearer \(idToken)"]), ("", [.authorization: "Bearer \(server.key)"]),
        ("?access_token=\(server.owner)", [:]),
      ] as [(String, Fields)] {
        for (access, status) in try await Self.statuses(server, query, fields) {
          #expect(status == (access.requiresToken ? 401 : 413), "\(access) \(query) \(fields)")
        }
      }
      for (_, status) in try await Self.statuses(
        server, "", [.authorization: "Bearer \(server.owner)"])
      {
        #expect(status == 200)
      }
    }
  }

  @Test func `a revoked token admits no large body, and a path without a method needs none`()
    async throws
  {
    try await TestServer.with { server in
      let project = ID<Project>(TestServer.project)
      let (token, secret) = try await server.identity.serviceTokens.create(
        project: project, tenant: nil, role: .support, name: "backend",
        by: .program(Author(actor: .commandLine))
      ).value
      let path = "/v1/projects/\(TestServer.project)/accounts:batchCreate"
      func refusal(_ path: String, _ token: String? = nil) async throws -> Int? {
        var request = Request(method: .post, target: try #require(Target(path)))
        request.fields[.authorization] = token.map { "Bearer \($0)" }
        return await server.api.refusal(ofLarge: request)?.status.code
      }
      for host in ["", "/identitytoolkit.googleapis.com", "/www.googleapis.com"] {
        #expect(try await refusal(host + path) == 401)
      }
      #expect(try await refusal("/v1/nothing") == 413)
      #expect(try await refusal(path, secret.revealedText) == nil)
      try await server.identity.serviceTokens.revoke(
        token.id, of: project, by: .program(Author(actor: .commandLine)))
      #expect(try await refusal(path, secret.revealedText) == 401)
    }
  }
}
