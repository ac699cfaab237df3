import Identity
import JSON

extension Declaration {
  static let createSessionCookie = Declaration(
    "createSessionCookie", "Creates a session cookie for a website from an ID token.",
    takes: [
      "idToken": .text.required,
      "validDuration": .int64.noted("In seconds, 300 to 1209600; defaults to 1209600."),
    ],
    gives: ["sessionCookie": .text.required])
}

extension Methods {
  /// The valid lifetimes of a session cookie, in seconds: five minutes to two weeks.
  private static let cookieLifetimes: ClosedRange<Int64> = 300...SigningKeys.longestSigned

  private static let cookieIssuer = "https://session.firebase.google.com/"

  /// `createSessionCookie`: returns a token for a website's own cookie, with the claims of the ID
  /// token.
  ///
  /// Only the website uses it; this server never accepts it in place of an ID token.
  func createSessionCookie(_ call: AdminCall) async throws -> JSON {
    guard let token = try call.message.given("idToken") else {
      throw WireError("MISSING_ID_TOKEN")
    }
    // Zero is too short, as in production; only an absent duration is the default.
    let lifetime =
      try call.message.int64("validDuration") ?? Self.cookieLifetimes.upperBound
    guard Self.cookieLifetimes.contains(lifetime) else { throw WireError("INVALID_DURATION") }
    let session = try await tokens.session(token, in: call.pool)
    _ = try await identity.sessions.checkContinuing(session)
    guard var payload = IDTokens.payload(of: token) else { throw WireError.invalidIDToken }
    let now = identity.clock.now().seconds
    payload["iss"] = .string(Self.cookieIssuer + call.pool.project.text)
    payload["auth_time"] = .number(JSON.Number(min(session.authTime, now)))
    payload["iat"] = .number(JSON.Number(now))
    payload["exp"] = .number(JSON.Number(now + lifetime))
    let cookie = try tokens.signed(JSON.object(payload).serialized(), isCookie: true)
    return ["sessionCookie": .string(cookie)]
  }
}
