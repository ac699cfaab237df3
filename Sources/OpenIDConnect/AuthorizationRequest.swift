public import Crypto
import Text

/// A request for a sign-in at a provider, with PKCE (RFC 7636).
///
/// State, nonce, and code verifier are derived from one secret, which only this server knows.
public struct AuthorizationRequest: Sendable {
  /// The value by which the answer is matched with the browser.
  public let state: String
  /// The value by which the ID token is matched with the request.
  public let nonce: String
  /// The secret that the token endpoint compares with the challenge.
  public let verifier: Secret

  /// The length of the secret, in bytes.
  public static let secretLength = 32

  /// Derives a request from its secret.
  ///
  /// - Throws: `CryptoError` if libcrypto fails.
  public init(_ secret: Secret) throws(CryptoError) {
    func part(_ purpose: String) throws(CryptoError) -> String {
      Base64URL.encode(
        try HMAC.code(.sha256, key: secret, message: Array("openid \(purpose)".utf8)))
    }
    state = try part("state")
    nonce = try part("nonce")
    verifier = Secret(try part("verifier"))
  }

  /// The challenge of the verifier, by the method S256 (RFC 7636 section 4.2).
  public var challenge: String {
    Base64URL.encode(HashFunction.sha256.digest(verifier.revealedBytes))
  }

  /// Returns the address at which the person signs in.
  ///
  /// - Parameters:
  ///   - endpoint: The authorization endpoint, which may have a query.
  ///   - clientID: The ID of this client.
  ///   - redirect: Where the provider sends the answer.
  ///   - scopes: The scopes, separated by spaces.
  ///   - isFresh: Whether the person has to sign in again.
  /// - Returns: The URL.
  public func address(
    at endpoint: String, clientID: String, redirect: String, scopes: String, isFresh: Bool
  ) -> String {
    var fields = [
      ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirect),
      ("scope", scopes), ("state", state), ("nonce", nonce), ("code_challenge", challenge),
      ("code_challenge_method", "S256"),
    ]
    if isFresh { fields += [("max_age", "0"), ("prompt", "login")] }
    return endpoint + (endpoint.contains("?") ? "&" : "?") + FormText.encode(fields)
  }
}

/// Text in `application/x-www-form-urlencoded`.
public enum FormText {
  /// Returns the fields in their order.
  public static func encode(_ fields: [(name: String, value: String)]) -> String {
    fields.map { "\(URIComponent.encode($0.name))=\(URIComponent.encode($0.value))" }
      .joined(separator: "&")
  }
}
