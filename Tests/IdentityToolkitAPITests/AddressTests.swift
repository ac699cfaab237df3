import HTTP
import Identity
import IdentityToolkitAPI
import JSON
import Testing

struct AddressTests {
  @Test(arguments: [
    ("/v1/projects/p/accounts:batchCreate", 16),
    ("/v1/projects/p/tenants/t/accounts:batchCreate", 16),
    ("/v1/projects/p/accounts%3AbatchCreate?key=k", 16),
    ("/www.googleapis.com/identitytoolkit/v3/relyingparty/uploadAccount", 16),
    ("/v1/accounts:signUp", 1), ("/", 1),
  ])
  func `imports can be 16 MiB, other requests 1 MiB`(path: String, mebibytes: Int) throws {
    let target = try #require(Target(path))
    #expect(IdentityToolkitAPI.bodyLimit(target) == mebibytes << 20)
  }

  @Test(arguments: [
    "/v1/accounts:signUp", "/v1/accounts%3AsignUp",
    "/identitytoolkit.googleapis.com/v1/accounts:signUp",
    "/identitytoolkit.googleapis.com/v1/accounts%3asignUp",
  ])
  func `a method is available with and without the production host`(path: String)
    async throws
  {
    try await TestServer.with { server in
      let answer = try await server.post(path, [:])
      #expect(answer.status == 200)
    }
  }

  @Test(arguments: [
    "/v2/projects/acme-mfa/config", "/admin/v2/projects/acme-mfa/config",
    "/identitytoolkit.googleapis.com/v2/projects/acme-mfa/config",
    "/identitytoolkit.googleapis.com/admin/v2/projects/acme-mfa/config",
    "/v2beta1/projects/acme-mfa/config?fields=subtype",
    "/identitytoolkit.googleapis.com/v2beta1/projects/acme-mfa/config",
  ])
  func `the configuration is available at both paths`(path: String) async throws {
    try await TestServer.with { server in
      let config = try await server.get(path)
      #expect(config["subtype"] == "IDENTITY_PLATFORM")
    }
  }

  @Test(arguments: [
    "/v1/accounts:nothing", "/v1", "/v2/", "/v1/accounts", "/v1/projects//config",
    "/admin/v2/nothing", "/identitytoolkit.googleapis.com", "/www.googleapis.com/nothing",
    "/identitytoolkit/v3/relyingparty/nothing", "/v1/admin/v2/projects/acme-mfa/config",
    "/emulator/v1/projects/acme-mfa/config",
  ])
  func `an unknown API path responds in JSON`(path: String)
    async throws
  {
    try await TestServer.with { server in
      guard !path.hasPrefix("/emulator") else {
        #expect(try await server.send(.get, path) == nil)
        return
      }
      let answer = try await server.get(path)
      #expect(
        answer.json
          == (try json(
            """
            {"error": {"code": 404, "message": "Not Found", "errors":
              [{"message": "Not Found", "reason": "notFound", "domain": "global"}],
             "status": "NOT_FOUND"}}
            """)))
    }
  }

  @Test(arguments: ["/", "/projects", "/sign-in", "/admin", "/healthz", "/v3", "/projects/v1"])
  func `other paths are left to other handlers`(path: String) async throws {
    try await TestServer.with { server in
      let response = try await server.send(.get, path)
      #expect(response == nil)
      #expect(!server.api.owns(try #require(Target(path))))
    }
  }

  @Test func `an unsupported HTTP method is refused with the allowed ones`() async throws {
    try await TestServer.with { server in
      let answer = try await server.get("/v1/accounts:signUp")
      #expect(answer.status == 405)
      #expect(answer.response.fields[.allow] == "POST")
      #expect(answer.error == "Method Not Allowed")
    }
  }

  @Test(arguments: [400, 404, 405, 413, 429, 431, 500, 503])
  func `errors from the HTTP server are in JSON`(code: Int) async throws {
    try await TestServer.with { server in
      let address = try #require(Target("/v1/accounts:signUp"))
      let response = server.api.failure(Status(code), address)
      let json = try JSON.parse(response.body.bytes)
      #expect(response.status.code == code)
      #expect(response.fields[.accessControlAllowOrigin] == "*")
      #expect(json["error"]?["code"] == .number(JSON.Number(code)))
      #expect(json["error"]?["message"]?.stringValue?.isEmpty == false)
      #expect(json["error"]?["errors"] != nil)
      for path in ["/v2/accounts/mfaSignIn:start", "/admin/v2/projects/p/config", "/v1/token"] {
        let address = try #require(Target("/identitytoolkit.googleapis.com" + path))
        let json = try JSON.parse(server.api.failure(Status(code), address).body.bytes)
        #expect(json["error"]?["errors"] == nil)
        #expect(json["error"]?["status"] != nil)
      }
    }
  }

  @Test func `pages on other origins can read responses and errors`() async throws {
    try await TestServer.with { server in
      let origin: Fields = [.origin: "https://app.example.com"]
      for (path, status) in [("/v1/accounts:signUp", 200), ("/v1/accounts:nothing", 404)] {
        let answer = try await server.call(.post, path, text: "{}", .key, fields: origin)
        #expect(answer.status == status)
        #expect(
          answer.response.fields[.accessControlAllowOrigin] == "https://app.example.com")
        #expect(answer.response.fields[.vary] == "Origin")
        #expect(answer.response.fields["Access-Control-Allow-Credentials"] == nil)
      }
      let same = try await server.post("/v1/accounts:signUp", [:])
      #expect(same.response.fields[.accessControlAllowOrigin] == nil)
    }
  }

  @Test func `a preflight request needs no credentials`() async throws {
    try await TestServer.with { server in
      let response = try #require(
        try await server.send(
          .options, "/v1/accounts:signUp",
          fields: [
            .origin: "null", "Access-Control-Request-Method": "POST",
            .accessControlRequestHeaders: "content-type,x-firebase-appcheck",
            "Access-Control-Request-Private-Network": "true",
          ]))
      #expect(response.status == .noContent)
      #expect(response.body.count == 0)
      #expect(response.fields[.accessControlAllowOrigin] == "null")
      #expect(
        response.fields[.accessControlAllowHeaders] == "content-type,x-firebase-appcheck")
      #expect(response.fields[.accessControlAllowMethods] == "GET,POST,PUT,PATCH,DELETE,HEAD")
      #expect(response.fields["Access-Control-Allow-Private-Network"] == "true")
      #expect(response.fields["Access-Control-Allow-Credentials"] == nil)
    }
  }
}
