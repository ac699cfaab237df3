public import JSON
public import Text

/// A claim that ID tokens have; every claim but the custom ones is one of them.
public enum TokenClaim: String, CaseIterable, Sendable {
  case issuer = "iss"
  /// The project.
  case audience = "aud"
  case authTime = "auth_time"
  case userID = "user_id"
  /// The UID.
  case subject = "sub"
  case issuedAt = "iat"
  case expiry = "exp"
  case email
  case emailVerified = "email_verified"
  case name
  case picture
  case phoneNumber = "phone_number"
  /// `anonymous` for anonymous users.
  case providerID = "provider_id"
  /// Whether the user has to enroll a second factor.
  case countersign
  /// The sign-in: identities, provider, second factor, and tenant.
  case firebase

  /// Whether a custom claim takes its place, as in production.
  public var isReplaceable: Bool {
    switch self {
    case .name, .picture: true
    case .issuer, .audience, .authTime, .userID, .subject, .issuedAt, .expiry, .email,
      .emailVerified, .phoneNumber, .providerID, .countersign, .firebase:
      false
    }
  }
}

public enum ReservedClaims {
  /// Names of OpenID Connect that tokens don't have; SDKs reject them, too.
  private static let unused: Set<UntrustedText> = [
    "acr", "amr", "at_hash", "azp", "c_hash", "cnf", "jti", "nbf", "nonce",
  ]

  /// The names: those of tokens that custom claims can't replace, and those that no token has.
  public static let all: Set<UntrustedText> = unused.union(
    TokenClaim.allCases.filter { !$0.isReplaceable }.map { UntrustedText($0.rawValue) })

  /// The maximum length of custom claims, in UTF-16 code units.
  public static let longest = 1_000

  public static func first(in claims: JSON.Object) -> String? {
    claims.names.first { all.contains($0) }?.text
  }
}
