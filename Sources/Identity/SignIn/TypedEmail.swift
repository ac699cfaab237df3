import Crypto

/// An email address as somebody typed it who isn't signed in: any text of any length.
///
/// What is stored of it is a digest, so that the size of a counter doesn't depend on who types, and a
/// password typed into the wrong field isn't kept.
struct TypedEmail: Sendable {
  /// The address as accounts are looked up by it; empty when it's longer than any address.
  let folded: String
  /// A name of fixed length for counting.
  let digest: String

  /// Measures the bytes of a text first, then folds it.
  init(_ text: String) {
    let bytes = text.utf8
    guard bytes.count <= AccountRules.longestEmail else {
      folded = ""
      digest = Self.digest(bytes.prefix(AccountRules.longestEmail))
      return
    }
    folded = AccountRules.folded(email: text)
    digest = Self.digest(folded.utf8.prefix(.max))
  }

  private static func digest(_ bytes: some Sequence<UInt8>) -> String {
    Base64URL.encode(HashFunction.sha256.digest(Array(bytes)))
  }
}
