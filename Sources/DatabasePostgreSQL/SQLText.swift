import Database

/// The minimal parsing of SQL that the driver needs.
enum SQLText {
  /// Statements that would end the closure's transaction, reconfigure its connection, or change how
  /// results are sent; those of SQLite are refused in the same way.
  private static let reserved: Set<String> = [
    "ABORT", "ATTACH", "BEGIN", "COMMIT", "COPY", "DEALLOCATE", "DETACH", "DISCARD", "END",
    "EXECUTE", "LISTEN", "LOAD", "NOTIFY", "PRAGMA", "PREPARE", "RELEASE", "RESET", "ROLLBACK",
    "SAVEPOINT", "SET", "START", "UNLISTEN", "VACUUM",
  ]

  static func refuseReserved(
    _ statement: ArraySlice<UInt8>, in text: String
  ) throws(DatabaseError) {
    let letters = statement.prefix { isLetter($0) }
    let word = String(decoding: letters, as: UTF8.self).uppercased()
    guard !reserved.contains(word) else {
      throw DatabaseError(.misuse, "\(word) isn't allowed here", sql: text)
    }
  }

  /// Checks that a text is one statement that is allowed.
  static func checkSingle(_ text: String) throws(DatabaseError) {
    let statements = try statements(of: text)
    guard let only = statements.first else {
      throw DatabaseError(.misuse, "the text holds no statement", sql: text)
    }
    guard statements.count == 1 else {
      throw DatabaseError(.misuse, "the text holds more than one statement", sql: text)
    }
    try refuseReserved(only, in: text)
  }

  /// Splits a text at the semicolons between statements.
  ///
  /// Each statement begins with its first word. Those that consist of comments are left out. A body
  /// of a function must be quoted: semicolons between `BEGIN ATOMIC` and `END` would split it.
  static func statements(of text: String) throws(DatabaseError) -> [ArraySlice<UInt8>] {
    let bytes = Array(text.utf8)
    guard !bytes.contains(0) else {
      throw DatabaseError(.misuse, "the text holds a NUL character", sql: text)
    }
    var statements: [ArraySlice<UInt8>] = []
    var start: Int?
    var position = 0
    while position < bytes.count {
      let byte = bytes[position]
      if let end = commentEnd(bytes, position) {
        position = end
        continue
      }
      if byte == UInt8(ascii: ";") {
        if let start { statements.append(bytes[start..<position]) }
        start = nil
        position += 1
        continue
      }
      if start == nil, byte != UInt8(ascii: " "), !(9...13).contains(byte) { start = position }
      position = quoteEnd(bytes, position) ?? position + 1
    }
    if let start { statements.append(bytes[start...]) }
    return statements
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x61...0x7a).contains(byte | 0x20)
  }

  /// Returns the end of the comment that begins here; comments between `/*` and `*/` nest.
  private static func commentEnd(_ bytes: [UInt8], _ start: Int) -> Int? {
    let rest = bytes[start...]
    if rest.starts(with: "--".utf8) {
      return rest.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    }
    guard rest.starts(with: "/*".utf8) else { return nil }
    var depth = 1
    var position = start + 2
    while position < bytes.count, depth > 0 {
      if bytes[position...].starts(with: "*/".utf8) {
        depth -= 1
        position += 2
      } else if bytes[position...].starts(with: "/*".utf8) {
        depth += 1
        position += 2
      } else {
        position += 1
      }
    }
    return position
  }

  /// Returns the end of the text, name, or dollar-quoted text that begins here.
  private static func quoteEnd(_ bytes: [UInt8], _ start: Int) -> Int? {
    let byte = bytes[start]
    let before = start > 0 ? bytes[start - 1] : 0
    if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
      // Only in E'…' is a backslash special.
      let beforeThat = start > 1 ? bytes[start - 2] : 0
      let escapes =
        byte == UInt8(ascii: "'") && before | 0x20 == UInt8(ascii: "e") && !isNamePart(beforeThat)
      var position = start + 1
      while position < bytes.count {
        if bytes[position] == byte {
          guard position + 1 < bytes.count, bytes[position + 1] == byte else { break }
          position += 2
        } else {
          position += escapes && bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
      }
      return min(position + 1, bytes.count)
    }
    guard byte == UInt8(ascii: "$"), !isNamePart(before),
      let second = bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "$")),
      bytes[(start + 1)..<second].allSatisfy(isNamePart),
      !(0x30...0x39).contains(bytes[start + 1])
    else { return nil }
    let tag = bytes[start...second]
    guard let end = bytes[(second + 1)...].firstRange(of: tag) else { return bytes.count }
    return end.upperBound
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
  }
}
