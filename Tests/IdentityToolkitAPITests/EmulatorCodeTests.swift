import HTTP
import Identity
import JSON
import Testing

struct EmulatorCodeTests {
  private static let path = "/emulator/v1/projects/acme-mfa/oobCodes"

  /// Returns the newest listed code.
  private func newest(_ server: TestServer, _ path: String = path) async throws -> JSON {
    let list = try await server.get(path, .none)
    return try #require(list["oobCodes"]?.arrayValue?.last)
  }

  /// Follows a link, like a browser that uses the emulator.
  private func follow(_ server: TestServer, _ link: String) async throws -> Answer {
    #expect(link.hasPrefix("https://mfa.example.com/emulator/action?"))
    let path = link.dropFirst("https://mfa.example.com".count)
    let response = try #require(try await server.send(.get, String(path)))
    let json = response.body.count == 0 ? JSON.null : try JSON.parse(response.body.bytes)
    return Answer(response: response, json: json)
  }

  @Test func `a code is listed until its link is followed`() async throws {
    try await TestServer.with(.emulator) { server in
      let alice = try await server.addPerson()
      _ = try await server.post(
        TestServer.sendOobCode,
        [
          "requestType": "PASSWORD_RESET", "email": .string(alice.email),
          "continueUrl": "https://anywhere.example/x",
        ])
      let entry = try await newest(server)
      #expect(entry["email"]?.stringValue == alice.email && entry["newEmail"] == nil)
      #expect(entry["requestType"] == "PASSWORD_RESET")
      let link = try #require(entry["oobLink"]?.stringValue)
      #expect(link.contains("oobCode=\(entry["oobCode"]?.stringValue ?? "-")&"))
      let missing = try await follow(server, link)
      #expect(missing.status == 400)
      #expect(missing["authEmulator"]?["error"] == "missing newPassword query parameter")
      let redirect = try await follow(server, link + "&newPassword=battery%20staple")
      #expect(redirect.status == 303)
      #expect(redirect.response.fields[.location] == "https://anywhere.example/x")
      #expect(try await server.get(Self.path, .none).json == ["oobCodes": []])
      #expect(try await follow(server, link + "&newPassword=x").status == 400)
    }
  }

  @Test func `each mode performs its action and confirms it`() async throws {
    try await TestServer.with(.emulator) { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice).text("idToken")
      _ = try await server.post(
        TestServer.sendOobCode, ["requestType": 4, "idToken": .string(token)])
      var link = try #require(try await newest(server)["oobLink"]?.stringValue)
      #expect(
        try await follow(server, link).json == [
          "authEmulator": [
            "success": "The email has been successfully verified.", "email": "alice@example.com",
          ]
        ])
      #expect(
        try await follow(server, link)["authEmulator"]?["error"]
          == "Your request to verify your email has expired or the link has already been used.")
      _ = try await server.post(
        TestServer.sendOobCode,
        [
          "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": .string(token),
          "newEmail": "new@example.com",
        ])
      #expect(try await newest(server)["newEmail"] == "new@example.com")
      link = try #require(try await newest(server)["oobLink"]?.stringValue)
      #expect(try await follow(server, link)["authEmulator"]?["newEmail"] == "new@example.com")
      let back = try await newest(server)
      #expect(back["requestType"] == "RECOVER_EMAIL" && back["email"] == "alice@example.com")
      link = try #require(back["oobLink"]?.stringValue)
      #expect(try await follow(server, link)["authEmulator"]?["email"] == "alice@example.com")
    }
  }

  @Test func `a sign-in link passes its code to the application`() async throws {
    try await TestServer.with(.emulator) { server in
      try await server.configure()
      let tenant = "some-tenant"
      _ = try await server.patch(
        "/v2/projects/acme-mfa/tenants/\(tenant)?updateMask=enableEmailLinkSignin",
        ["enableEmailLinkSignin": true])
      _ = try await server.post(
        TestServer.sendOobCode,
        [
          "requestType": 6, "email": "a@example.com", "tenantId": .string(tenant),
          "continueUrl": "http://localhost:3000/finish?a=b#c",
        ])
      let entry = try await newest(
        server, "/emulator/v1/projects/acme-mfa/tenants/\(tenant)/oobCodes")
      let link = try #require(entry["oobLink"]?.stringValue)
      let code = try #require(entry["oobCode"]?.stringValue)
      let redirect = try await follow(server, link)
      #expect(redirect.status == 303)
      let location = redirect.response.fields[.location] ?? ""
      #expect(
        location.hasPrefix("http://localhost:3000/finish?a=b&mode=signIn&lang=en&oobCode=\(code)"))
      #expect(location.contains("&tenantId=some-tenant") && location.hasSuffix("#c"))
      let done = try await server.post(
        TestServer.emailLink,
        ["oobCode": .string(code), "email": "a@example.com", "tenantId": .string(tenant)])
      #expect(done["isNewUser"] == true)
    }
  }

  @Test(arguments: [
    ("", "missing apiKey query parameter"), ("?apiKey=x", "missing oobCode query parameter"),
    ("?apiKey=x&oobCode=y", "Invalid mode"),
    (
      "?apiKey=x&oobCode=y&mode=recoverEmail",
      "Your request to recover your email has expired or the link has already been used."
    ),
    ("?apiKey=x&oobCode=y&mode=signIn", "Missing continueUrl query parameter"),
  ])
  func `an invalid link reports what's missing`(query: String, error: String) async throws {
    try await TestServer.with(.emulator) { server in
      let answer = try await server.get("/emulator/action" + query, .none)
      #expect(answer.status == 400)
      #expect(answer["authEmulator"]?["error"]?.stringValue == error)
      #expect(answer["authEmulator"]?["instructions"] != nil)
    }
  }

  @Test func `a configured list of authorized domains is enforced`() async throws {
    try await TestServer.with(.emulator) { server in
      _ = try await server.addPerson()
      let body: JSON = [
        "requestType": "PASSWORD_RESET", "email": "alice@example.com",
        "continueUrl": "https://anywhere.example/",
      ]
      #expect(try await server.post(TestServer.sendOobCode, body).status == 200)
      _ = try await server.patch(TestServer.config, ["authorizedDomains": ["app.example.com"]])
      #expect(
        try await server.post(TestServer.sendOobCode, body).error
          == "UNAUTHORIZED_DOMAIN : Domain not allowlisted by project")
    }
  }

  @Test func `the standalone profile has none of these paths`() async throws {
    try await TestServer.with { server in
      for path in ["/emulator/action?apiKey=x", Self.path] {
        let answer = try await server.send(.get, path)
        #expect(answer?.status == nil)
      }
    }
  }
}
