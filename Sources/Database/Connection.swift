/// A connection lent to the closure of ``Database/read(_:)`` or ``Database/write(_:)``.
///
/// It is noncopyable and borrowed, so it cannot outlive the closure, and all that it runs belongs
/// to that closure's transaction. Transactions are not begun or ended in SQL: such statements are
/// refused as misuse.
public struct Connection: ~Copyable {
  @usableFromInline let session: any DatabaseSession

  // Swift 6.3.1 crashes in release builds where it inlines the making of a noncopyable value.

  /// Lends a session; for drivers.
  @inline(never)
  public init(_ session: any DatabaseSession) {
    self.session = session
  }

  /// Runs a statement to its end; rows it may yield are dropped.
  ///
  /// - Parameter sql: One statement.
  /// - Returns: How many rows it inserted, updated or deleted itself, those of triggers and
  ///   foreign keys not counted.
  /// - Throws: ``DatabaseError``.
  @discardableResult
  @inlinable
  public func run(_ sql: SQL) throws(DatabaseError) -> Int {
    let statement = try session.statement(for: sql)
    defer { statement.reset() }
    return try statement.finish()
  }

  /// All rows of a query.
  ///
  /// ```swift
  /// let names = try connection.all("SELECT name FROM project") { row in
  ///   try row.value(0) as String
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - sql: One statement.
  ///   - decode: Makes a value of each row.
  /// - Returns: The values, in the order of the rows.
  /// - Throws: ``DatabaseError``, and what `decode` throws.
  @inlinable
  public func all<T>(_ sql: SQL, _ decode: (borrowing Row) throws -> T) throws -> [T] {
    let statement = try session.statement(for: sql)
    defer { statement.reset() }
    guard try statement.step() else { return [] }
    // Only now are the columns those of the present schema.
    let row = Row(statement: statement)
    var values: [T] = []
    repeat {
      values.append(try decode(row))
    } while try statement.step()
    return values
  }

  /// The first row of a query.
  ///
  /// - Parameters:
  ///   - sql: One statement; with `RETURNING`, it has its whole effect.
  ///   - decode: Makes a value of the row.
  /// - Returns: The value, or `nil` when there is no row.
  /// - Throws: ``DatabaseError``, and what `decode` throws.
  @inlinable
  public func first<T>(_ sql: SQL, _ decode: (borrowing Row) throws -> T) throws -> T? {
    let statement = try session.statement(for: sql)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let value = try decode(Row(statement: statement))
    if statement.isChange { _ = try statement.finish() }
    return value
  }

  /// Runs every statement of a text, such as a migration's.
  ///
  /// This is the one door for text that is not a literal: never pass what a user can influence.
  ///
  /// - Parameter text: Statements with semicolons between them.
  /// - Throws: ``DatabaseError`` of the first that fails; those before it have had their effect,
  ///   which the enclosing transaction takes back when the error leaves the closure.
  public func runScript(_ text: String) throws(DatabaseError) {
    try session.runScript(text)
  }
}
