/// What a driver does for a ``Connection``.
///
/// A session is used by one thread at a time.
public protocol DatabaseSession: AnyObject {
  /// A statement with its values bound, standing before its first row.
  ///
  /// - Throws: ``DatabaseError`` when the text is not one statement that may be run here.
  func statement(for sql: SQL) throws(DatabaseError) -> any DatabaseStatement

  /// Runs every statement of a text.
  ///
  /// - Throws: ``DatabaseError`` of the first that fails.
  func runScript(_ text: String) throws(DatabaseError)
}

/// What a driver does for a statement under way.
///
/// The columns asked for exist; they are counted from 0.
public protocol DatabaseStatement: AnyObject {
  /// How many columns its rows have.
  var columnCount: Int { get }

  /// Whether it can change the database.
  var isChange: Bool { get }

  /// Moves to the next row.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: ``DatabaseError``.
  func step() throws(DatabaseError) -> Bool

  /// Moves past the last row.
  ///
  /// - Returns: How many rows it changed.
  /// - Throws: ``DatabaseError``.
  func finish() throws(DatabaseError) -> Int

  /// Ends its use: the values are forgotten, and it may serve another call.
  func reset()

  /// The name of a column.
  func name(of column: Int) -> String

  /// Whether a column holds NULL.
  func isNull(at column: Int) -> Bool

  /// The whole number in a column, `nil` when it holds something else.
  func integer(at column: Int) -> Int64?

  /// The floating-point number in a column, `nil` when it holds something else.
  func real(at column: Int) -> Double?

  /// The text in a column, `nil` when it holds something else.
  ///
  /// - Throws: ``DatabaseError`` with `.unexpectedValue` when it is not valid UTF-8.
  func text(at column: Int) throws(DatabaseError) -> String?

  /// The bytes in a column, `nil` when it holds something else.
  func blob(at column: Int) -> [UInt8]?

  /// An error that names this statement.
  func error(_ code: DatabaseError.Code, _ message: String) -> DatabaseError
}
