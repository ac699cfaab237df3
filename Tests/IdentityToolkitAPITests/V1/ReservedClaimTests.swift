import Identity
import JSON
import Testing
import Text

@testable import IdentityToolkitAPI

/// Custom claims with names that mean something: those that no call stores, and those that are stored
/// and never replace what a token says about the account.
struct ReservedClaimTests {
  /// The names that custom claims can't have, as in production.
  private static let reserved = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase", "iat",
    "iss", "jti", "nbf", "nonce", "sub",
  ]

  /// The names that are stored, with what the token of Alice says instead.
  private static let stored: [(name: String, own: JSON?)] = [
    ("email", "alice@example.com"), ("email_verified", true), ("phone_number", nil),
    ("provider_id", nil), ("user_id", "alice"), ("countersign", nil),
  ]

  @Test func `every claim that a token sets is reserved, stored without effect, or replaced`() {
    let names = Set(ReservedClaims.all.map(\.text))
    #expect(names == Set(Self.reserved))
    for claim in TokenClaim.allCases {
      let ways = [
        names.contains(claim.rawValue), claim.isReplaceable,
        Self.stored.contains { $0.name == claim.rawValue },
      ]
      #expect(ways.count { $0 } == 1, "\(claim)")
    }
    #expect(TokenClaim.allCases.filter(\.isReplaceable).map(\.rawValue) == ["name", "picture"])
  }

  @Test func `no call stores a reserved claim`() async throws {
    try await TestServer.with { server in
      _ = try await server.identity.trustedTokenKeys.add(
        to: ID(TestServer.project), issuer: "backend@acme.example", keyID: nil,
        key: TestTokenIssuer.back.pem(), by: .program(Author(actor: .commandLine)))
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

  @Test func `other claims are stored and returned, and a token has the account's own values`()
    async throws
  {
    try await TestServer.with { server in
      _ = try await server.identity.trustedTokenKeys.add(
        to: ID(TestServer.project), issuer: "backend@acme.example", keyID: nil,
        key: TestTokenIssuer.back.pem(), by: .program(Author(actor: .commandLine)))
      let own: JSON.Object = [
        "localId": "alice", "email": "alice@example.com", "password": .string(Person.password),
        "emailVerified": true,
      ]
      _ = try await server.post(TestServer.accounts, .object(own), .owner)
      var forged: JSON.Object = ["plan": "gold"]
      for claim in Self.stored { forged[UntrustedText(claim.name)] = "forged" }
      let text = String(decoding: JSON.object(forged).serialized(), as: UTF8.self)
      func expectOwnValues(_ answer: Answer, _ call: String) async throws {
        let refreshed = try await server.post(
          "/v1/token",
          ["grantType": "refresh_token", "refreshToken": answer["refreshToken"] ?? nil])
        for token in [answer["idToken"], refreshed["id_token"]] {
          let claims = try claims(token)
          #expect(claims["plan"] == "gold", "\(call)")
          for claim in Self.stored { #expect(claims[claim.name] == claim.own, "\(call), \(claim)") }
        }
      }
      let token = try TestTokenIssuer.back.token(
        CustomTokenTests.payload(server, ["uid": "alice", "claims": .object(forged)]))
      try await expectOwnValues(
        try await server.post("/v1/accounts:signInWithCustomToken", ["token": .string(token)]),
        "custom token")
      for (call, body) in [
        (":update", ["localId": "alice", "customAttributes": .string(text)]),
        (
          ":batchCreate",
          [
            "allowOverwrite": true,
            "users": [["localId": "alice", "customAttributes": .string(text)]],
          ]
        ),
      ] as [(String, JSON)] {
        let set = try await server.post(TestServer.accounts + call, body, .owner)
        #expect(set.status == 200 && set["error"] == nil, "\(set.json)")
        let found = try await server.post(
          TestServer.accounts + ":lookup", ["localId": "alice"], .owner)
        #expect(
          found["users"]?.arrayValue?.first?["customAttributes"] == .string(text), "\(call)")
      }
      let alice = Person(email: "alice@example.com", uid: "alice")
      _ = try await server.post(
        TestServer.accounts + ":update",
        [
          "localId": "alice", "email": .string(alice.email), "emailVerified": true,
          "password": .string(Person.password),
        ], .owner)
      try await expectOwnValues(try await server.signIn(alice), "custom claims")
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
