import Crypto
import Database
import Foundation
import Network
import Text

package enum AccountRules {
  /// The minimum password length, in UTF-16 code units.
  static let shortestPassword = 6
  /// The maximum password length, in UTF-16 code units; longer passwords are rejected, not
  /// truncated.
  static let longestPassword = 4_096
  /// The maximum length of an email address, in bytes: 64 before the at sign, 255 after it (RFC
  /// 5321, section 4.5.3.1).
  static let longestEmail = 320

  package static let uidAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  package static let uidLength = 28

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

  static func checkEmail(_ email: String) throws(AccountError) {
    guard email.utf8.count <= longestEmail else { throw .invalidEmail }
    let parts = email.utf8.split(
      separator: UInt8(ascii: "@"), omittingEmptySubsequences: false
    ).map { String(Substring($0)) }
    guard
      parts.count == 2, !parts[0].isEmpty,
      parts.allSatisfy({ $0.unicodeScalars.allSatisfy(\.isInEmailAddresses) }),
      let domain = HostName.encoded(parts[1]),
      domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .allSatisfy({ !$0.isEmpty })
    else { throw .invalidEmail }
  }

  static func checkPassword(_ password: Secret) throws(AccountError) {
    let length = password.revealedText.utf16.count
    guard length <= longestPassword else { throw .passwordTooLong }
    guard length >= shortestPassword else { throw .weakPassword }
  }

  /// Checks for E.164: a plus sign, then 7 to 15 digits, the first of which isn't 0.
  static func checkPhone(_ phone: String) throws(AccountError) {
    guard phone.utf8.count <= 16 else { throw .invalidPhone }
    let bytes = Array(phone.utf8)
    let digits = bytes.dropFirst()
    guard
      bytes.first == UInt8(ascii: "+"), (7...15).contains(digits.count),
      digits.first != UInt8(ascii: "0"),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { throw .invalidPhone }
  }

  static func checkName(_ name: String) throws(AccountError) {
    guard name.utf16.count <= Account.longestName else { throw .nameTooLong }
  }

  /// Checks the length in UTF-16 code units, as SDKs do: claims are included in every ID token, and
  /// a character can consist of any number of scalars.
  static func checkClaims(_ claims: String) throws(AccountError) {
    guard claims.utf8.count <= 3 * ReservedClaims.longest,
      claims.utf16.count <= ReservedClaims.longest
    else { throw .claimsTooLarge }
  }

  /// Checks the length of a photo URL, which is included in every ID token; the limit is that of
  /// provider fields.
  static func checkPhoto(_ address: String) throws(AccountError) {
    guard address.utf8.count <= ProviderLink.longestField else { throw .photoTooLong }
  }

  static func checkUID(
    _ uid: String, longest: Int = Account.longestID
  ) throws(AccountError) {
    guard
      (1...longest).contains(uid.utf8.count),
      !uid.unicodeScalars.contains(where: { $0.value < 32 || (127...159).contains($0.value) }),
      // No URL can have these as a part of its path.
      uid != ".", uid != ".."
    else { throw .invalidLocalID }
  }
}

extension Account {
  public static func isEmail(_ text: String) -> Bool {
    (try? AccountRules.checkEmail(text)) != nil
  }

  /// Returns true if an address is the account's, in any spelling.
  public func hasEmail(_ address: String) -> Bool {
    email.map { AccountRules.isSame(email: address, $0) } ?? false
  }
}

extension Administrator {
  public func hasEmail(_ address: String) -> Bool { AccountRules.isSame(email: address, email) }
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
