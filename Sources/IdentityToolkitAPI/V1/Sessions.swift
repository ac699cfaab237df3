import HTTP
import Identity
import JSON

extension Methods {
  static let createSessionCookie = Declaration(
    "createSessionCookie", "Creates a session cookie for a website from an ID token.",
    takes: [
      "idToken": .text.required,
      "validDuration": .int64.noted("In seconds, 300 to 1209600; defaults to 1209600."),
    ],
    gives: ["sessionCookie": .text.required])

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

  static let refresh = Declaration(
    "token", "Exchanges a refresh token for a new ID token.",
    takes: ["grantType": .word("refresh_token").required, "refreshToken": .text.required],
    orForm: ["grant_type": .word("refresh_token").required, "refresh_token": .text.required],
    gives: [
      "access_token": .text.required, "expires_in": .int64.required,
      "token_type": .word("Bearer").required, "refresh_token": .text.required,
      "id_token": .text.required, "user_id": .text.required, "project_id": .text.required,
    ])

  /// `token`: returns a new ID token for a refresh token, from a form (web) or JSON (iOS).
  func refresh(_ call: ClientCall) async throws -> JSON {
    guard let type = try call.message.given("grantType") else {
      throw WireError("MISSING_GRANT_TYPE")
    }
    guard type == "refresh_token" else { throw WireError("INVALID_GRANT_TYPE") }
    guard let token = try call.message.given("refreshToken") else {
      throw WireError("MISSING_REFRESH_TOKEN")
    }
    let grant = try await identity.sessions.refresh(
      token, project: call.project, tenant: call.tenant)
    let idToken = JSON.string(try tokens.make(for: grant))
    return [
      "access_token": idToken, "expires_in": Methods.expiresIn, "token_type": "Bearer",
      "refresh_token": .string(grant.refreshToken), "id_token": idToken,
      "user_id": .string(grant.account.id.text),
      "project_id": .string(String(grant.session.pool.projectNumber)),
    ]
  }
}
