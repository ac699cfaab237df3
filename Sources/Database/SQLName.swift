import Synchronization

/// The name of a table or a column, as a database's catalog lists it.
///
/// It's the only part of a statement that isn't a source literal. A name consists of lowercase
/// letters, digits, and underscores, and it's always quoted, so that it can't contain SQL. There's
/// one object for each name, which is never freed.
public final class SQLName: Sendable {
  private static let known = Mutex<[String: SQLName]>([:])

  /// The name, without quotation marks.
  public let text: String

  private init(_ text: String) {
    self.text = text
  }

  /// Returns the name with a text.
  ///
  /// - Parameter text: Up to 63 lowercase letters, digits, and underscores of ASCII.
  /// - Returns: The name.
  /// - Throws: ``DatabaseError`` with `.misuse` for any other text.
  public static func named(_ text: String) throws(DatabaseError) -> SQLName {
    let isName = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isName, (1...63).contains(text.utf8.count) else {
      throw DatabaseError(.misuse, "not the name of a table or column")
    }
    return known.withLock { known in
      if let name = known[text] { return name }
      let name = SQLName(text)
      known[text] = name
      return name
    }
  }
}

extension SQLName: Hashable, Comparable, CustomStringConvertible {
  /// Compares the objects, of which there's one for each name.
  public static func == (one: SQLName, other: SQLName) -> Bool { one === other }

  /// Hashes the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Orders names by their bytes.
  public static func < (one: SQLName, other: SQLName) -> Bool {
    one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }

  /// The name.
  public var description: String { text }
}

extension SQL.Interpolation {
  /// Inserts a name from a catalog, quoted.
  public mutating func appendInterpolation(_ name: SQLName) {
    pieces.append(.name(name))
  }

  /// Inserts names from a catalog, quoted and separated by commas.
  public mutating func appendInterpolation(names: [SQLName]) {
    for (index, name) in names.enumerated() {
      if index > 0 { pieces.append(.literal(", ")) }
      pieces.append(.name(name))
    }
  }
}
