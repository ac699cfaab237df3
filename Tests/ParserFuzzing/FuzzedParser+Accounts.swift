import Crypto
@testable import Identity
import OTP
import SMTP

extension FuzzedParser {
  static func mailAddress(_ text: String) -> String? {
    guard let address = MailAddress(text) else { return nil }
    guard !address.domain.isEmpty else { return "an address has no domain" }
    guard MailAddress(address.encoded)?.encoded == address.encoded else {
      return "an address as it's sent isn't one"
    }
    // Either would end the command or the header that contains the address.
    return text.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0x3E }
      ? "an address contains the end of a line or of itself" : nil
  }

  static func accountRules(_ text: String) -> String? {
    _ = Account.isEmail(text)
    try? AccountRules.checkEmail(text)
    try? AccountRules.checkPhone(text)
    try? AccountRules.checkName(text)
    try? AccountRules.checkPhoto(text)
    try? AccountRules.checkClaims(text)
    let folded = Mailbox.folded(text)
    guard Mailbox.folded(folded) == folded else {
      return "folding an address twice changes it again"
    }
    guard Mailbox.isSame(text, folded) else {
      return "an address isn't the same as its folded form"
    }
    return Mailbox.isSame(text, folded + "x")
      ? "addresses with different folded forms are the same" : nil
  }

  static func search(_ text: String) -> String? {
    _ = SearchQuery(text)
    return nil
  }

  static func pastedList(_ text: String) -> String? {
    guard let list = try? BulkList(text) else { return nil }
    return list.lines.isEmpty ? "an empty list is accepted" : nil
  }

  static func codings(_ bytes: [UInt8], _ text: String) -> String? {
    guard Base32.decode(Base32.encode(bytes)) == bytes else { return "Base32 loses bytes" }
    guard Base64URL.decode(Base64URL.encode(bytes)) == bytes else { return "Base64 loses bytes" }
    guard Hex.decode(Array(Hex.encode(bytes).utf8)) == bytes else { return "hex loses bytes" }
    _ = Base32.decode(text)
    _ = Base64URL.decode(text)
    _ = Hex.decode(bytes)
    return nil
  }

  static func publicKey(_ bytes: [UInt8], _ text: String) -> String? {
    for key in [try? PublicKey(der: bytes), try? PublicKey(pem: text)] {
      guard let key else { continue }
      guard let der = try? key.der(), (try? PublicKey(der: der)) != nil else {
        return "a key can't be written and read"
      }
      if key.verify(bytes, of: bytes) { return "random bytes are a signature" }
    }
    return nil
  }

  static func certificate(_ bytes: [UInt8]) -> String? {
    _ = Certificate.all(inPEM: bytes)
    return nil
  }

  static func importedHash(_ text: String) -> String? {
    _ = PasswordHash(emulatorText: text, random: .system)
    _ = PasswordHash(encoded: text).needsUpgrade()
    return nil
  }
}
