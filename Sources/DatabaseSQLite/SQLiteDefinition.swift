import Database

/// The text with which SQLite stores an object, as its parts in any order: an upgrade adds columns at the
/// end of a table that a new database has elsewhere.
enum SQLiteDefinition {
  /// Returns an object, and the columns and constraints of a table.
  static func objects(_ object: StoredObject) -> [StoredObject] {
    let text = normalized(object.definition)
    guard object.kind == "table", text.hasPrefix("CREATE TABLE "),
      let first = text.firstIndex(of: "("), let last = text.lastIndex(of: ")")
    else { return [object.defined(as: text)] }
    let members = parts(of: text[text.index(after: first)..<last]).map { part in
      let word = part.prefix { $0 != " " && $0 != "(" }
      let isConstraint = constraints.contains(word.uppercased())
      return StoredObject(
        kind: isConstraint ? "constraint" : "column",
        name: String(isConstraint ? part : word), table: object.name, definition: String(part))
    }
    return [object.defined(as: String(text[text.index(after: last)...]))] + members
  }

  private static let constraints: Set = ["CHECK", "CONSTRAINT", "FOREIGN", "PRIMARY", "UNIQUE"]

  /// Returns text outside literals without comments, quotes of names, and white space that means
  /// nothing.
  private static func normalized(_ text: String) -> String {
    var (found, rest) = ([UInt8](), Array(text.utf8)[...])
    var isSpaced = false
    while let byte = rest.first {
      let next = rest.dropFirst().first
      if byte == UInt8(ascii: "-"), next == byte {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
        continue
      }
      let mark = UInt8(ascii: "'")
      let end = byte == mark ? rest.dropFirst().firstIndex(of: mark) ?? rest.endIndex - 1 : nil
      let token = end.map { rest[rest.startIndex...$0] } ?? rest.prefix(1)
      rest = rest.dropFirst(token.count)
      guard byte > 0x20, byte != UInt8(ascii: "\"") else {
        isSpaced = isSpaced || byte <= 0x20
        continue
      }
      if isSpaced, !"(),".utf8.contains(byte), let last = found.last, !"(),".utf8.contains(last) {
        found.append(UInt8(ascii: " "))
      }
      isSpaced = false
      found += token
    }
    return String(decoding: found, as: UTF8.self)
  }

  /// Returns what commas separate outside parentheses and literals.
  private static func parts(of text: Substring) -> [Substring] {
    var (depth, isLiteral) = (0, false)
    return text.split { character in
      if character == "\'" { isLiteral.toggle() }
      guard !isLiteral else { return false }
      depth += character == "(" ? 1 : character == ")" ? -1 : 0
      return depth == 0 && character == ","
    }
  }
}

extension StoredObject {
  fileprivate func defined(as text: String) -> StoredObject {
    StoredObject(kind: kind, name: name, table: table, definition: text)
  }
}
