import Database
import Foundation
import Text

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

enum FormerAddresses {
  static func remember(
    from old: Account, to new: Account, _ connection: borrowing Connection
  ) throws {
    let kept = new.onFile.map(Mailbox.folded)
    var isNew = false
    for address in old.onFile.map(Mailbox.folded)
    where !kept.contains(where: { $0.isSameBytes(as: address) }) {
      try connection.run(
        """
        INSERT INTO former_address (account_key, address) VALUES (\(old.key), \(address))
        ON CONFLICT DO NOTHING
        """)
      isNew = true
    }
    guard isNew, !new.hasFormerAddresses else { return }
    try connection.run(
      "UPDATE account SET has_former_addresses = 1 WHERE account_key = \(old.key)")
  }

  static func all(of account: Int64, _ connection: borrowing Connection) throws -> [String] {
    try connection.all("SELECT address FROM former_address WHERE account_key = \(account)") {
      try $0.next()
    }
  }
}
