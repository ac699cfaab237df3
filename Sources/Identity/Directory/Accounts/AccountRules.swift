import Crypto
import Database
import Network
import Text

extension AccountRules {
  /// The minimum password length, in UTF-16 code units.
  static let shortestPassword = 6
  /// The maximum password length, in UTF-16 code units; longer passwords are rejected, not
  /// truncated.
  static let longestPassword = 4_096

  package static let uidAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  package static let uidLength = 28

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
    try AccountRecord.set("has_former_addresses = 1", of: old.key, connection)
  }

  static func all(of account: Int64, _ connection: borrowing Connection) throws -> [String] {
    try connection.all("SELECT address FROM former_address WHERE account_key = \(account)") {
      try $0.next()
    }
  }
}
