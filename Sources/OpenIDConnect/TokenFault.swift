/// The reason that a token of a provider is rejected.
public enum TokenFault: String, Error, Sendable, CaseIterable {
  /// Not a JSON Web Token.
  case malformed
  /// The provider has no usable keys.
  case noKeys = "no-keys"
  /// The signature isn't that of one of the provider's keys, or has another algorithm.
  case wrongSignature = "wrong-signature"
  /// The token is of another type.
  case otherType = "other-type"
  /// The token is of another issuer.
  case otherIssuer = "other-issuer"
  /// The token is for another client.
  case otherAudience = "other-audience"
  /// The token's authorized party is another client.
  case otherParty = "other-party"
  /// The token has no time of issue or expiry.
  case missingTimes = "missing-times"
  /// The token has expired, or was issued too long ago.
  case expired
  /// The token is from the future.
  case future
  /// The token has no subject that can be stored.
  case missingSubject = "missing-subject"
  /// The nonce isn't that of the request.
  case wrongNonce = "wrong-nonce"
  /// The digest isn't that of the access token.
  case wrongAccessToken = "wrong-access-token"
  /// The token doesn't say when the person signed in.
  case missingAuthenticationTime = "missing-authentication-time"
  /// The person signed in before they were asked to.
  case staleAuthentication = "stale-authentication"
}
