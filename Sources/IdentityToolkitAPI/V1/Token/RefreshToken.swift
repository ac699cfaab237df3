import HTTP
import Identity
import JSON

extension Declaration {
  static let refresh = Declaration(
    "token", "Exchanges a refresh token for a new ID token.",
    takes: ["grantType": .word("refresh_token").required, "refreshToken": .text.required],
    orForm: ["grant_type": .word("refresh_token").required, "refresh_token": .text.required],
    gives: [
      "access_token": .text.required, "expires_in": .int64.required,
      "token_type": .word("Bearer").required, "refresh_token": .text.required,
      "id_token": .text.required, "user_id": .text.required, "project_id": .text.required,
    ])
}

extension Methods {
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
