import JSON
import Text

/// A verified logout token (OpenID Connect Back-Channel Logout 1.0, section 2.4).
public struct LogoutToken: Sendable {
  /// The person whose sessions end; nil if only a session is named.
  public let subject: String?
  /// The provider's session; nil for all of the person's sessions.
  public let sessionID: String?
  /// The token's ID, by which its replay is detected.
  public let id: String
  /// When it was issued, in seconds since 1970.
  public let issuedAt: Int64

  /// The maximum age of a token, in seconds.
  public static let longestAge: Int64 = 600
  private static let longestID = 255
  private static let event = "http://schemas.openid.net/event/backchannel-logout"
  /// The type is recommended, but not required; the event tells these tokens from others.
  private static let types: Set<UntrustedText> = ["logout+jwt", "application/logout+jwt", "JWT"]

  /// Verifies a token.
  ///
  /// - Throws: ``TokenFault``.
  public init(_ text: String, _ check: TokenCheck) throws(TokenFault) {
    let token = try check.signed(text)
    if let type = token.header["typ"] {
      guard let text = type.textValue, Self.types.contains(text) else { throw .otherType }
    }
    try check.checkParties(token)
    guard let issued = token.seconds("iat") else { throw .missingTimes }
    guard issued <= check.now + TokenCheck.clockSkew else { throw .future }
    guard issued >= check.now - Self.longestAge else { throw .expired }
    if token.payload["exp"] != nil {
      guard let expires = token.seconds("exp") else { throw .missingTimes }
      guard expires > check.now - TokenCheck.clockSkew else { throw .expired }
    }
    guard token.payload["events"]?[Self.event]?.objectValue != nil else { throw .missingEvent }
    guard token.payload["nonce"] == nil else { throw .unexpectedNonce }
    guard let id = token.payload["jti"]?.textValue?.text(atMost: Self.longestID), !id.isEmpty else {
      throw .missingID
    }
    subject = TokenCheck.subject(token)
    sessionID = token.payload["sid"]?.textValue?.text(atMost: IDToken.longestSessionID)
    guard subject != nil || sessionID?.isEmpty == false else { throw .missingSubject }
    (self.id, issuedAt) = (id, issued)
  }
}
