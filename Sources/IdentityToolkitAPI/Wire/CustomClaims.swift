import Identity
import JSON

/// Claims that an administrator gives a user, `customAttributes` on the wire: a JSON object as
/// text, at most 1000 characters.
enum CustomClaims {
  static func read(_ text: String) -> JSON.Object? {
    (try? JSON.parse(Array(text.utf8)))?.objectValue
  }

  /// Checks claims before they are stored; an empty text takes them away.
  static func change(_ text: String) throws(WireError) -> Change<String> {
    guard !text.isEmpty else { return .clear }
    guard text.utf16.count <= ReservedClaims.longest else {
      throw WireError(AccountError.claimsTooLarge)
    }
    guard let claims = read(text) else { throw WireError(AccountError.invalidClaims) }
    for name in claims.names where ReservedClaims.forbidden.contains(name) {
      throw WireError(AccountError.forbiddenClaim(name.text))
    }
    return .set(text)
  }
}
