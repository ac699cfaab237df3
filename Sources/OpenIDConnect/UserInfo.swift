import JSON
import Text

/// What a provider's userinfo endpoint tells about a person (OpenID Connect Core 1.0, section 5.3.2).
public struct UserInfo: Sendable {
  /// The person's name and address.
  public let person: ProviderPerson
  private let claims: JSON.Object

  /// Reads an answer; nil unless it's a JSON object about the subject of the ID token.
  public init?(_ bytes: [UInt8], subject: String) {
    guard let claims = (try? JSON.parse(bytes))?.objectValue,
      claims["sub"]?.textValue == UntrustedText(subject)
    else { return nil }
    self.claims = claims
    person = ProviderPerson(claims)
  }

  /// Returns the groups in a claim; nil if the answer doesn't have it.
  public func groups(in claim: String) -> ProviderGroups? {
    claims[claim].map { ProviderGroups($0) }
  }
}
