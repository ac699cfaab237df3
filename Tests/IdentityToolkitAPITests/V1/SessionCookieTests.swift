import Crypto
import HTTP
import Identity
import JSON
import Testing
import Text

struct SessionCookieTests {
  private static let path = "/v1/projects/acme-mfa:createSessionCookie"

  private func cookie(
    _ server: TestServer, _ token: JSON?, duration: JSON = nil, path: String = path,
    _ credential: Credential = .owner
  ) async throws -> Answer {
    try await server.post(path, ["idToken": token ?? nil, "validDuration": duration], credential)
  }

  @Test(arguments: [Profile.standalone, .emulator])
  func `a cookie has the token's claims with its own issuer and lifetime`(
    profile: Profile
  ) async throws {
    try await TestServer.with(profile) { server in
      try await server.switchTOTPOn()
      let alice = try await server.addPerson()
      _ = try await server.post(
        TestServer.accounts + ":update",
        ["localId": .string(alice.uid), "customAttributes": #"{"role":"admin","n":[1,2.50]}"#],
        .owner)
      let first = try await server.signIn(alice)
      let enrolled = try await server.enroll(try first.text("idToken"))
      let token = enrolled.answer["idToken"]
      server.advance(seconds: 60)
      let answer = try await cookie(server, token, duration: "300")
      #expect(answer.status == 200, "\(answer.json)")
      #expect(answer.json.objectValue?.names == ["sessionCookie"])
      let sessionCookie = try answer.text("sessionCookie")
      let header = try #require(sessionCookie.split(separator: ".").first.map(String.init))
      let type = try JSON.parse(try #require(Base64URL.decode(header)))["typ"]
      #expect((type == nil) == (profile == .standalone))
      let now = server.now.seconds
      var expected = try #require(try claims(token).objectValue)
      expected["iss"] = "https://session.firebase.google.com/acme-mfa"
      expected["iat"] = .number(JSON.Number(now))
      expected["exp"] = .number(JSON.Number(now + 300))
      let payload = try claims(.string(sessionCookie))
      #expect(payload == .object(expected))
      #expect(payload["firebase"]?["sign_in_second_factor"] == "totp")
      #expect(payload["role"] == "admin")
      #expect(sessionCookie.hasSuffix(".") == (profile == .emulator))

      // A session cookie isn't accepted as an ID token.
      for path in ["/v1/accounts:lookup", "/v1/accounts:update", "/v1/accounts:delete"] {
        let refused = try await server.post(path, ["idToken": .string(sessionCookie)])
        #expect(refused.error == "INVALID_ID_TOKEN", "\(path)")
      }
      #expect(try await cookie(server, .string(sessionCookie)).error == "INVALID_ID_TOKEN")
    }
  }

  @Test(
    arguments: [
      ("", 1_209_600, nil), ("null", 1_209_600, nil), ("0", 0, "INVALID_DURATION"),
      (#""0""#, 0, "INVALID_DURATION"), ("300", 300, nil), (#""1209600""#, 1_209_600, nil),
      ("3e2", 300, nil),
      ("299", 0, "INVALID_DURATION"), (#""1209601""#, 0, "INVALID_DURATION"),
      ("-300", 0, "INVALID_DURATION"), ("9223372036854775807", 0, "INVALID_DURATION"),
      ("9223372036854775808", 0, "Invalid"), (#""soon""#, 0, "Invalid"), ("true", 0, "Invalid"),
      ("300.5", 0, "Invalid"),
    ] as [(String, Int64, String?)])
  func `a duration is a number or string from five minutes to two weeks`(
    duration: String, lifetime: Int64, error: String?
  ) async throws {
    try await TestServer.with { server in
      let token = try await server.signIn(try await server.addPerson()).text("idToken")
      let member = duration.isEmpty ? "" : #","validDuration":\#(duration)"#
      let answer = try await server.call(
        .post, Self.path, text: #"{"idToken":"\#(token)"\#(member)}"#, .owner)
      if let error {
        #expect(answer.status == 400 && answer.error?.hasPrefix(error) == true, "\(answer.json)")
      } else {
        let payload = try claims(answer["sessionCookie"])
        let end = JSON.number(JSON.Number(server.now.seconds + lifetime))
        #expect(payload["exp"] == end)
      }
    }
  }

  @Test func `only authorized service tokens can create a cookie, never an API key`() async throws {
    try await TestServer.with { server in
      let token = try await server.signIn(try await server.addPerson())["idToken"] ?? nil
      for role in ServiceTokenRole.allCases {
        let bearer = Credential.bearer(try await server.token(role))
        let answer = try await cookie(server, token, bearer)
        let isTrusted = role.permissions.contains(.changeUsers)
        #expect(answer.status == (isTrusted ? 200 : 403), "\(role)")
      }
      for credential in [Credential.key, .none] {
        let answer = try await cookie(server, token, credential)
        #expect(answer.status == 401)
        #expect(answer["error"]?["status"] == "UNAUTHENTICATED")
      }
      #expect(try await cookie(server, nil).error == "MISSING_ID_TOKEN")
      #expect(try await cookie(server, "").error == "MISSING_ID_TOKEN")
      #expect(try await cookie(server, "x.y.z").error == "INVALID_ID_TOKEN")
    }
  }

  @Test func `no cookie is created for a revoked session`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice)["idToken"] ?? nil
      #expect(try await cookie(server, token).status == 200)
      server.advance(seconds: 10)
      let update = TestServer.accounts + ":update"
      _ = try await server.post(
        update,
        ["localId": .string(alice.uid), "validSince": .string(String(server.now.seconds))], .owner)
      #expect(try await cookie(server, token).error == "TOKEN_EXPIRED")
      let again = try await server.signIn(alice)["idToken"] ?? nil
      _ = try await server.post(
        update, ["localId": .string(alice.uid), "disableUser": true], .owner)
      #expect(try await cookie(server, again).error == "USER_DISABLED")
      _ = try await server.post(
        TestServer.accounts + ":delete", ["localId": .string(alice.uid)], .owner)
      #expect(try await cookie(server, again).error == "USER_NOT_FOUND")
    }
  }

  @Test(arguments: [Profile.standalone, .emulator])
  func `a tenant's cookie can be created only on the tenant's path`(profile: Profile) async throws {
    try await TestServer.with(profile) { server in
      let (one, other) = (try await server.addTenant(), try await server.addTenant("initech"))
      let inTenant = try await server.signIn(try await server.addPerson(tenant: one), tenant: one)
      let inProject = try await server.signIn(try await server.addPerson())
      func path(_ tenant: String) -> String {
        "/v1/projects/acme-mfa/tenants/\(tenant):createSessionCookie"
      }
      let created = try await cookie(server, inTenant["idToken"] ?? nil, path: path(one))
      #expect(try claims(created["sessionCookie"])["firebase"]?["tenant"]?.stringValue == one)
      let mismatch = "TENANT_ID_MISMATCH : Specified tenant ID mismatches with the ID token."
      let wrong = [(inTenant, Self.path), (inTenant, path(other)), (inProject, path(one))]
      for (token, path) in wrong {
        let answer = try await cookie(server, token["idToken"] ?? nil, path: path)
        #expect(answer.error == mismatch, "\(path)")
      }
      guard profile == .standalone else { return }
      let bearer = Credential.bearer(try await server.token(.application, tenant: other))
      let answer = try await cookie(server, inTenant["idToken"] ?? nil, path: path(one), bearer)
      #expect(answer.status == 403)
    }
  }
}
