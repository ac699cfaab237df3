import JSON
import Text

/// What an OpenID Connect provider says about a user beyond the account's own fields.
///
/// The ID tokens of the session have it as `firebase.sign_in_attributes`, as in production. A session
/// stores it with its claims, under the name `firebase`, which no custom claim can have.
enum SignInAttributes {
  /// The maximum length of the stored text, in bytes; longer attributes are left out.
  static let longest = 4_096

  /// The claims of ID tokens (OpenID Connect Core 1.0, sections 2 and 3.1.3.6; RFC 7519, section 4.1),
  /// and those that become fields of the account.
  private static let others: Set<UntrustedText> = [
    "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "auth_time", "nonce", "acr", "amr", "azp",
    "at_hash", "c_hash", "s_hash", "sid", "email", "email_verified", "name", "picture",
  ]

  /// Returns the claims of a session that begins with an ID token of a provider, as JSON text; nil if
  /// there are none.
  static func sessionClaims(of token: JSON.Object, from provider: String) -> String? {
    guard IdentityProviders.kind(of: provider) == .oidc else { return nil }
    let attributes = JSON.Object(token.members.filter { !others.contains($0.name) })
    guard !attributes.isEmpty else { return nil }
    let claims: JSON = ["firebase": ["sign_in_attributes": .object(attributes)]]
    let text = claims.serialized()
    return text.count <= longest ? String(decoding: text, as: UTF8.self) : nil
  }
}
