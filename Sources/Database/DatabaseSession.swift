/// The driver's implementation of a ``Connection``.
///
/// A session is used by one thread at a time.
public protocol DatabaseSession: AnyObject {
  /// The SQL that it understands.
  var dialect: Dialect { get }

  /// The catalog of the database.
  var catalog: any DatabaseCatalog { get }

  /// Returns a statement with its values bound, before its first row.
  ///
  /// - Throws: ``DatabaseError`` when the text isn't a single statement that is allowed here.
  func statement(for sql: SQL) throws(DatabaseError) -> any DatabaseStatement

  /// Runs a statement, immediately or along with the next one.
  ///
  /// - Throws: ``DatabaseError``.
  func runLater(_ sql: SQL) throws(DatabaseError)

  /// Runs all statements of a script.
  ///
  /// - Throws: ``DatabaseError`` of the first that fails.
  func runScript(_ text: String) throws(DatabaseError)

  /// Begins a part of the transaction that can be undone on its own; parts can be nested.
  ///
  /// - Throws: ``DatabaseError``.
  func beginSavepoint() throws(DatabaseError)

  /// Ends the part begun last, and keeps its changes.
  ///
  /// - Throws: ``DatabaseError``.
  func releaseSavepoint() throws(DatabaseError)

  /// Ends the part begun last, and undoes its changes.
  ///
  /// - Throws: ``DatabaseError`` when the whole transaction is lost.
  func rollBackToSavepoint() throws(DatabaseError)
}

extension DatabaseSession {
  /// Runs a statement immediately.
  public func runLater(_ sql: SQL) throws(DatabaseError) {
    let statement = try statement(for: sql)
    defer { statement.reset() }
    _ = try statement.finish()
  }
}

/// The driver's implementation of a running statement.
///
/// Columns are counted from 0, and callers only pass columns that exist.
public protocol DatabaseStatement: AnyObject {
  /// The number of columns.
  var columnCount: Int { get }

  /// Whether the statement can change the database.
  var isChange: Bool { get }

  /// Moves to the next row.
  ///
  /// - Returns: Whether there's a row.
  /// - Throws: ``DatabaseError``.
  func step() throws(DatabaseError) -> Bool

  /// Runs the statement past its last row.
  ///
  /// - Returns: The number of rows changed.
  /// - Throws: ``DatabaseError``.
  func finish() throws(DatabaseError) -> Int

  /// Clears the values and makes the statement available for reuse.
  func reset()

  /// Returns the name of a column.
  func name(of column: Int) -> String

  /// Returns whether a column is NULL.
  func isNull(at column: Int) -> Bool

  /// Returns the integer in a column; `nil` when it has another type.
  func integer(at column: Int) -> Int64?

  /// Returns the floating-point number in a column; `nil` when it has another type.
  func real(at column: Int) -> Double?

  /// Returns the text in a column; `nil` when it has another type.
  ///
  /// - Throws: ``DatabaseError`` with `.unexpectedValue` when it isn't valid UTF-8.
  func text(at column: Int) throws(DatabaseError) -> String?

  /// Returns the bytes in a column; `nil` when it has another type.
  func blob(at column: Int) -> [UInt8]?

  /// Returns an error with this statement's SQL.
  func error(_ code: DatabaseError.Code, _ message: String) -> DatabaseError
}
