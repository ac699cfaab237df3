import Crypto
import JSON
import OpenIDConnect
import TestProvider
import Testing

/// Every claim of an ID token wrong once.
struct IDTokenTests {
  static let now: Int64 = 1_795_161_600

  static func claims() -> [(String, JSON)] {
    [
      ("iss", "https://id.example.com"), ("aud", "countersign"), ("sub", "248289761001"),
      ("nonce", "n-0S6_WzA2Mj"), ("iat", .number(JSON.Number(now))),
      ("exp", .number(JSON.Number(now + 300))), ("auth_time", .number(JSON.Number(now - 5))),
      // The example of OpenID Connect Core 1.0, appendix A.3, has this access token and hash.
      ("at_hash", "77QmUPtjPfzWtF2AnpK9RQ"), ("amr", ["pwd", "otp"]), ("acr", "urn:example:loa2"),
      ("groups", ["admins", "ops"]), ("name", "Nora"),
    ]
  }

  static let accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"

  private static func verify(
    _ changes: [(String, JSON?)], accessToken: String? = accessToken, since: Int64? = nil,
    key: Int = 0, header: JSON.Object = JSON.Object(), published: [Int] = [0]
  ) throws -> IDToken {
    var claims = claims()
    for (name, value) in changes {
      claims.removeAll { $0.0 == name }
      if let value { claims.append((name, value)) }
    }
    let text = try TestProvider.token(JSON.Object(claims), key: key, header: header)
    return try IDToken(
      text,
      TokenCheck(
        issuer: "https://id.example.com", clientID: "countersign",
        keys: try KeySet(published: TestProvider.keySet(published)), now: now),
      IDToken.Expectation(
        nonce: "n-0S6_WzA2Mj", accessToken: accessToken, authenticatedSince: since))
  }

  @Test func `a token tells who signed in, how, and with which groups`() throws {
    let token = try Self.verify([])
    #expect(token.subject == "248289761001")
    #expect(token.authenticatedAt == Self.now - 5)
    #expect(token.names(oneOf: ["otp"]) && token.names(oneOf: ["urn:example:loa2"]))
    #expect(!token.names(oneOf: ["mfa", "OTP", ""]))
    #expect(token.groups(in: "groups")?.names == ["admins", "ops"])
    #expect(token.groups(in: "roles") == nil)
    #expect(token.person.name == "Nora" && token.person.email == nil)
  }

  @Test(arguments: ["iat", "exp", "nbf", "auth_time"])
  func `a time that no clock shows is none`(_ claim: String) throws {
    for seconds in [Int64.min, -(1 << 40), 1 << 40, .max] {
      let time = JSON.number(JSON.Number(seconds))
      let text = try TestProvider.token(JSON.Object([(claim, time)]))
      let token = try #require(JSONWebToken(text))
      #expect(token.seconds(claim) == nil)
    }
  }

  @Test func `text with a NUL, which a database may not store, is ignored`() throws {
    let token = try Self.verify([
      ("name", "No\u{0}ra"), ("groups", ["a\u{0}", "ops"]),
    ])
    #expect(token.person.name == nil)
    #expect(token.groups(in: "groups")?.names == ["ops"])
  }

  @Test(
    arguments: [
      ([("iss", "https://id.example.com/")], TokenFault.otherIssuer),
      ([("iss", nil)], .otherIssuer), ([("iss", ["https://id.example.com"])], .otherIssuer),
      ([("aud", "other")], .otherAudience), ([("aud", nil)], .otherAudience),
      ([("aud", ["countersign", "other"])], .otherParty),
      ([("azp", "other")], .otherParty), ([("azp", 1)], .otherParty),
      ([("exp", nil)], .missingTimes), ([("iat", nil)], .missingTimes),
      ([("exp", "tomorrow")], .missingTimes),
      ([("exp", .number(JSON.Number(now - 60)))], .expired),
      ([("iat", .number(JSON.Number(now + 61)))], .future),
      ([("nbf", .number(JSON.Number(now + 61)))], .future),
      ([("nonce", "other")], .wrongNonce), ([("nonce", nil)], .wrongNonce),
      ([("at_hash", "77QmUPtjPfzWtF2AnpK9RR")], .wrongAccessToken),
      ([("at_hash", 1)], .wrongAccessToken),
      ([("sub", nil)], .missingSubject), ([("sub", "")], .missingSubject),
      ([("sub", "zwölf")], .missingSubject),
      ([("sub", .string(String(repeating: "a", count: 256)))], .missingSubject),
      ([("events", [:])], .otherType),
    ] as [([(String, JSON?)], TokenFault)])
  func `a token with a wrong claim is rejected`(
    _ changes: [(String, JSON?)], _ fault: TokenFault
  ) {
    #expect(throws: fault) { try Self.verify(changes) }
  }

  @Test func `a token within the tolerance is accepted`() throws {
    _ = try Self.verify([("exp", .number(JSON.Number(Self.now - 59)))])
    _ = try Self.verify([("iat", .number(JSON.Number(Self.now + 60)))])
    _ = try Self.verify([("aud", ["countersign", "other"]), ("azp", "countersign")])
    _ = try Self.verify([("at_hash", nil)], accessToken: nil)
  }

  @Test func `a fresh sign-in is verified only if it was asked for`() throws {
    _ = try Self.verify([("auth_time", nil)])
    _ = try Self.verify([], since: Self.now - 5)
    _ = try Self.verify([], since: Self.now + 55)
    #expect(throws: TokenFault.staleAuthentication) {
      try Self.verify([], since: Self.now + 56)
    }
    #expect(throws: TokenFault.missingAuthenticationTime) {
      try Self.verify([("auth_time", nil)], since: Self.now)
    }
    let later: [(String, JSON?)] = [("auth_time", .number(JSON.Number(Self.now + 61)))]
    #expect(throws: TokenFault.staleAuthentication) { try Self.verify(later, since: Self.now) }
  }

  @Test func `only a published key of the token's algorithm signs`() {
    #expect(throws: TokenFault.wrongSignature) { try Self.verify([], key: 1) }
    for header in [["alg": "none"], ["alg": "HS256"], ["alg": "ES256"], ["crit": ["exp"]]]
      as [JSON.Object]
    {
      #expect(throws: TokenFault.wrongSignature) { try Self.verify([], header: header) }
    }
  }

  @Test(arguments: [
    "", ".", "..", "a.b.c", "e30.e30.", "e30.e30", "e30.e30.e30.e30", "W10.e30.AA",
    String(repeating: "e30.", count: 5_000),
  ])
  func `text that isn't a token is rejected`(_ text: String) throws {
    let check = TokenCheck(
      issuer: "https://id.example.com", clientID: "countersign",
      keys: try KeySet(published: TestProvider.keySet([0])), now: Self.now)
    #expect(throws: TokenFault.self) {
      try IDToken(text, check, IDToken.Expectation(nonce: "n", accessToken: nil))
    }
  }

  @Test func `groups are bounded, and compared byte for byte`() {
    let many = ProviderGroups((0..<600).map { "group-\($0)" })
    #expect(many.names.count == ProviderGroups.most)
    let groups = ProviderGroups([
      "", "a", "a", String(repeating: "x", count: 257), "e\u{301}",
    ])
    #expect(groups.names.count == 2)
    #expect(groups.has("a") && !groups.has("\u{E9}") && !groups.has("A"))
    #expect(ProviderGroups(JSON.string("one")).names == ["one"])
    #expect(ProviderGroups(["a", 1, ["b"]] as JSON).names == ["a"])
  }
}
