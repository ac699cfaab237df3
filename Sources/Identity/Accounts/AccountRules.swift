/// What the fields of an account may be.
enum AccountRules {
  /// The shortest password, in UTF-16 units.
  static let shortestPassword = 6
  /// The longest password in UTF-16 units; longer ones are refused, not cut.
  static let longestPassword = 4_096
  /// The longest email address in bytes: 64 before the at sign, 255 after it (RFC 5321 section
  /// 4.5.3.1).
  static let longestEmail = 320

  static let uidAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  static let uidLength = 28

  /// The form in which addresses are compared.
  static func folded(email: String) -> String { email.lowercased() }

  static func checkEmail(_ email: String) throws(AccountError) {
    guard email.utf8.count <= longestEmail else { throw .invalidEmail }
    let parts = email.utf8.split(
      separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard
      parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty,
      !email.unicodeScalars.contains(where: { $0.value <= 32 || (127...159).contains($0.value) })
    else { throw .invalidEmail }
  }

  static func checkPassword(_ password: Secret) throws(AccountError) {
    let length = password.revealedText.utf16.count
    guard length <= longestPassword else { throw .passwordTooLong }
    guard length >= shortestPassword else { throw .weakPassword }
  }

  /// E.164: a plus, then 7 to 15 digits of which the first is not 0.
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

  /// Claims go into every ID token, and a character may be made of any number of scalars: UTF-16 is
  /// what SDKs count.
  static func checkClaims(_ claims: String) throws(AccountError) {
    guard claims.utf8.count <= 3 * ReservedClaims.longest,
      claims.utf16.count <= ReservedClaims.longest
    else { throw .claimsTooLarge }
  }

  /// It goes into every ID token too, and is as long as what is kept of providers.
  static func checkPhoto(_ address: String) throws(AccountError) {
    guard address.utf8.count <= ProviderLink.longestField else { throw .photoTooLong }
  }

  static func checkUID(
    _ uid: String, longest: Int = Account.longestID
  ) throws(AccountError) {
    guard
      (1...longest).contains(uid.utf8.count),
      !uid.unicodeScalars.contains(where: { $0.value < 32 || (127...159).contains($0.value) })
    else { throw .invalidLocalID }
  }
}

extension Account {
  /// Whether a text can be an account's address.
  public static func isEmail(_ text: String) -> Bool {
    (try? AccountRules.checkEmail(text)) != nil
  }
}
