/// A connection passed to the closure of ``Database/read(_:)`` or ``Database/write(_:)``.
///
/// It's noncopyable and borrowed, so it can't outlive the closure, and everything it runs belongs
/// to that closure's transaction. SQL that begins or ends a transaction is rejected as misuse.
public struct Connection: ~Copyable {
  @usableFromInline let session: any DatabaseSession

  // Swift 6.3.1 crashes in release builds when it inlines the initializer of a noncopyable value.

  /// Creates a connection from a session; for drivers.
  @inline(never)
  public init(_ session: any DatabaseSession) {
    self.session = session
  }

  /// The SQL that the database understands.
  public var dialect: Dialect { session.dialect }

  /// Runs a statement to its end, discarding any rows.
  ///
  /// - Parameter sql: One statement.
  /// - Returns: The number of rows inserted, updated, or deleted, not counting triggers and foreign
  ///   key actions.
  /// - Throws: ``DatabaseError``.
  @discardableResult
  @inlinable
  public func run(_ sql: SQL) throws(DatabaseError) -> Int {
    let statement = try session.statement(for: sql)
    defer { statement.reset() }
    return try statement.finish()
  }

  /// Runs a statement whose effect nothing in the closure depends on, such as an added row, without
  /// waiting for it.
  ///
  /// A database on a server runs it along with the next statement or the commit, which saves a
  /// round trip. Its error is thrown there: the write fails, and can't go on, not even with
  /// ``attempt(_:)``. A driver without a network runs it immediately.
  ///
  /// - Parameter sql: One statement.
  /// - Throws: ``DatabaseError``, of this statement or an earlier one.
  @inlinable
  public func runLater(_ sql: SQL) throws(DatabaseError) {
    try session.runLater(sql)
  }

  /// Returns all rows of a query.
  ///
  /// ```swift
  /// let names = try connection.all("SELECT name FROM project") { row in
  ///   try row.next() as String
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - sql: One statement.
  ///   - decode: Decodes a row.
  /// - Returns: The decoded values, in row order.
  /// - Throws: ``DatabaseError``, and what `decode` throws.
  @inlinable
  public func all<T>(_ sql: SQL, _ decode: (inout Row) throws -> T) throws -> [T] {
    let statement = try session.statement(for: sql)
    defer { statement.reset() }
    guard try statement.step() else { return [] }
    // Not earlier: only now do the columns match the current schema.
    var row = Row(statement: statement)
    var values: [T] = []
    repeat {
      row.position = 0
      values.append(try decode(&row))
    } while try statement.step()
    return values
  }

  /// Returns the first row of a query.
  ///
  /// - Parameters:
  ///   - sql: One statement; with `RETURNING`, it has its full effect.
  ///   - decode: Decodes the row.
  /// - Returns: The decoded value; `nil` when there's no row.
  /// - Throws: ``DatabaseError``, and what `decode` throws.
  @inlinable
  public func first<T>(_ sql: SQL, _ decode: (inout Row) throws -> T) throws -> T? {
    let statement = try session.statement(for: sql)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    var row = Row(statement: statement)
    let value = try decode(&row)
    if statement.isChange { _ = try statement.finish() }
    return value
  }

  /// Runs all statements of a script, such as a migration.
  ///
  /// This is the only method that accepts text that isn't a literal: never pass text that a user
  /// can influence.
  ///
  /// - Parameter text: Statements separated by semicolons.
  /// - Throws: ``DatabaseError`` of the first statement that fails; earlier ones have taken effect,
  ///   and the transaction undoes them when the error leaves the closure.
  public func runScript(_ text: String) throws(DatabaseError) {
    try session.runScript(text)
  }

  /// Runs a part of a write whose changes are undone when it throws, so that the write can go on.
  ///
  /// A write that catches the error of a statement, such as a violated constraint, and runs another
  /// statement needs this: PostgreSQL refuses all further statements of the transaction otherwise.
  ///
  /// - Parameter body: The part; these can be nested.
  /// - Returns: The result of `body`.
  /// - Throws: What `body` throws; ``DatabaseError`` when the whole transaction is lost.
  @discardableResult
  public func attempt<T>(_ body: () throws -> T) throws -> T {
    try session.beginSavepoint()
    let value: T
    do {
      value = try body()
    } catch {
      try session.rollBackToSavepoint()
      throw error
    }
    try session.releaseSavepoint()
    return value
  }
}
