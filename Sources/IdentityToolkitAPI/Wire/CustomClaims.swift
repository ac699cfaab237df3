import Identity
import JSON
import Text

/// Custom claims that an administrator sets for a user, `customAttributes` on the wire: a JSON
/// object as text, at most 1,000 characters.
enum CustomClaims {
  static func read(_ text: String) -> JSON.Object? {
    (try? JSON.parse(Array(text.utf8)))?.objectValue
  }

  /// Validates claims before they're stored; an empty text removes them.
  static func change(_ text: String) throws(WireError) -> Change<String> {
    guard !text.isEmpty else { return .clear }
    guard text.utf16.count <= ReservedClaims.longest else {
      throw WireError(AccountError.claimsTooLarge)
    }
    guard let value = try? JSON.parse(Array(text.utf8)) else {
      throw WireError("INVALID_CLAIMS : The text is not JSON.")
    }
    guard case .object(let claims) = value else {
      let given = String(decoding: value.serialized(), as: UTF8.self)
      throw WireError("INVALID_CLAIMS : Not a JSON Object: \(given)")
    }
    if let name = ReservedClaims.first(in: claims) {
      throw WireError(AccountError.forbiddenClaim(name))
    }
    return .set(text)
  }
}
