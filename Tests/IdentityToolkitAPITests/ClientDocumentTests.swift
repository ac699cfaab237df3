import Crypto
import HTTP
import Identity
import JSON
import Synchronization
import TestDatabases
import Testing
import Text

struct ClientDocumentTests {
  @Test func `keys are published as certificates and as a key set`() async throws {
    try await TestServer.with { server in
      let account = "securetoken@system.gserviceaccount.com"
      let certificates = try await server.get(
        "/www.googleapis.com/robot/v1/metadata/x509/\(account)", .none)
      let (id, text) = try #require(certificates.json.objectValue?.members.first)
      #expect(text.stringValue?.hasPrefix("-----BEGIN CERTIFICATE-----\n") == true)
      #expect(certificates.response.fields[.cacheControl] == "public, max-age=3600")
      for path in [
        "/v1/publicKeys", "/www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys",
      ] {
        #expect(try await server.get(path, .none).json == certificates.json)
      }
      let keys = try await server.get("/service_accounts/v1/jwk/\(account)", .none)
      let key = try #require(keys["keys"]?.arrayValue?.first?.objectValue)
      #expect(key.names == ["kty", "alg", "use", "kid", "n", "e"])
      #expect(key["kid"] == .text(id))
      #expect(try await server.get("/v1/sessionCookiePublicKeys", .none).json == keys.json)
    }
  }

  @Test func `discovery leads from the issuer to the keys`() async throws {
    try await TestServer.with { server in
      for path in [
        "/acme-mfa/.well-known/openid-configuration",
        "/securetoken.google.com/acme-mfa/.well-known/openid-configuration",
      ] {
        let document = try await server.get(path, .none)
        #expect(
          document.json
            == (try json(
              """
              {"issuer": "https://securetoken.google.com/acme-mfa", "jwks_uri":
                "https://mfa.example.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
               "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
               "id_token_signing_alg_values_supported": ["RS256"]}
              """)))
      }
    }
  }

  @Test func `evidence keys are published, the current one first, and retired ones stay`()
    async throws
  {
    try await TestServer.with { server in
      let path = "/.well-known/countersign-evidence-keys"
      #expect(try await server.get(path, .none).json == ["keys": []])
      let keys = server.identity.evidenceKeys
      let first = try await keys.current()
      let second = try await keys.rotate(by: Author(actor: .commandLine))
      let answer = try await server.get(path, .none)
      let list = try #require(answer.json["keys"]?.arrayValue)
      #expect(list.map { $0["kid"] } == [.string(second.id), .string(first.id)])
      #expect(list[0]["pem"] == .string(second.publicKey.pem) && list[0]["retiredAt"] == nil)
      #expect(list[0]["crv"] == "Ed25519" && list[1]["retiredAt"] != nil)
    }
  }

  @Test func `the emulator has no keys, since its tokens are unsigned`() async throws {
    try await TestServer.with(.emulator) { server in
      let certificates = try await server.get("/v1/publicKeys", .none)
      #expect(certificates.json == [:])
      let keys = try await server.get("/v1/sessionCookiePublicKeys", .none)
      #expect(keys.json == ["keys": []])
    }
  }

  @Test func `a client can read the reCAPTCHA and password settings`() async throws {
    try await TestServer.with { server in
      let recaptcha = try await server.get(
        "/v2/recaptchaConfig?clientType=CLIENT_TYPE_WEB&version=RECAPTCHA_ENTERPRISE", .key)
      #expect(
        recaptcha.json
          == (try json(
            """
            {"recaptchaEnforcementState": [
              {"provider": "EMAIL_PASSWORD_PROVIDER", "enforcementState": "OFF"},
              {"provider": "PHONE_PROVIDER", "enforcementState": "OFF"}],
             "useSmsBotScore": false, "useSmsTollFraudProtection": false}
            """)))
      let policy = try await server.get("/v2/passwordPolicy", .key)
      #expect(policy["customStrengthOptions"]?["minPasswordLength"] == 6)
      #expect(policy["schemaVersion"] == 1)
      #expect(policy["enforcementState"] == "ENFORCE")
    }
  }

  @Test func `an internal error is logged with its request ID and not revealed`() async throws {
    let lines = Lines()
    try await TestServer.with(log: lines.add) { server in
      await server.test.close()
      let answer = try await server.post("/v1/accounts:signUp", [:])
      #expect(answer.status == 503)
      #expect(answer.error == "The service is currently unavailable.")
      #expect(answer.response.fields[.retryAfter] == "1")
    }
    #expect(lines.all.count == 1)
    #expect(lines.all.first?.hasPrefix("request 000000000000: ") == true)
  }
}

/// Collects logged lines.
final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  @Sendable func add(_ line: String) { lines.withLock { $0.append(line) } }
}
