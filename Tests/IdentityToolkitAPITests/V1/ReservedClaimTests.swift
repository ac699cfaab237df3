import Identity
import JSON
import Testing
import Text

@testable import IdentityToolkitAPI

/// A custom claim is in tokens, or it's refused.
struct ReservedClaimTests {
  /// The names that custom claims can't have.
  private static let reserved = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "countersign", "email",
    "email_verified", "exp", "firebase", "iat", "iss", "jti", "nbf", "nonce", "phone_number",
    "provider_id", "sub", "user_id",
  ]

  @Test func `every claim that a token sets is reserved, or custom claims replace it`() {
    let names = Set(ReservedClaims.all.map(\.text))
    #expect(names == Set(Self.reserved))
    for claim in TokenClaim.allCases {
      #expect(names.contains(claim.rawValue) != claim.isReplaceable, "\(claim)")
    }
    #expect(TokenClaim.allCases.filter(\.isReplaceable).map(\.rawValue) == ["name", "picture"])
  }

  @Test func `no call stores a reserved claim`() async throws {
    try await TestServer.with { server in
      _ = try await server.identity.trustedTokenKeys.add(
        to: ID(TestServer.project), issuer: "backend@acme.example", keyID: nil,
        key: TestTokenIssuer.back.pem(), by: Author(actor: .commandLine))
      let alice = try await server.addPerson()
      for name in Self.reserved {
        let claims = #"{"plan":"gold","\#(name)":"x"}"#
        let error = "FORBIDDEN_CLAIM : \(name)"
        let changed = try await server.post(
          TestServer.accounts + ":update",
          ["localId": .string(alice.uid), "customAttributes": .string(claims)], .owner)
        #expect(changed.error == error)
        let imported = try await server.post(
          TestServer.accounts + ":batchCreate",
          ["users": [["localId": "bob", "customAttributes": .string(claims)]]], .owner)
        #expect(
          imported["error"]?.arrayValue?.first?["message"]
            == "Custom claims provided include a reserved claim.", "\(name)")
        let token = try TestTokenIssuer.back.token(
          CustomTokenTests.payload(server, ["claims": ["plan": "gold", name: "x"]]))
        let signedIn = try await server.post(
          "/v1/accounts:signInWithCustomToken", ["token": .string(token)])
        #expect(signedIn.error == error)
      }
      let user = try await server.identity.accounts.find(
        try await server.identity.pools.find(project: ID(TestServer.project)), ID(alice.uid))
      #expect(user?.customAttributes == nil)
    }
  }

  @Test func `claims that replace a token's are delivered`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      for claim in TokenClaim.allCases where claim.isReplaceable {
        let set = try await server.post(
          TestServer.accounts + ":update",
          [
            "localId": .string(alice.uid),
            "customAttributes": .string(#"{"\#(claim.rawValue)":"x"}"#),
          ], .owner)
        #expect(set.status == 200)
        let token = try claims(try await server.signIn(alice)["idToken"])
        #expect(token[claim.rawValue] == "x")
      }
    }
  }
}
