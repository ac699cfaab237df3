import JSON
import OpenIDConnect
import TestProvider
import Testing

/// Every claim of a logout token wrong once.
struct LogoutTokenTests {
  private static let now = IDTokenTests.now
  private static let event = "http://schemas.openid.net/event/backchannel-logout"

  private static func verify(
    _ changes: [(String, JSON?)], header: JSON.Object = ["typ": "logout+jwt"]
  ) throws -> LogoutToken {
    var claims: [(String, JSON)] = [
      ("iss", "https://id.example.com"), ("aud", "countersign"), ("sub", "1"), ("sid", "s"),
      ("iat", .number(JSON.Number(now))), ("exp", .number(JSON.Number(now + 60))), ("jti", "j"),
      ("events", .object([event: [:]])),
    ]
    for (name, value) in changes {
      claims.removeAll { $0.0 == name }
      if let value { claims.append((name, value)) }
    }
    return try LogoutToken(
      try TestProvider.token(JSON.Object(claims), header: header),
      TokenCheck(
        issuer: "https://id.example.com", clientID: "countersign",
        keys: try KeySet(published: TestProvider.keySet([0])), now: now))
  }

  @Test func `a token names a person, a session, or both`() throws {
    let both = try Self.verify([])
    #expect(both.subject == "1" && both.sessionID == "s" && both.id == "j")
    #expect(both.issuedAt == Self.now)
    #expect(try Self.verify([("sub", nil)]).subject == nil)
    #expect(try Self.verify([("sid", nil), ("exp", nil)], header: JSON.Object()).sessionID == nil)
    _ = try Self.verify([], header: ["typ": "JWT"])
  }

  @Test(
    arguments: [
      ([("iss", "https://other.example.com")], TokenFault.otherIssuer),
      ([("aud", "other")], .otherAudience), ([("iat", nil)], .missingTimes),
      ([("exp", "x")], .missingTimes),
      ([("exp", .number(JSON.Number(now - 60)))], .expired),
      ([("iat", .number(JSON.Number(now - 601)))], .expired),
      ([("iat", .number(JSON.Number(now + 61)))], .future),
      ([("jti", nil)], .missingID), ([("jti", "")], .missingID),
      ([("events", nil)], .missingEvent), ([("events", .object([event: "x"]))], .missingEvent),
      ([("events", .object(["other": [:]]))], .missingEvent),
      ([("nonce", "n")], .unexpectedNonce),
      ([("sub", nil), ("sid", nil)], .missingSubject),
    ] as [([(String, JSON?)], TokenFault)])
  func `a token with a wrong claim is rejected`(
    _ changes: [(String, JSON?)], _ fault: TokenFault
  ) {
    #expect(throws: fault) { try Self.verify(changes) }
  }

  @Test func `a token of another type is rejected`() {
    #expect(throws: TokenFault.otherType) { try Self.verify([], header: ["typ": "at+jwt"]) }
  }
}
