import Database

/// The minimal parsing of SQL that the driver needs.
enum SQLText {
  /// Statements that would end the closure's transaction or reconfigure its connection.
  private static let reserved: Set<String> = [
    "ATTACH", "BEGIN", "COMMIT", "DETACH", "END", "PRAGMA", "RELEASE", "ROLLBACK", "SAVEPOINT",
    "VACUUM",
  ]

  static func refuseReserved(
    _ bytes: ArraySlice<UInt8>, in text: String
  ) throws(DatabaseError) {
    let letters = rest(of: bytes).prefix { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7a }
    let word = String(decoding: letters, as: UTF8.self).uppercased()
    guard !reserved.contains(word) else {
      throw DatabaseError(.misuse, "\(word) isn't allowed here", sql: text)
    }
  }

  /// Returns the bytes after leading white space, comments, and semicolons.
  static func rest(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    while let first = rest.first {
      if first == UInt8(ascii: ";") || first == UInt8(ascii: " ") || (9...13).contains(first) {
        rest = rest.dropFirst()
      } else if rest.starts(with: "--".utf8) {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
      } else if rest.starts(with: "/*".utf8) {
        rest = rest.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest = rest.dropFirst() }
        rest = rest.dropFirst(2)
      } else {
        return rest
      }
    }
    return rest
  }
}
