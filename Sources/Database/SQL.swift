import Synchronization

/// A fragment of SQL whose interpolated values are bound as parameters, never inserted as text.
///
/// ```swift
/// let query: SQL = "SELECT name FROM project WHERE id = \(id) AND state = \("active")"
/// query.text    // SELECT name FROM project WHERE id = $1 AND state = $2
/// query.values  // [.integer(7), .text("active")]
/// ```
///
/// The text comes from source literals only: there's no way to create SQL from a `String` that was
/// read or computed, so injection can't be written by accident. The exception is an ``SQLName``,
/// which can't contain SQL. Fragments are combined by interpolation or with `+`, and their
/// parameters are renumbered.
public struct SQL: Sendable, Equatable {
  @usableFromInline
  enum Piece: Sendable, Equatable {
    case literal(StaticString)
    /// A literal that only one dialect has; see `Dialect.swift`, where all of them are.
    case only(Dialect, StaticString)
    /// A name from a catalog.
    case name(SQLName)
    case value(SQLValue)

    @usableFromInline
    static func == (one: Piece, other: Piece) -> Bool {
      switch (one, other) {
      case (.literal(let one), .literal(let other)): one.description == other.description
      case (.only(let dialect, let one), .only(let otherDialect, let other)):
        dialect == otherDialect && one.description == other.description
      case (.name(let one), .name(let other)): one == other
      case (.value(let one), .value(let other)): one == other
      default: false
      }
    }
  }

  @usableFromInline
  var pieces: [Piece]

  @usableFromInline
  init(pieces: [Piece]) {
    self.pieces = pieces
  }

  /// The text in SQLite's dialect, with `$1`, `$2`, … for the values.
  public var text: String { text(in: .sqlite) }

  /// Returns the text in a dialect, with `$1`, `$2`, … for the values.
  public func text(in dialect: Dialect) -> String {
    if pieces.count == 1, case .literal(let only) = pieces[0] { return only.description }
    var text = ""
    text.reserveCapacity(pieces.reduce(0) { $0 + $1.textSize })
    var number = 0
    forEachPart(in: dialect) { part in
      switch part {
      case .literal(let literal): text += literal.description
      case .name(let name): text += "\"\(name.text)\""
      case .value:
        number += 1
        text += "$"
        text += String(number)
      }
    }
    return text
  }

  /// A part of the text in one dialect.
  @frozen
  public enum Part {
    /// A source literal.
    case literal(StaticString)
    /// A name from a catalog.
    case name(SQLName)
    /// The place of a value.
    case value
  }

  /// Visits the parts of the text in a dialect, in order.
  ///
  /// For drivers: the address of a source literal never changes, so the addresses identify a
  /// statement without assembling its text.
  @inlinable
  public func forEachPart(in dialect: Dialect, _ body: (Part) -> Void) {
    for piece in pieces {
      switch piece {
      case .literal(let literal): body(.literal(literal))
      case .only(dialect, let literal): body(.literal(literal))
      case .only: continue
      case .name(let name): body(.name(name))
      case .value: body(.value)
      }
    }
  }

  /// The values, in parameter order.
  public var values: [SQLValue] {
    var values: [SQLValue] = []
    values.reserveCapacity(pieces.count / 2 + 1)
    for case .value(let value) in pieces { values.append(value) }
    return values
  }

  /// Concatenates two fragments.
  public static func + (first: SQL, second: SQL) -> SQL {
    guard !second.pieces.isEmpty else { return first }
    return SQL(pieces: first.pieces + second.pieces)
  }

  /// Appends a fragment.
  public static func += (first: inout SQL, second: SQL) {
    first.pieces += second.pieces
  }

  /// Returns the values as parameters separated by commas, for `IN (…)` or `VALUES (…)`.
  ///
  /// An empty list is `NULL`, which no value is equal to.
  @inlinable
  public static func list(_ values: some Sequence<some SQLBindable>) -> SQL {
    var pieces: [Piece] = []
    pieces.reserveCapacity(2 * values.underestimatedCount)
    for value in values {
      if !pieces.isEmpty { pieces.append(.literal(", ")) }
      pieces.append(.value(value.sqlValue))
    }
    return pieces.isEmpty ? "NULL" : SQL(pieces: pieces)
  }
}

extension SQL: CustomStringConvertible {
  /// The text, without the values, which must not appear in logs and messages.
  public var description: String { text }
}

extension SQL.Piece {
  fileprivate var textSize: Int {
    switch self {
    case .literal(let literal), .only(_, let literal): literal.utf8CodeUnitCount
    case .name(let name): name.text.utf8.count + 2
    case .value: 4
    }
  }
}

extension Sequence<SQL> {
  /// Returns the fragments joined with `separator`.
  public func joined(separator: SQL) -> SQL {
    var whole = SQL(pieces: [])
    var isFirst = true
    for part in self {
      if !isFirst { whole += separator }
      whole += part
      isFirst = false
    }
    return whole
  }
}

extension SQL: ExpressibleByStringInterpolation {
  /// Creates SQL without values.
  ///
  /// A `StaticString` is always a source literal, which keeps other strings out.
  public init(stringLiteral text: StaticString) {
    pieces = text.utf8CodeUnitCount == 0 ? [] : [.literal(text)]
  }

  /// Creates SQL with interpolated values.
  @inlinable
  public init(stringInterpolation interpolation: Interpolation) {
    pieces = interpolation.pieces
  }

  /// Collects the literals and the values of an interpolated literal.
  public struct Interpolation: StringInterpolationProtocol {
    @usableFromInline var pieces: [Piece]

    /// Reserves space for a literal with a number of interpolations.
    @inlinable
    public init(literalCapacity: Int, interpolationCount: Int) {
      pieces = []
      pieces.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Appends a literal.
    @inlinable
    public mutating func appendLiteral(_ literal: StaticString) {
      guard literal.utf8CodeUnitCount > 0 else { return }
      pieces.append(.literal(literal))
    }

    /// Binds a value.
    @inlinable
    public mutating func appendInterpolation(_ value: some SQLBindable) {
      pieces.append(.value(value.sqlValue))
    }

    /// Binds a value, or NULL for nil.
    @inlinable
    public mutating func appendInterpolation<Value: SQLBindable>(_ value: Value?) {
      appendInterpolation(value.sqlValue)
    }

    /// Inserts another fragment with its values.
    @inlinable
    public mutating func appendInterpolation(_ sql: SQL) {
      pieces += sql.pieces
    }

    /// Binds all values of a list as parameters separated by commas.
    @inlinable
    public mutating func appendInterpolation(list values: some Sequence<some SQLBindable>) {
      pieces += SQL.list(values).pieces
    }
  }
}

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
