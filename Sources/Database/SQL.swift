/// A piece of SQL whose interpolated values are bound, never pasted into the text.
///
/// ```swift
/// let query: SQL = "SELECT name FROM project WHERE id = \(id) AND state = \("active")"
/// query.text    // SELECT name FROM project WHERE id = $1 AND state = $2
/// query.values  // [.integer(7), .text("active")]
/// ```
///
/// The text comes from literals of the program alone: there is no way to make SQL of a `String`
/// that was read or computed, so an injection cannot be written by accident. Pieces are put
/// together by interpolation or with `+`; their parameters are numbered anew.
public struct SQL: Sendable, Equatable {
  @usableFromInline
  enum Piece: Sendable, Equatable {
    case literal(StaticString)
    case value(SQLValue)

    @usableFromInline
    static func == (one: Piece, other: Piece) -> Bool {
      switch (one, other) {
      case (.literal(let one), .literal(let other)): one.description == other.description
      case (.value(let one), .value(let other)): one == other
      default: false
      }
    }
  }

  @usableFromInline
  var pieces: [Piece]

  init(pieces: [Piece]) {
    self.pieces = pieces
  }

  /// The text, with `$1`, `$2` … in place of the values.
  public var text: String {
    if pieces.count == 1, case .literal(let only) = pieces[0] { return only.description }
    var text = ""
    text.reserveCapacity(pieces.reduce(0) { $0 + $1.textSize })
    var number = 0
    for piece in pieces {
      switch piece {
      case .literal(let literal):
        text += literal.description
      case .value:
        number += 1
        text += "$"
        text += String(number)
      }
    }
    return text
  }

  /// Visits the literals in their order, and nil for each value between them.
  ///
  /// For drivers: a literal of the program has one address for ever, so the addresses name a
  /// statement without its text being put together.
  @inlinable
  public func forEachLiteral(_ body: (StaticString?) -> Void) {
    for piece in pieces {
      switch piece {
      case .literal(let literal): body(literal)
      case .value: body(nil)
      }
    }
  }

  /// The values, in the order of their parameters.
  public var values: [SQLValue] {
    pieces.compactMap { piece in
      guard case .value(let value) = piece else { return nil }
      return value
    }
  }

  /// Puts two pieces together, without anything between them.
  public static func + (first: SQL, second: SQL) -> SQL {
    guard !second.pieces.isEmpty else { return first }
    return SQL(pieces: first.pieces + second.pieces)
  }

  /// Adds a piece at the end.
  public static func += (first: inout SQL, second: SQL) {
    first.pieces += second.pieces
  }

  /// The values as parameters with commas between them: what stands in `IN (…)` or `VALUES (…)`.
  ///
  /// An empty list gives empty text, which SQLite accepts in `IN ()` and other databases do not.
  public static func list(_ values: some Sequence<some SQLBindable>) -> SQL {
    values.map { SQL(pieces: [.value($0.sqlValue)]) }.joined(separator: ", ")
  }
}

extension SQL: CustomStringConvertible {
  /// The text; the values stay out of logs and messages.
  public var description: String { text }
}

extension SQL.Piece {
  fileprivate var textSize: Int {
    switch self {
    case .literal(let literal): literal.utf8CodeUnitCount
    case .value: 4
    }
  }
}

extension Sequence<SQL> {
  /// The pieces as one, with `separator` between each two.
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
  /// SQL without a value.
  ///
  /// A `StaticString` is a literal of the source text, which is what keeps other strings out.
  public init(stringLiteral text: StaticString) {
    pieces = text.utf8CodeUnitCount == 0 ? [] : [.literal(text)]
  }

  /// SQL with interpolated values.
  public init(stringInterpolation interpolation: Interpolation) {
    pieces = interpolation.pieces
  }

  /// Collects the literals and the values of an interpolated literal.
  public struct Interpolation: StringInterpolationProtocol {
    var pieces: [Piece]

    /// Makes room for a literal with so many interpolations.
    public init(literalCapacity: Int, interpolationCount: Int) {
      pieces = []
      pieces.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Adds text of the program.
    public mutating func appendLiteral(_ literal: StaticString) {
      guard literal.utf8CodeUnitCount > 0 else { return }
      pieces.append(.literal(literal))
    }

    /// Binds a value.
    public mutating func appendInterpolation(_ value: some SQLBindable) {
      pieces.append(.value(value.sqlValue))
    }

    /// Binds a value, or NULL where there is none.
    public mutating func appendInterpolation<Value: SQLBindable>(_ value: Value?) {
      appendInterpolation(value.sqlValue)
    }

    /// Inserts another piece of SQL with its values.
    public mutating func appendInterpolation(_ sql: SQL) {
      pieces += sql.pieces
    }

    /// Binds every value of a list, with commas between the parameters.
    public mutating func appendInterpolation(list values: some Sequence<some SQLBindable>) {
      pieces += SQL.list(values).pieces
    }
  }
}
