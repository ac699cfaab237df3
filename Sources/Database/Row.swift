/// The current row of a query, passed to the closure that decodes it.
///
/// Each column is read once, in the order of the statement. A row can't be kept: values read from
/// it are copies.
public struct Row: ~Copyable {
  @usableFromInline let statement: any DatabaseStatement
  /// The number of columns.
  public let columnCount: Int
  /// The position of the next column, counted from 0.
  @usableFromInline var position = 0

  // Not inlinable, for the reason given at `Connection.init`.
  @inline(never)
  @usableFromInline
  init(statement: any DatabaseStatement) {
    self.statement = statement
    columnCount = statement.columnCount
  }

  /// Reads the next column.
  ///
  /// ```swift
  /// let name: String = try row.next()
  /// let nickname: String? = try row.next()  // may be NULL
  /// ```
  ///
  /// A type made of several columns takes the row as `inout` and reads its own:
  ///
  /// ```swift
  /// init(_ row: inout Row) throws {
  ///   id = try row.next()
  ///   owner = try Owner(&row)
  /// }
  /// ```
  ///
  /// A column that can't be read is passed over.
  ///
  /// - Returns: The value.
  /// - Throws: ``DatabaseError`` with `.unexpectedValue` when the column has another type, or is
  ///   NULL and `T` isn't optional; `.misuse` after the last column.
  @inlinable
  public mutating func next<T: SQLReadable>() throws(DatabaseError) -> T {
    let column = position
    guard column < columnCount else {
      throw statement.error(.misuse, "the row has only \(columnCount) columns")
    }
    position = column + 1
    return try T.read(self, column)
  }

  @usableFromInline
  func unexpected(_ column: Int, expected: String) -> DatabaseError {
    statement.error(
      .unexpectedValue,
      "column \(column) (\(statement.name(of: column))) does not hold \(expected)")
  }
}

/// A type that can be read from a column.
///
/// An enumeration or option set conforms without code, by its raw value. Other types read one of
/// the types below and convert it:
///
/// ```swift
/// extension Email: SQLReadable {
///   static func read(_ row: borrowing Row, _ column: Int) throws(DatabaseError) -> Email {
///     Email(stored: try String.read(row, column))
///   }
/// }
/// ```
public protocol SQLReadable {
  /// Reads the value of a column that exists.
  ///
  /// - Throws: ``DatabaseError`` with `.unexpectedValue` when the column has another type.
  static func read(_ row: borrowing Row, _ column: Int) throws(DatabaseError) -> Self
}

extension SQLReadable where Self: RawRepresentable, RawValue: SQLReadable {
  /// Reads the raw value; an unknown one is an error.
  @inlinable
  public static func read(_ row: borrowing Row, _ column: Int) throws(DatabaseError) -> Self {
    guard let value = Self(rawValue: try RawValue.read(row, column)) else {
      throw row.unexpected(column, expected: "a known \(Self.self)")
    }
    return value
  }
}

extension SQLValue: SQLReadable {
  /// Reads a value of any type.
  public static func read(
    _ row: borrowing Row, _ column: Int
  ) throws(DatabaseError) -> SQLValue {
    let statement = row.statement
    if let number = statement.integer(at: column) { return .integer(number) }
    if let number = statement.real(at: column) { return .real(number) }
    if let text = try statement.text(at: column) { return .text(text) }
    if let bytes = statement.blob(at: column) { return .blob(bytes) }
    return .null
  }
}

extension Int64: SQLReadable {
  /// Reads an integer.
  @inlinable
  public static func read(
    _ row: borrowing Row, _ column: Int
  ) throws(DatabaseError) -> Int64 {
    guard let number = row.statement.integer(at: column) else {
      throw row.unexpected(column, expected: "a whole number")
    }
    return number
  }
}

extension Int: SQLReadable {
  /// Reads an integer.
  @inlinable
  public static func read(_ row: borrowing Row, _ column: Int) throws(DatabaseError) -> Int {
    Int(try Int64.read(row, column))
  }
}

extension Bool: SQLReadable {
  /// Reads 0 as false and 1 as true; any other number is an error.
  @inlinable
  public static func read(_ row: borrowing Row, _ column: Int) throws(DatabaseError) -> Bool {
    guard let number = row.statement.integer(at: column), number == 0 || number == 1 else {
      throw row.unexpected(column, expected: "0 or 1")
    }
    return number == 1
  }
}

extension Double: SQLReadable {
  /// Reads an integer or a floating-point number.
  @inlinable
  public static func read(
    _ row: borrowing Row, _ column: Int
  ) throws(DatabaseError) -> Double {
    if let number = row.statement.real(at: column) { return number }
    guard let number = row.statement.integer(at: column) else {
      throw row.unexpected(column, expected: "a number")
    }
    return Double(number)
  }
}

extension String: SQLReadable {
  /// Reads text, which is valid UTF-8 and can contain NUL characters.
  @inlinable
  public static func read(
    _ row: borrowing Row, _ column: Int
  ) throws(DatabaseError) -> String {
    guard let text = try row.statement.text(at: column) else {
      throw row.unexpected(column, expected: "text")
    }
    return text
  }
}

extension [UInt8]: SQLReadable {
  /// Reads bytes.
  @inlinable
  public static func read(
    _ row: borrowing Row, _ column: Int
  ) throws(DatabaseError) -> [UInt8] {
    guard let bytes = row.statement.blob(at: column) else {
      throw row.unexpected(column, expected: "bytes")
    }
    return bytes
  }
}

extension Optional: SQLReadable where Wrapped: SQLReadable {
  /// Reads NULL as `nil`.
  @inlinable
  public static func read(
    _ row: borrowing Row, _ column: Int
  ) throws(DatabaseError) -> Wrapped? {
    if row.statement.isNull(at: column) { return nil }
    return try Wrapped.read(row, column)
  }
}
