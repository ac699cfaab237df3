import JSON
import Text

/// What a provider publishes about itself (OpenID Connect Discovery 1.0, section 3).
public struct Discovery: Sendable, Equatable {
  /// The issuer.
  public let issuer: String
  /// Where people sign in.
  public let authorizationEndpoint: String
  /// Where codes are exchanged for tokens.
  public let tokenEndpoint: String
  /// Where the provider tells more about a person; nil if it doesn't.
  public let userInfoEndpoint: String?
  /// Where the keys are.
  public let keysAddress: String
  /// Whether the token endpoint accepts the secret in the `Authorization` field.
  public let acceptsBasic: Bool
  /// Whether answers of the authorization endpoint name the issuer (RFC 9207).
  public let namesIssuer: Bool

  /// What is wrong with the document.
  public enum Fault: Error, Sendable, Equatable {
    /// It isn't a JSON object.
    case unreadable
    /// The issuer isn't the expected one.
    case otherIssuer
    /// A required address is missing or too long.
    case missing(String)
    /// The provider doesn't support the authorization code flow.
    case noCodeFlow
    /// The provider doesn't support PKCE with SHA-256.
    case noPKCE
    /// The provider signs ID tokens with none of the supported algorithms.
    case noAlgorithm
  }

  /// The maximum length of the document, in bytes.
  public static let longest = 262_144
  private static let longestAddress = 2_048

  /// The address of the document of an issuer (section 4).
  public static func address(of issuer: String) -> String {
    let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    return base + "/.well-known/openid-configuration"
  }

  /// Reads a document and checks that the provider supports what a sign-in needs.
  ///
  /// Lists that aren't in the document aren't checked, because providers may omit them.
  ///
  /// - Throws: ``Fault``.
  public init(_ bytes: [UInt8], of expected: String) throws(Fault) {
    guard bytes.count <= Self.longest, let document = (try? JSON.parse(bytes))?.objectValue else {
      throw .unreadable
    }
    guard document["issuer"]?.textValue == UntrustedText(expected) else { throw .otherIssuer }
    func optional(_ name: String) -> String? {
      guard let text = document[name]?.textValue?.text(atMost: Self.longestAddress),
        text.utf8.allSatisfy({ (33...126).contains($0) }), !text.isEmpty
      else { return nil }
      return text
    }
    func address(_ name: String) throws(Fault) -> String {
      guard let text = optional(name) else { throw .missing(name) }
      return text
    }
    /// Returns whether a list has one of the values, or isn't there.
    func lists(_ name: String, _ values: UntrustedText...) -> Bool {
      guard let list = document[name]?.arrayValue else { return true }
      return list.contains { $0.textValue.map(values.contains) ?? false }
    }
    issuer = expected
    authorizationEndpoint = try address("authorization_endpoint")
    tokenEndpoint = try address("token_endpoint")
    keysAddress = try address("jwks_uri")
    userInfoEndpoint = optional("userinfo_endpoint")
    guard lists("response_types_supported", "code") else { throw .noCodeFlow }
    guard lists("code_challenge_methods_supported", "S256") else { throw .noPKCE }
    guard lists("id_token_signing_alg_values_supported", "RS256", "ES256") else {
      throw .noAlgorithm
    }
    acceptsBasic = lists("token_endpoint_auth_methods_supported", "client_secret_basic")
    namesIssuer =
      document["authorization_response_iss_parameter_supported"]?.boolValue ?? false
  }
}
