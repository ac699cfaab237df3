import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// Tests for rules that apply to every call, with one call of each kind.
struct RuleTests {
  @Test func `snake-case names, numeric enums, and integers as strings are accepted`()
    async throws
  {
    try await TestServer.with { server in
      let person = try await server.addPerson()
      let answer = try await server.call(
        .post, TestServer.accounts + ":update",
        text: """
          {"local_id": "\(person.uid)", "display_name": "Alice", "photo_url": "https://a.example",
           "created_at": "1600000000000", "last_login_at": 1.6e12, "disable_user": "true"}
          """, .owner)
      #expect(answer["displayName"] == "Alice")
      let cleared = try await server.call(
        .post, TestServer.accounts + ":update",
        text: #"{"localId": "\#(person.uid)", "delete_attribute": [2, "PHOTO_URL"]}"#, .owner)
      #expect(cleared.status == 200)
      let found = try await server.post(
        TestServer.accounts + ":lookup", ["local_id": [.string(person.uid)]], .owner)
      let user = try #require(found["users"]?.arrayValue?.first)
      #expect(user["displayName"] == nil)
      #expect(user["photoUrl"] == nil)
      #expect(user["createdAt"] == "1600000000000")
      #expect(user["lastLoginAt"] == "1600000000000")
      #expect(user["disabled"] == true)
    }
  }

  @Test func `query parameters are accepted in both spellings`() async throws {
    try await TestServer.with { server in
      for name in ["alice", "bob", "carol"] { _ = try await server.addPerson(name) }
      let batch = TestServer.accounts + ":batchGet"
      let first = try await server.get(batch + "?max_results=2")
      #expect(first["users"]?.arrayValue?.count == 2)
      let token = try first.text("nextPageToken")
      let rest = try await server.get(batch + "?maxResults=2&next_page_token=\(token)")
      #expect(rest["users"]?.arrayValue?.count == 1)
      let masked = try await server.patch(
        TestServer.config + "?update_mask=multi_tenant.allow_tenants",
        ["multiTenant": ["allowTenants": false], "authorizedDomains": ["a.example"]])
      #expect(masked["multiTenant"] == [:])
      #expect(masked["authorizedDomains"] != ["a.example"])
    }
  }

  @Test func `unknown members are ignored in calls and refused in configurations`()
    async throws
  {
    try await TestServer.with { server in
      let new = try await server.post(
        "/v1/accounts:signUp", ["email": "a@example.com", "password": "correct horse", "new": 1])
      #expect(new.status == 200)
      let config = try await server.patch(TestServer.config, ["new": ["x": 1]])
      #expect(
        config.error
          == "Invalid JSON payload received. Unknown name \"new\" at 'config': Cannot find field.")
      let typo = try await server.patch(TestServer.config, ["mfa": ["providerConfig": []]])
      #expect(
        typo.error
          == "Invalid JSON payload received. Unknown name \"providerConfig\" at 'config.mfa': Cannot find field."
      )
    }
  }

  @Test func `the billing project header doesn't select the project`() async throws {
    try await TestServer.with { server in
      let answer = try await server.call(
        .get, TestServer.config, text: "", .owner,
        fields: ["X-Goog-User-Project": "quite-another"])
      #expect(answer.status == 200)
    }
  }

  @Test func `an empty project or tenant ID is treated as absent`() async throws {
    try await TestServer.with { server in
      let answer = try await server.post(
        "/v1/accounts:signUp", ["targetProjectId": "", "tenantId": ""])
      #expect(answer.status == 200)
      let named = try await server.post("/v1/accounts:signUp", ["target_project_id": "acme-mfa"])
      #expect(named.error?.hasPrefix("INSUFFICIENT_PERMISSION : ") == true)
    }
  }

  @Test(arguments: [
    "/openapi.json", "/v1/publicKeys", "/v1/projects", TestServer.config,
    "/www.googleapis.com/identitytoolkit/v3/relyingparty/getProjectConfig",
  ])
  func `HEAD returns the same status and type as GET`(path: String) async throws {
    try await TestServer.with { server in
      let credential: Credential = path == TestServer.config ? .owner : .key
      let get = try #require(try await server.send(.get, path, [], credential))
      let head = try #require(try await server.send(.head, path, [], credential))
      #expect(get.status == .ok)
      #expect(head.status == .ok)
      #expect(head.fields[.contentType] == get.fields[.contentType])
    }
  }

  @Test(arguments: [
    ("/v1/accounts:signUp", true, true), ("/v1/token", false, true),
    ("/securetoken.googleapis.com/v1/token", false, true),
    ("/v2/accounts/mfaSignIn:start", false, true),
    ("/identitytoolkit.googleapis.com/v2/accounts/mfaSignIn:start", false, true),
    ("/www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPassword", true, true),
  ])
  func `an error has the format of its API version`(path: String, hasErrors: Bool, hasStatus: Bool)
    async throws
  {
    try await TestServer.with { server in
      let fields: Fields = [.origin: "https://app.example.com"]
      for (text, credential) in [("{", Credential.key), ("{}", .none), ("{}", .bearer("x"))] {
        let answer = try await server.call(.post, path, text: text, credential, fields: fields)
        #expect(answer.status >= 400)
        #expect((answer["error"]?["errors"] != nil) == hasErrors)
        #expect((answer["error"]?["status"] != nil) == hasStatus)
        #expect(
          answer.response.fields[.accessControlAllowOrigin] == "https://app.example.com")
      }
    }
  }

  @Test func `while the server starts, the API responds 503 in JSON`() throws {
    let address = try #require(Target("/identitytoolkit.googleapis.com/v1/accounts:lookup"))
    let response = try #require(IdentityToolkitAPI.starting(address))
    #expect(response.status == .serviceUnavailable)
    #expect(response.fields[.retryAfter] == "1")
    #expect(response.fields[.accessControlAllowOrigin] == "*")
    #expect(try JSON.parse(response.body.bytes)["error"]?["code"] == 503)
    #expect(IdentityToolkitAPI.starting(try #require(Target("/projects"))) == nil)
  }

  @Test(arguments: [99, 100, 101])
  func `requests can be nested up to 100 levels`(levels: Int) async throws {
    try await TestServer.with { server in
      let text =
        String(repeating: #"{"x":"#, count: levels) + "1" + String(repeating: "}", count: levels)
      let answer = try await server.call(.post, "/v1/accounts:signUp", text: text, .key)
      #expect((answer.status == 200) == (levels <= 100))
    }
  }
}
