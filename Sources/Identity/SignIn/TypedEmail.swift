import Crypto

/// An email typed by someone who isn't signed in: any text of any length.
///
/// Only a digest is stored, so that the size of a counter doesn't depend on the input and a
/// password typed into the wrong field isn't kept.
struct TypedEmail: Sendable {
  /// The email in the form that accounts are looked up by; empty if it's longer than any valid
  /// email.
  let folded: String
  /// A fixed-length name for counters.
  let digest: String

  /// Checks the length in bytes before folding the text.
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
