import HTTP
import Identity
import JSON

extension Methods {
  static let revokeToken = Declaration(
    "accounts.revokeToken", "Revokes an Apple token in production; not implemented here.",
    takes: [
      "providerId": .text.required, "tokenType": .choice(Methods.tokenType).required,
      "token": .text.required, "idToken": .text.required, "redirectUri": .text,
    ],
    gives: [:], failing: [501])

  static let tokenType = EnumType(
    name: "google.cloud.identitytoolkit.v2.RevokeTokenRequest.TokenType",
    values: ["TOKEN_TYPE_UNSPECIFIED", "REFRESH_TOKEN", "ACCESS_TOKEN", "CODE"])

  /// `accounts:revokeToken`: revokes a Sign in with Apple token at Apple.
  ///
  /// It isn't supported, because the server has no client secret of Apple's and calls no other
  /// servers. An empty response would make an application, and Apple's reviewers, believe that the
  /// token was revoked.
  func revokeToken(_ call: ClientCall) async throws -> JSON {
    let message = call.message
    let session = try await tokens.session(call, missing: .invalidIDToken)
    _ = try await check(session)
    guard try message.text("providerId") == "apple.com" else {
      throw WireError("INVALID_PROVIDER_ID : Only tokens of apple.com can be revoked.")
    }
    guard let type = try message.enumeration("tokenType", Self.tokenType), type != 0 else {
      throw WireError("INVALID_ARGUMENT : token_type is required.")
    }
    guard try message.given("token") != nil else {
      throw WireError("INVALID_ARGUMENT : token is required.")
    }
    throw WireError(
      "NOT_IMPLEMENTED : Countersign doesn't call apple.com. Revoke the token from your backend "
        + "with POST https://appleid.apple.com/auth/revoke.",
      status: .notImplemented, reason: "notImplemented")
  }
}
