import Crypto
import HTTP
import Identity
import JSON
import Testing
import Text

struct IDTokenTests {
  private static let lookup = "/v1/accounts:lookup"

  /// Returns a token with the given header, payload, and signature.
  private func token(_ header: String, _ payload: JSON, _ signature: String = "") -> String {
    let head = Base64URL.encode(Array(header.utf8))
    return "\(head).\(Base64URL.encode(payload.serialized())).\(signature)"
  }

  @Test func `a token without a valid signature is refused`() async throws {
    try await TestServer.with { server in
      let session = try await server.signIn(try await server.addPerson())
      let good = try session.text("idToken")
      let payload = try claims(.string(good))
      let parts = good.split(separator: ".").map(String.init)
      let kid = try #require(
        try await server.get(
          "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com", .none
        )["keys"]?.arrayValue?.first?["kid"]?.stringValue)
      let forged = [
        token(#"{"alg":"none","typ":"JWT"}"#, payload),
        token(#"{"alg":"none","typ":"JWT"}"#, payload, parts[2]),
        token(#"{"alg":"None","kid":"\#(kid)"}"#, payload),
        token(#"{"alg":"HS256","kid":"\#(kid)"}"#, payload, parts[2]),
        token(#"{"alg":"RS256","kid":"\#(kid)"}"#, payload),
        token(#"{"alg":"RS256","kid":"other"}"#, payload, parts[2]),
        token(#"{"alg":"RS256"}"#, payload, parts[2]),
        "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", "\(good).", "x.y.z", "..",
        "\(parts[0]).\(Base64URL.encode(payload.serialized().reversed())).\(parts[2])",
        String(repeating: "a", count: 20_000),
      ]
      for token in forged {
        let answer = try await server.post(Self.lookup, ["idToken": .string(token)])
        #expect(answer.error == "INVALID_ID_TOKEN", "\(token)")
      }
      #expect(try await server.post(Self.lookup, ["idToken": .string(good)]).status == 200)
      #expect(try await server.post(Self.lookup, [:]).error == "MISSING_ID_TOKEN")
    }
  }

  @Test func `a token with a modified claim is refused`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let bob = try await server.addPerson("bob")
      let good = try await server.signIn(alice).text("idToken")
      let parts = good.split(separator: ".").map(String.init)
      var payload = try #require(try claims(.string(good)).objectValue)
      payload["sub"] = .string(bob.uid)
      payload["user_id"] = .string(bob.uid)
      let body = Base64URL.encode(JSON.object(payload).serialized())
      let answer = try await server.post(
        Self.lookup, ["idToken": .string("\(parts[0]).\(body).\(parts[2])")])
      #expect(answer.error == "INVALID_ID_TOKEN")
    }
  }

  @Test(arguments: [(3899, nil), (3900, "INVALID_ID_TOKEN")])
  func `a token is accepted for five minutes after it expires`(age: Int64, error: String?)
    async throws
  {
    try await TestServer.with { server in
      let token = try await server.signIn(try await server.addPerson())["idToken"] ?? nil
      server.advance(seconds: age)
      #expect(try await server.post(Self.lookup, ["idToken": token]).error == error)
    }
  }

  @Test(arguments: [Profile.standalone, .emulator])
  func `a token from another project or tenant is refused`(profile: Profile) async throws {
    try await TestServer.with(profile) { server in
      let id = try await server.addTenant()
      let inTenant = try await server.signIn(try await server.addPerson(tenant: id), tenant: id)
      let inProject = try await server.signIn(try await server.addPerson())
      let mismatch = "TENANT_ID_MISMATCH : Specified tenant ID mismatches with the ID token."
      for (token, tenant) in [(inTenant, "other-12345"), (inProject, id)] {
        let answer = try await server.post(
          Self.lookup, ["idToken": token["idToken"] ?? nil, "tenantId": .string(tenant)])
        #expect(answer.error == mismatch)
      }
      // If the request names no tenant, the token determines it.
      let found = try await server.post(Self.lookup, ["idToken": inTenant["idToken"] ?? nil])
      #expect(found["users"]?.arrayValue?.first?["tenantId"]?.stringValue == id)
      let own = try await server.post(Self.lookup, ["idToken": inProject["idToken"] ?? nil])
      #expect(own["users"]?.arrayValue?.first?["tenantId"] == nil)

      guard profile == .standalone else { return }
      let other = try await server.identity.pools.createProject(
        id: "other-mfa", displayName: "Other", by: .program(Author(actor: .commandLine))
      ).value
      let key = try await server.identity.apiKeys.list(other.pool.project).first?.text ?? ""
      let answer = try await server.post(
        Self.lookup + "?key=\(key)", ["idToken": inProject["idToken"] ?? nil], .none)
      #expect(answer.error == "INVALID_ID_TOKEN")
    }
  }

  @Test func `the emulator's tokens are unsigned, as the Node SDK requires`() async throws {
    try await TestServer.with(.emulator) { server in
      let session = try await server.signIn(try await server.addPerson())
      let token = try session.text("idToken")
      #expect(token.hasSuffix("."))
      let header = try #require(Base64URL.decode(token.split(separator: ".")[0]))
      let parameters = try #require(try JSON.parse(header).objectValue)
      // The session ID is in the header, which SDKs don't expose.
      #expect(parameters.names == ["alg", "sid", "typ"])
      #expect(parameters["alg"] == "none" && parameters["typ"] == "JWT")
    }
  }

  @Test func `the published key verifies a token`() async throws {
    try await TestServer.with { server in
      let token = try await server.signIn(try await server.addPerson()).text("idToken")
      let parts = token.split(separator: ".")
      let header = try JSON.parse(try #require(Base64URL.decode(parts[0])))
      let path = "/www.googleapis.com/service_accounts/v1/jwk/securetoken%40system"
      let keys = try await server.get(path + ".gserviceaccount.com", .none)
      let key = try #require(
        keys["keys"]?.arrayValue?.first { $0["kid"] == header["kid"] })
      #expect(key["e"] == "AQAB")
      #expect(key["alg"] == "RS256")
      #expect(key["n"]?.stringValue?.utf8.count == 342)
      let signed = server.identity.signingKeys.verify(
        Array("\(parts[0]).\(parts[1])".utf8),
        signature: try #require(Base64URL.decode(parts[2])),
        keyID: try #require(header["kid"]?.stringValue))
      #expect(signed)
    }
  }
}
