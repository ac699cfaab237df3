import Database
import Foundation
import Text

/// The form in which addresses are compared when one person could write them differently.
enum Mailbox {
  /// An address without what mail systems don't tell apart: case, the width of letters,
  /// normalization, dots at the end, and marks that can't be seen.
  ///
  /// SQLite folds ASCII only, so this is done here, and what is looked up is stored in this form.
  static func folded(_ address: String) -> String {
    var text = address
    if !address.utf8.allSatisfy({ $0 < 0x80 }) {
      text = address.precomposedStringWithCompatibilityMapping
    }
    text = text.lowercased()
    if !text.utf8.allSatisfy({ $0 < 0x80 }) {
      var seen = String.UnicodeScalarView()
      for scalar in text.precomposedStringWithCompatibilityMapping.unicodeScalars
      where !scalar.properties.isDefaultIgnorableCodePoint {
        // The ideographic full stop divides the labels of a domain as well.
        seen.append(scalar == "\u{3002}" ? "." : scalar)
      }
      text = String(seen)
    }
    var bytes = Array(text.utf8)
    while let last = bytes.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") {
      bytes.removeLast()
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Addresses that accounts had before.
enum FormerAddresses {
  /// Keeps the addresses that an account has lost by a change.
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
      try $0.value(0)
    }
  }
}
