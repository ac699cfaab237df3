import HTTP
import Identity
import JSON
import Testing

struct CustomTokenTests {
  private static let path = "/v1/accounts:signInWithCustomToken"
  private static let issuer: JSON = "backend@acme.example"

  static func payload(_ server: TestServer, _ members: JSON.Object = [:]) -> JSON {
    var payload: JSON.Object = [
      "iss": issuer, "sub": issuer, "aud": .string(CustomTokens.audience),
      "iat": .number(JSON.Number(server.now.seconds)),
      "exp": .number(JSON.Number(server.now.seconds + 3600)), "uid": "alice",
    ]
    for member in members { payload[member.name] = member.value }
    return .object(payload)
  }

  private func register(_ server: TestServer) async throws {
    _ = try await server.identity.trustedTokenKeys.add(
      to: ID(TestServer.project), issuer: "backend@acme.example", keyID: nil,
      key: TestTokenIssuer.back.pem(), by: .program(Author(actor: .commandLine)))
  }

  @Test func `a custom token is exchanged for tokens`() async throws {
    try await TestServer.with { server in
      try await register(server)
      let token = try TestTokenIssuer.back.token(
        Self.payload(server, ["claims": ["plan": "gold", "name": "Ada"]]))
      let answer = try await server.post(
        Self.path, ["token": .string(token), "returnSecureToken": true])
      #expect(
        masked(answer.json)
          == (try json(
            """
            {"kind": "identitytoolkit#VerifyCustomTokenResponse", "isNewUser": true,
             "idToken": "<idToken>", "refreshToken": "<refreshToken>", "expiresIn": "3600"}
            """)))
      let first = try claims(answer["idToken"])
      #expect(first["sub"] == "alice")
      #expect(first["plan"] == "gold")
      #expect(first["name"] == "Ada")
      #expect(first["user_id"] == "alice")
      #expect(first["firebase"] == ["identities": [:], "sign_in_provider": "custom"])
      let again = try await server.post(Self.path, ["token": .string(token)])
      #expect(again["isNewUser"] == false)
      let user = try await server.post(
        "/v1/accounts:lookup", ["idToken": answer["idToken"] ?? nil])["users"]?.arrayValue?.first
      #expect(user?["customAuth"] == true)
      #expect(user?["validSince"] == .string(String(server.now.seconds)))
      #expect(user?["customAttributes"] == nil)
      let refreshed = try await server.post(
        "/v1/token",
        ["grantType": "refresh_token", "refreshToken": answer["refreshToken"] ?? nil])
      #expect(try claims(refreshed["id_token"])["plan"] == "gold")
    }
  }

  @Test func `custom claims replace the user's name and picture in tokens, each written once`()
    async throws
  {
    try await TestServer.with { server in
      try await register(server)
      let alice = try await server.addPerson()
      let changed = try await server.post(
        TestServer.accounts + ":update",
        [
          "localId": .string(alice.uid), "displayName": "Alice", "photoUrl": "https://a.example",
          "customAttributes": #"{"name":"Ada"}"#,
        ], .owner)
      #expect(changed.status == 200)
      // JSON with a name that occurs twice can't be parsed.
      let own = try claims(try await server.signIn(alice)["idToken"])
      #expect(own["name"] == "Ada" && own["picture"] == "https://a.example")
      #expect(own["email"]?.stringValue == alice.email)
      let token = try TestTokenIssuer.back.token(
        Self.payload(
          server,
          [
            "uid": .string(alice.uid),
            "claims": ["name": "Grace", "picture": "https://b.example"],
          ]))
      let session = try await server.post(Self.path, ["token": .string(token)])
      let other = try claims(session["idToken"])
      #expect(other["name"] == "Grace" && other["picture"] == "https://b.example")
      let user = try await server.post(
        "/v1/accounts:lookup", ["idToken": session["idToken"] ?? nil])["users"]?.arrayValue?.first
      #expect(user?["displayName"] == "Alice")
    }
  }

  @Test func `the session's claims override the user's`() async throws {
    try await TestServer.with { server in
      try await register(server)
      _ = try await server.post(
        TestServer.accounts, ["localId": "alice", "email": "alice@example.com"], .owner)
      _ = try await server.post(
        TestServer.accounts + ":update",
        ["localId": "alice", "customAttributes": #"{"plan":"silver","team":"a"}"#], .owner)
      let token = try TestTokenIssuer.back.token(Self.payload(server, ["claims": ["plan": "gold"]]))
      let answer = try await server.post(Self.path, ["token": .string(token)])
      let payload = try claims(answer["idToken"])
      #expect(payload["plan"] == "gold")
      #expect(payload["team"] == "a")
    }
  }

  @Test(
    arguments: [
      ([:], "MISSING_CUSTOM_TOKEN"), (["token": nil], "MISSING_CUSTOM_TOKEN"),
      (
        ["token": ""],
        "INVALID_CUSTOM_TOKEN : Invalid assertion format. 3 dot separated segments required."
      ),
      (
        ["token": "x"],
        "INVALID_CUSTOM_TOKEN : Invalid assertion format. 3 dot separated segments required."
      ),
      (["token": true], "Invalid value at 'token' (TYPE_STRING), true"),
    ] as [(JSON, String)])
  func `malformed tokens are refused`(body: JSON, error: String) async throws {
    try await TestServer.with { server in
      let answer = try await server.post(Self.path, body)
      #expect(answer.status == 400)
      #expect(answer.error == error)
    }
  }

  @Test(
    arguments: [
      (
        ["aud": "x"],
        "INVALID_CUSTOM_TOKEN : The token doesn't have the audience of custom tokens."
      ),
      (["exp": 1], "INVALID_CUSTOM_TOKEN : The token has no iat or exp."),
      (
        ["iss": "x@y.example", "sub": "x@y.example"],
        "CREDENTIAL_MISMATCH : The custom token's issuer is not registered for this project."
      ),
      (
        ["tenant_id": "t"],
        "TENANT_ID_MISMATCH : Specified tenant ID does not match the custom token."
      ),
      (
        ["uid": ""],
        "INVALID_IDENTIFIER : Invalid user ID length. Expect to have length between 1 and 128."
      ),
      (["uid": nil], "MISSING_IDENTIFIER"), (["claims": 7], "INVALID_CLAIMS"),
      (["claims": ["exp": 1]], "FORBIDDEN_CLAIM : exp"),
    ] as [(JSON.Object, String)])
  func `each invalid claim has its own error code`(members: JSON.Object, error: String) async throws
  {
    try await TestServer.with { server in
      try await register(server)
      let token = try TestTokenIssuer.back.token(Self.payload(server, members))
      #expect(try await server.post(Self.path, ["token": .string(token)]).error == error)
    }
  }

  @Test func `a disabled user or project refuses a custom token`() async throws {
    try await TestServer.with { server in
      try await register(server)
      let token = JSON.string(try TestTokenIssuer.back.token(Self.payload(server)))
      _ = try await server.post(
        TestServer.accounts, ["localId": "alice", "disabled": true], .owner)
      #expect(try await server.post(Self.path, ["token": token]).error == "USER_DISABLED")
      _ = try await server.identity.pools.update(
        project: ID(TestServer.project), by: .program(Author(actor: .commandLine))
      ) { project throws(PoolError) in project.disableAuth = true }
      #expect(try await server.post(Self.path, ["token": token]).error == "PROJECT_DISABLED")
    }
  }

  @Test func `the standalone profile refuses unsigned tokens`() async throws {
    try await TestServer.with { server in
      try await register(server)
      for token in [TestTokenIssuer.unsigned(Self.payload(server)), #"{"uid":"alice"}"#] {
        let answer = try await server.post(Self.path, ["token": .string(token)])
        #expect(answer.error?.hasPrefix("INVALID_CUSTOM_TOKEN : ") == true)
      }
    }
  }

  @Test func `the emulator accepts unsigned tokens and bare JSON`() async throws {
    try await TestServer.with(.emulator) { server in
      for token in [TestTokenIssuer.unsigned(Self.payload(server)), #"{"uid":"alice"}"#] {
        let answer = try await server.post(Self.path, ["token": .string(token)])
        #expect(answer.status == 200)
        #expect(try claims(answer["idToken"])["sub"] == "alice")
      }
    }
  }

  /// Signs Alice in with a custom token and returns the ID token.
  private func signIn(_ server: TestServer, _ claims: JSON) async throws -> JSON {
    let token = try TestTokenIssuer.back.token(Self.payload(server, ["claims": claims]))
    let answer = try await server.post(Self.path, ["token": .string(token)])
    return answer["idToken"] ?? nil
  }

  @Test func `the claims are preserved when the user adds an email and password`()
    async throws
  {
    try await TestServer.with { server in
      try await register(server)
      let token = try await signIn(server, ["plan": "gold"])
      server.advance(seconds: 30)
      let changed = try await server.post(
        "/v1/accounts:signUp",
        [
          "idToken": token, "email": "alice@example.com", "password": "correct horse",
          "returnSecureToken": true,
        ])
      #expect(changed.status == 200)
      #expect(try claims(changed["idToken"])["plan"] == "gold")
      server.advance(seconds: 30)
      let again = try await server.post(
        "/v1/accounts:update",
        [
          "idToken": changed["idToken"] ?? nil, "password": "battery staple",
          "returnSecureToken": true,
        ])
      #expect(try claims(again["idToken"])["plan"] == "gold")
      let refreshed = try await server.post(
        "/v1/token",
        ["grantType": "refresh_token", "refreshToken": again["refreshToken"] ?? nil])
      #expect(try claims(refreshed["id_token"])["plan"] == "gold")
    }
  }

  @Test func `sessions started at the same time keep their own claims`() async throws {
    try await TestServer.with { server in
      try await register(server)
      let poor = try await signIn(server, ["plan": "tin"])
      _ = try await signIn(server, ["plan": "gold"])
      let changed = try await server.post(
        "/v1/accounts:signUp",
        [
          "idToken": poor, "email": "alice@example.com", "password": "correct horse",
          "returnSecureToken": true,
        ])
      #expect(changed.status == 200)
      #expect(try claims(changed["idToken"])["plan"] == "tin")
    }
  }

  @Test func `only the length of the custom token limits its claims`() async throws {
    try await TestServer.with { server in
      try await register(server)
      for (count, status) in [(1_000, 200), (11_000, 200), (12_288, 400)] {
        let claim = JSON.string(String(repeating: "x", count: count))
        let token = try TestTokenIssuer.back.token(
          Self.payload(server, ["claims": ["long": claim]]))
        let answer = try await server.post(Self.path, ["token": .string(token)])
        #expect(answer.status == status, "\(count)")
        guard status == 200 else { continue }
        #expect(try claims(answer["idToken"])["long"] == claim)
        let found = try await server.post(
          "/v1/accounts:lookup", ["idToken": answer["idToken"] ?? nil])
        #expect(found.status == 200, "\(count)")
      }
    }
  }
}
