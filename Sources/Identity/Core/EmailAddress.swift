import Crypto
import Foundation
import Network
import Text

/// The rules of email addresses; ``Accounts`` adds those of the other fields of an account.
package enum AccountRules {
  /// The maximum length of an email address, in bytes: 64 before the at sign, 255 after it (RFC
  /// 5321, section 4.5.3.1).
  static let longestEmail = 320

  /// Returns the form in which addresses are stored and compared: lowercase, the domain as A-labels,
  /// and the part before it in normalization form C, so that two spellings of a mailbox are one.
  package static func folded(email: String) -> String {
    guard !email.utf8.allSatisfy({ $0 < 128 }) else { return email.lowercased() }
    let (local, domain) = parts(of: email)
    let composed = local.lowercased().precomposedStringWithCanonicalMapping
    guard let domain else { return composed }
    let name = domain.lowercased()
    return "\(composed)@\(HostName.encoded(name) ?? name.precomposedStringWithCanonicalMapping)"
  }

  static func isSame(email: String, _ other: String) -> Bool {
    folded(email: email).isSameBytes(as: folded(email: other))
  }

  /// Returns an address in folded form with its domain as people read it.
  static func readable(email: String) -> String {
    guard case (let local, let domain?) = parts(of: email) else { return email }
    return "\(local)@\(HostName.decoded(domain))"
  }

  private static func parts(of email: String) -> (local: String, domain: String?) {
    guard let at = email.utf8.lastIndex(of: UInt8(ascii: "@")) else { return (email, nil) }
    return (String(email[..<at]), String(email[email.utf8.index(after: at)...]))
  }

  /// Returns true if an address is folded by more than its case: to other ASCII characters, such as
  /// one with the Kelvin sign, which becomes the letter k, or from another normalization form.
  ///
  /// Mail to the one address doesn't necessarily reach the owner of the other.
  static func foldsBeyondCase(email: String) -> Bool {
    func letters(_ text: String) -> Int { text.utf8.count { $0 < 128 } }
    let (local, domain) = parts(of: email)
    let lower = local.lowercased()
    guard letters(lower) == letters(local),
      lower.precomposedStringWithCanonicalMapping.isSameBytes(as: lower)
    else { return true }
    return (domain ?? "").unicodeScalars.contains { scalar in
      let plain = String(scalar).precomposedStringWithCompatibilityMapping.lowercased()
      // The ideographic full stop also separates labels.
      return !scalar.isASCII && (letters(plain) > 0 || plain == "\u{3002}")
    }
  }
}

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

/// Normalizes email addresses so that different spellings of one mailbox compare equal.
enum Mailbox {
  /// Returns an address without differences that mail systems ignore: the case, normalization, and
  /// domain's form of `AccountRules`, and also character width, trailing dots, and invisible
  /// characters.
  ///
  /// SQLite folds only ASCII, so the folding happens here, and lookups use the stored folded form.
  static func folded(_ address: String) -> String {
    var bytes =
      lowercasedASCII(address)
      ?? Array(
        AccountRules.folded(
          email: visible(address.precomposedStringWithCompatibilityMapping.lowercased())
        ).utf8)
    while let last = bytes.last, isIgnoredAtEnd(last) { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns whether the folded forms of two addresses are the same; it needn't create those of
  /// ASCII addresses.
  static func isSame(_ one: String, _ other: String) -> Bool {
    guard let count = foldedCount(ofASCII: one), let otherCount = foldedCount(ofASCII: other) else {
      return folded(one).isSameBytes(as: folded(other))
    }
    guard count == otherCount else { return false }
    let (one, other) = (one.utf8Span.span, other.utf8Span.span)
    for index in 0..<count where lowercased(one[index]) != lowercased(other[index]) {
      return false
    }
    return true
  }

  /// The length of an address's folded form in bytes; nil if it isn't all ASCII.
  private static func foldedCount(ofASCII address: String) -> Int? {
    let bytes = address.utf8Span.span
    for index in bytes.indices where bytes[index] >= 0x80 { return nil }
    var count = bytes.count
    while count > 0, isIgnoredAtEnd(bytes[count - 1]) { count -= 1 }
    return count
  }

  private static func isIgnoredAtEnd(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: " ")
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    0x41...0x5A ~= byte ? byte | 0x20 : byte
  }

  private static func lowercasedASCII(_ address: String) -> [UInt8]? {
    let view = address.utf8Span
    let source = view.span
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count)
    for index in source.indices {
      let byte = source[index]
      guard byte < 0x80 else { return nil }
      bytes.append(lowercased(byte))
    }
    return bytes
  }

  private static func visible(_ text: String) -> String {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    var seen = String.UnicodeScalarView()
    for scalar in text.precomposedStringWithCompatibilityMapping.unicodeScalars
    where !scalar.properties.isDefaultIgnorableCodePoint {
      // The ideographic full stop also separates domain labels.
      seen.append(scalar == "\u{3002}" ? "." : scalar)
    }
    return String(seen)
  }
}
