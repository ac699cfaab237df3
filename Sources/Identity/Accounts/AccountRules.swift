import Crypto
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
