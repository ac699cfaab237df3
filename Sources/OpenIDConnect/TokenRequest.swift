public import Crypto
import JSON
import Text

/// A request to a token endpoint that exchanges a code (OpenID Connect Core 1.0, section 3.1.3.1).
public struct TokenRequest: Sendable {
  /// The value of the `Authorization` field; nil for a client without a secret, or one whose
  /// provider wants the secret in the body.
  public let authorization: Secret?
  /// The body, as a form.
  public let body: Secret

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - redirect: The redirect URI of the request for the code.
  ///   - verifier: The code verifier.
  ///   - clientID: The ID of this client.
  ///   - secret: The secret of this client; nil for none.
  ///   - usesBasic: Whether the secret goes to the `Authorization` field.
  public init(
    code: String, redirect: String, verifier: Secret, clientID: String, secret: Secret?,
    usesBasic: Bool
  ) {
    var fields = [
      ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
      ("code_verifier", verifier.revealedText),
    ]
    if let secret, usesBasic {
      // Both are encoded as in a form first (RFC 6749 section 2.3.1).
      let pair =
        URIComponent.encode(clientID) + ":" + URIComponent.encode(secret.revealedText)
      authorization = Secret("Basic " + Base64URL.encodeStandard(Array(pair.utf8)))
    } else {
      authorization = nil
      fields.append(("client_id", clientID))
      if let secret { fields.append(("client_secret", secret.revealedText)) }
    }
    body = Secret(FormText.encode(fields))
  }
}

/// The answer of a token endpoint (OpenID Connect Core 1.0, section 3.1.3.3).
public struct TokenResponse: Sendable {
  /// The ID token, unverified.
  public let idToken: String
  /// The access token; nil if there's none that can be sent back.
  public let accessToken: Secret?

  private static let longestToken = 16_384

  /// Reads an answer; nil unless it's a JSON object with an ID token.
  public init?(_ bytes: [UInt8]) {
    guard let object = (try? JSON.parse(bytes))?.objectValue,
      let token = object["id_token"]?.textValue?.text(atMost: Self.longestToken)
    else { return nil }
    idToken = token
    let access = object["access_token"]?.textValue?.text(atMost: Self.longestToken)
    accessToken = access.flatMap { text in
      text.utf8.allSatisfy { (33...126).contains($0) } ? Secret(text) : nil
    }
  }
}

/// The code of an error that a provider answers with (RFC 6749 sections 4.1.2.1 and 5.2).
public struct ProviderErrorCode: Sendable, Equatable {
  /// The code, such as `access_denied`.
  public let text: String

  private static let longest = 64

  /// Reads a code; one with other characters than lowercase letters, digits, and underscores becomes
  /// `unknown`.
  public init(_ text: String) {
    let isCode =
      (1...Self.longest).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
    self.text = isCode ? text : "unknown"
  }

  /// Reads the code in the JSON object of an error response; nil if there's none.
  public init?(response bytes: [UInt8]) {
    guard let text = (try? JSON.parse(bytes))?["error"]?.textValue?.text(atMost: 256) else {
      return nil
    }
    self.init(text)
  }
}
