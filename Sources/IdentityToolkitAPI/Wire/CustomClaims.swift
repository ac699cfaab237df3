import Identity
import JSON

/// Claims that an administrator gives a user, `customAttributes` on the wire: a JSON object as
/// text, at most 1000 characters.
enum CustomClaims {
  /// Names that tokens use themselves: some are refused, all of them stay as they are.
  static let reserved: Set<String> = forbidden.union([
    "email", "email_verified", "name", "phone_number", "picture", "provider_id",
  ])

  /// Names that are refused, as the SDKs refuse them.
  private static let forbidden: Set<String> = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase", "iat",
    "iss", "jti", "nbf", "nonce", "sub", "user_id",
  ]

  static func read(_ text: String) -> JSON.Object? {
    (try? JSON.parse(Array(text.utf8)))?.objectValue
  }

  /// Checks claims before they are stored; an empty text takes them away.
  static func change(_ text: String) throws(WireError) -> Change<String> {
    guard !text.isEmpty else { return .clear }
    guard text.count <= 1000 else { throw WireError(AccountError.claimsTooLarge) }
    guard let claims = read(text) else { throw WireError(AccountError.invalidClaims) }
    for name in claims.names where forbidden.contains(name) {
      throw WireError(AccountError.forbiddenClaim(name))
    }
    return .set(text)
  }
}
