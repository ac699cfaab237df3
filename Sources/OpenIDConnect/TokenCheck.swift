import JSON
public import Text

/// The checks that all tokens of a provider have in common (OpenID Connect Core 1.0, section
/// 3.1.3.7).
public struct TokenCheck: Sendable {
  /// The issuer, exactly as in the token.
  public let issuer: String
  /// The ID of this client at the provider.
  public let clientID: String
  /// The provider's keys.
  public let keys: KeySet
  /// The current time, in seconds since 1970.
  public let now: Int64
  /// Whether a token for several audiences must name this client as its authorized party (`azp`).
  public var needsParty = true
  /// How far ahead of the current time a token's `nbf` may be, in seconds.
  public var notBeforeSkew = TokenCheck.clockSkew

  /// The tolerance for a provider's clock, in seconds ahead or behind.
  public static let clockSkew: Int64 = 60
  /// The maximum length of a subject, in ASCII characters (section 2).
  public static let longestSubject = 255

  /// Creates the checks.
  public init(issuer: String, clientID: String, keys: KeySet, now: Int64) {
    (self.issuer, self.clientID, self.keys, self.now) = (issuer, clientID, keys, now)
  }

  /// Parses a token and checks its signature.
  ///
  /// - Throws: ``TokenFault/malformed``, ``TokenFault/noKeys``, ``TokenFault/wrongSignature``.
  public func signed(_ text: String) throws(TokenFault) -> JSONWebToken {
    guard let token = JSONWebToken(text) else { throw .malformed }
    try checkSignature(token)
    return token
  }

  /// Checks the signature, whose algorithm is that of the key.
  ///
  /// - Throws: ``TokenFault/noKeys``, ``TokenFault/wrongSignature``.
  public func checkSignature(_ token: JSONWebToken) throws(TokenFault) {
    guard keys.count > 0 else { throw .noKeys }
    guard keys.haveSigned(token) else { throw .wrongSignature }
  }

  /// Checks the issuer and that the token is for this client.
  ///
  /// - Throws: ``TokenFault/otherIssuer``, ``TokenFault/otherAudience``, ``TokenFault/otherParty``.
  public func checkParties(_ token: JSONWebToken) throws(TokenFault) {
    guard token.isText("iss", issuer) else { throw .otherIssuer }
    let audiences = token.texts("aud")
    guard audiences.contains(UntrustedText(clientID)) else { throw .otherAudience }
    // If a token has several audiences, its authorized party must be this client.
    guard let party = token.payload["azp"] else {
      guard audiences.count == 1 || !needsParty else { throw .otherParty }
      return
    }
    guard party.textValue == UntrustedText(clientID) else { throw .otherParty }
  }

  /// Checks the time of issue and the expiry.
  ///
  /// - Throws: ``TokenFault/missingTimes``, ``TokenFault/expired``, ``TokenFault/future``.
  public func checkTimes(_ token: JSONWebToken) throws(TokenFault) {
    guard let expires = token.seconds("exp"), let issued = token.seconds("iat") else {
      throw .missingTimes
    }
    guard expires > now - Self.clockSkew else { throw .expired }
    guard issued <= now + Self.clockSkew, (token.seconds("nbf") ?? now) <= now + notBeforeSkew
    else {
      throw .future
    }
  }

  /// Returns the subject, if it has the length and the characters of one.
  static func subject(_ token: JSONWebToken) -> String? {
    guard let subject = token.payload["sub"]?.textValue?.text(atMost: longestSubject),
      !subject.isEmpty, subject.utf8.allSatisfy({ (32...126).contains($0) })
    else { return nil }
    return subject
  }
}

extension JSONWebToken {
  /// Returns whether a claim is this text, byte for byte.
  func isText(_ name: String, _ expected: String) -> Bool {
    payload[name]?.textValue == UntrustedText(expected)
  }

  /// Returns the texts of a claim that is one text or a list of them.
  public func texts(_ name: String) -> [UntrustedText] {
    guard let claim = payload[name] else { return [] }
    return claim.textValue.map { [$0] } ?? claim.arrayValue?.compactMap(\.textValue) ?? []
  }
}

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
