import HTTP
import Identity
import JSON
import Testing

struct EmulatorTests {
  @Test func `the greeting is JSON unless a browser asks`() async throws {
    try await TestServer.with(.emulator) { server in
      let greeting = try await server.get("/", .none)
      #expect(greeting["authEmulator"]?["ready"] == true)
      let page = try await server.send(
        .get, "/", fields: [.accept: "text/html,application/xhtml+xml"])
      #expect(page == nil)
    }
    try await TestServer.with(.standalone) { server in
      let page = try await server.send(.get, "/")
      #expect(page == nil)
    }
  }

  @Test(arguments: [
    ("localhost", true), ("localhost:9099", true), ("LOCALHOST:9099", true),
    ("127.0.0.1:9099", true), ("127.8.9.10", true), ("[::1]:9099", true), ("[::1]", true),
    ("app.localhost:9099", true), ("evil.example", false), ("127.0.0.1.evil.example", false),
    ("localhost.evil.example:9099", false), ("notlocalhost", false), ("127.0.0.256", false),
    ("", false), ("192.168.0.7:9099", false), ("localhost:9099.evil.example", false),
  ])
  func `requests are accepted only for local host names`(host: String, isAnswered: Bool)
    async throws
  {
    try await TestServer.with(.emulator) { server in
      for (method, path) in [
        (Method.get, "/"), (.post, "/v1/accounts:signUp"), (.options, "/v1/accounts:signUp"),
        (.delete, "/emulator/v1/projects/acme-mfa/accounts"),
      ] {
        let response = try #require(
          try await server.send(method, path, [], .key, fields: [.host: host]))
        #expect((response.status != .forbidden) == isAnswered)
      }
    }
  }

  @Test(arguments: ["owner", "Owner", "OWNER", "ya29.anything"])
  func `well-known tokens have the owner role`(token: String) async throws {
    try await TestServer.with(.emulator) { server in
      let answer = try await server.call(
        .get, TestServer.config, text: "", .none, fields: [.authorization: "bearer \(token)"])
      #expect(answer.status == 200)
      let wrong = try await server.get(TestServer.config, .bearer("other"))
      #expect(wrong.status == 401)
    }
  }

  @Test func `any API key selects the default project`() async throws {
    try await TestServer.with(.emulator) { server in
      let answer = try await server.post("/v1/accounts:signUp?key=fake-api-key", [:], .none)
      #expect(try claims(answer["idToken"])["aud"] == "acme-mfa")
    }
  }

  @Test func `projects and tenants are created on first use`() async throws {
    try await TestServer.with(.emulator) { server in
      let config = try await server.get("/v2/projects/demo-other/config")
      #expect(config["mfa"] == ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]])
      let tenant = try await server.get("/v2/projects/demo-other/tenants/some-tenant")
      #expect(tenant.status == 200)
      #expect(tenant["mfaConfig"]?["state"] == "ENABLED")
      let account = try await server.post(
        "/v1/projects/demo-other/tenants/another/accounts", ["localId": "alice"], .owner)
      #expect(account["localId"] == "alice")
      let elsewhere = try await server.post(
        TestServer.accounts + ":lookup", ["localId": ["alice"]], .owner)
      #expect(elsewhere["users"] == nil)
    }
  }

  @Test func `accounts can be cleared without a credential`() async throws {
    try await TestServer.with(.emulator) { server in
      let id = try await server.addTenant()
      _ = try await server.addPerson()
      _ = try await server.addPerson(tenant: id)
      let path = "/emulator/v1/projects/acme-mfa/"
      let cleared = try await server.call(.delete, path + "accounts", text: "", .none)
      #expect(cleared.json == [:])
      let batch = "/v1/projects/acme-mfa/"
      #expect(try await server.get(batch + "accounts:batchGet")["users"] == nil)
      let tenant = "tenants/\(id)/accounts"
      #expect(try await server.get(batch + tenant + ":batchGet")["users"] != nil)
      _ = try await server.call(.delete, path + tenant, text: "", .none)
      #expect(try await server.get(batch + tenant + ":batchGet")["users"] == nil)
    }
  }

  @Test func `codes and limits are cleared with the accounts, even without one`() async throws {
    try await TestServer.with(.emulator) { server in
      let path = "/emulator/v1/projects/acme-mfa/"
      func lists() async throws -> [Int?] {
        var counts: [Int?] = []
        for name in ["oobCodes", "verificationCodes"] {
          let answer = try await server.get(path + name, .none)
          counts.append(answer[name]?.arrayValue?.count)
        }
        return counts
      }
      func isBlocked() async throws -> Bool {
        let answer = try await server.post(
          "/v1/accounts:signInWithPassword", ["email": "a@example.com", "password": "wrong"])
        return answer.error?.hasPrefix("TOO_MANY_ATTEMPTS_TRY_LATER") == true
      }
      for _ in 0..<20 { _ = try await isBlocked() }
      #expect(try await isBlocked())
      let mail = try await server.post(
        "/v1/accounts:sendOobCode",
        [
          "requestType": "EMAIL_SIGNIN", "email": "a@example.com",
          "continueUrl": "http://localhost/",
        ])
      #expect(mail.status == 200)
      let message = try await server.post(
        "/v1/accounts:sendVerificationCode", ["phoneNumber": "+15551230001"])
      #expect(message.status == 200)
      #expect(try await lists() == [1, 1])
      _ = try await server.call(.delete, path + "accounts", text: "", .none)
      #expect(try await lists() == [0, 0])
      #expect(try await !isBlocked())
    }
  }

  @Test func `the emulator's configuration can be read and changed`() async throws {
    try await TestServer.with(.emulator) { server in
      let path = "/emulator/v1/projects/acme-mfa/config"
      let body: JSON = ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": true]]
      let changed = try await server.call(
        .patch, path, text: String(decoding: body.serialized(), as: UTF8.self), .none)
      #expect(
        changed.json == [
          "signIn": ["allowDuplicateEmails": false],
          "emailPrivacyConfig": ["enableImprovedEmailPrivacy": true],
        ])
      #expect(try await server.get(path, .none).json == changed.json)
      let more = try await server.call(
        .patch, path, text: #"{"signIn": {"allowDuplicateEmails": true}}"#, .none)
      #expect(more["signIn"]?["allowDuplicateEmails"] == true)
      #expect(more["emailPrivacyConfig"] == changed["emailPrivacyConfig"])
    }
  }

  @Test func `the code lists are empty before a code is sent`() async throws {
    try await TestServer.with(.emulator) { server in
      for pool in ["", "tenants/some-tenant/"] {
        for name in ["oobCodes", "verificationCodes"] {
          let path = "/emulator/v1/projects/acme-mfa/\(pool)\(name)"
          let answer = try await server.get(path, .none)
          #expect(answer.json == .object([name: []]))
        }
      }
    }
  }
}
