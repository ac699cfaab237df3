import Identity
import JSON

extension Declaration {
  static let signInWithCustomToken = Declaration(
    "accounts.signInWithCustomToken",
    "Signs in with a custom token from the project's backend.",
    takes: ["token": .text.required, "returnSecureToken": .flag],
    gives: .message(
      ["kind": .kind("VerifyCustomTokenResponse"), "isNewUser": .flag.required], .tokens))
}

extension Methods {
  /// `accounts:signInWithCustomToken`: returns tokens; a second factor is never required.
  func signInWithCustomToken(_ call: ClientCall) async throws -> JSON {
    // An empty token is an invalid one, as in production.
    guard let token = try call.message.text("token") else {
      throw WireError("MISSING_CUSTOM_TOKEN")
    }
    let pool = try await pool(of: call)
    let result = try await identity.customTokens.signIn(pool, token: token, by: call.visitor)
    // The response contains no uid and no email, because clients read both from the token.
    var answer: JSON.Object = [
      "kind": "identitytoolkit#VerifyCustomTokenResponse", "isNewUser": .bool(result.isNewUser),
    ]
    try appendTokens(result.grant, to: &answer)
    return .object(answer)
  }
}
