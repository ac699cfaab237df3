import Crypto
import Identity
import OpenIDConnect
import Testing
import Text

@testable import TestIdentity

struct ProviderTokenTests {
  private static let digest =
    Hex.encode(HashFunction.sha256.digest(Array("a raw nonce".utf8)))

  @Test(
    arguments: [
      ("", ["iss"], "invalidResponse"),
      (#""iss":"https://login.acme.example/""#, ["iss"], "invalidResponse"),
      ("", ["aud"], "invalidResponse"), (#""aud":"client-2""#, ["aud"], "invalidResponse"),
      (#""aud":["client-1"]"#, ["aud"], "done"),
      (#""aud":["client-2","client-1"]"#, ["aud"], "done"),
      (#""aud":["client-2","client-3"]"#, ["aud"], "invalidResponse"),
      (#""aud":["client-1","client-2"],"azp":"client-1""#, ["aud"], "done"),
      (#""aud":["client-1","client-2"],"azp":"client-2""#, ["aud"], "invalidResponse"),
      (#""azp":"client-2""#, [], "invalidResponse"), (#""aud":[7]"#, ["aud"], "invalidResponse"),
      ("", ["sub"], "invalidResponse"), (#""sub":7"#, ["sub"], "invalidResponse"),
      (#""sub":"""#, ["sub"], "invalidResponse"),
      (#""sub":"\#(String(repeating: "s", count: 513))""#, ["sub"], "invalidResponse"),
      ("", ["exp"], "invalidResponse"), ("", ["iat"], "invalidResponse"),
      (#""exp":1772366340"#, ["exp"], "invalidResponse"), (#""exp":1772366341"#, ["exp"], "done"),
      (#""iat":1772366461"#, ["iat"], "invalidResponse"), (#""iat":1772366460"#, ["iat"], "done"),
      (#""nbf":1772366700"#, [], "done"), (#""nbf":1772366701"#, [], "invalidResponse"),
      (#""nonce":"\#(digest)""#, [], "invalidNonce"),
    ] as [(String, [String], String)])
  func `each claim of an ID token is verified`(
    members: String, without: [String], result: String
  ) async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let token = try TestTokenIssuer.back.token(Instance.claims(members, without: without))
      await expect(result) { try await instance.assertion(token) }
    }
  }

  @Test func `the nonce must match the token`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let token = try TestTokenIssuer.back.token(Instance.claims(#""nonce":"\#(Self.digest)""#))
      await expect("done") { try await instance.assertion(token, nonce: "a raw nonce") }
      await expect("invalidNonce") { try await instance.assertion(token, nonce: "another") }
      // The digest instead of the raw nonce.
      await expect("invalidNonce") { try await instance.assertion(token, nonce: Self.digest) }
      let plain = try TestTokenIssuer.back.token(Instance.claims())
      await expect("done") { try await instance.assertion(plain, nonce: "a raw nonce") }
    }
  }

  @Test(arguments: [
    #"{"alg":"none"}"#, #"{"alg":"HS256"}"#, #"{"alg":"ES256"}"#, #"{"alg":"RS256","crit":[]}"#,
    #"{"kid":"k1"}"#,
  ])
  func `no header bypasses the signature`(header: String) async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let claims = Instance.claims()
      for token in [
        try TestTokenIssuer.back.token(claims, header: header),
        TestTokenIssuer.unsigned(claims, header: header),
        try TestTokenIssuer.other.token(claims), claims,
      ] {
        await expect("invalidResponse") { try await instance.assertion(token) }
      }
    }
  }

  @Test func `the key is the one that the token names, if the keys have names`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      func signed(by name: String) throws -> String {
        try TestTokenIssuer.back.token(
          Instance.claims(), header: #"{"alg":"RS256","kid":"\#(name)"}"#)
      }
      let (known, unknown) = (try signed(by: "k1"), try signed(by: "k2"))
      await expect("done") { try await instance.assertion(known) }
      await expect("invalidResponse") { try await instance.assertion(unknown) }
      let pem = try KeySet(TestTokenIssuer.back.pem())
      try await instance.identity.identityProviders.update(
        instance.acme, "oidc.acme", by: .program(Instance.boss)
      ) { (settings) throws(ProviderError) in settings.keys = pem }
      await expect("done") { try await instance.assertion(unknown) }
    }
  }

  @Test func `only an enabled provider of the pool is accepted`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let token = try TestTokenIssuer.back.token(Instance.claims())
      for provider in ["oidc.other", "google.com", "password", ""] {
        await expect("providerNotFound") {
          try await instance.assertion(token, provider: provider)
        }
      }
      await expect("providerNotFound") { try await instance.assertion(token, in: instance.east) }
      await expect("unsupported") { try await instance.assertion(token, provider: "saml.acme") }
      let providers = instance.identity.identityProviders
      try await providers.update(instance.acme, "oidc.acme", by: .program(Instance.boss)) {
        (settings) throws(ProviderError) in settings.keys = KeySet()
      }
      await expect("invalidResponse") { try await instance.assertion(token) }
      try await providers.update(instance.acme, "oidc.acme", by: .program(Instance.boss)) {
        (settings) throws(ProviderError) in settings.isEnabled = false
      }
      await expect("providerDisabled") { try await instance.assertion(token) }
    }
  }

  @Test func `an invalid email, name, or picture is ignored`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let name = String(repeating: "n", count: 300)
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(
          Instance.claims(
            #""email":"no address","email_verified":true,"name":"\#(name)","picture":7"#)))
      #expect(assertion.link.email == nil)
      #expect(!assertion.isEmailVerified)
      #expect(assertion.link.displayName == nil)
      #expect(assertion.link.photoURL == nil)
      // Not every database can store it.
      let other = try await instance.assertion(
        TestTokenIssuer.back.token(
          Instance.claims(#""name":"a\u0000b","picture":"https://p\u0000""#)))
      #expect(other.link.displayName == nil && other.link.photoURL == nil)
    }
  }

  @Test(arguments: [
    // The Kelvin sign.
    ("\u{212A}im@example.com", "kim@example.com", false),
    ("kim@\u{212A}.example", "kim@k.example", false),
    // I with a dot above, which becomes the letter i and a combining dot.
    ("\u{130}da@example.com", "i\u{307}da@example.com", false),
    ("Kim@Example.com", "kim@example.com", true),
    ("\u{C9}mile@example.com", "\u{E9}mile@example.com", true),
    ("E\u{301}mile@example.com", "\u{E9}mile@example.com", false),
    ("ida@B\u{DC}CHER.example", "ida@xn--bcher-kva.example", true),
    ("ida@example\u{3002}com", "ida@example.com", false),
    ("ida@\u{FF45}xample.com", "ida@example.com", false),
  ])
  func `an address that is folded to other ASCII letters isn't verified`(
    asserted: String, folded: String, isVerified: Bool
  ) async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(
          Instance.claims(#""email":"\#(asserted)","email_verified":true"#)))
      #expect(assertion.link.email?.isSameBytes(as: folded) == true)
      #expect(assertion.isEmailVerified == isVerified)
    }
  }

  @Test func `the emulator accepts unsigned tokens of any provider`() async throws {
    try await withEmulator { identity in
      let pool = try await identity.pools.find(project: ID("demo-project"))
      for (token, provider, result) in [
        (#"{"sub":"1"}"#, "google.com", "done"),
        (TestTokenIssuer.unsigned(#"{"sub":"2"}"#), "oidc.any", "done"),
        (#"{"sub":"1"}"#, "saml.acme", "unsupported"), ("", "google.com", "invalidResponse"),
        ("x", "google.com", "invalidResponse"), ("{", "google.com", "invalidResponse"),
        ("{}", "google.com", "invalidResponse"), (#"{"sub":""}"#, "x.com", "invalidResponse"),
        (#"{"sub":7}"#, "x.com", "invalidResponse"), (#"{"sub":"1"}"#, "phone", "invalidResponse"),
      ] {
        await expect(result) {
          try await identity.federation.assertion(
            pool, provider: provider, idToken: token, nonce: nil)
        }
      }
    }
  }
}
