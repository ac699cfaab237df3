import CSQLite
import Database

/// A connection to the file, with its prepared statements and its transaction.
///
/// It's `@unchecked Sendable` because:
/// 1. SQLite allows a connection opened with `SQLITE_OPEN_NOMUTEX` to move between threads as long
/// as no two use it at the same time;
/// 2. a reader is either in the pool or lent to one read, and both transitions happen under the
/// pool's mutex, which orders the borrowers' accesses;
/// 3. after it was opened, the writer's session is used only on its serial queue;
/// 4. ``interrupt()`` makes the only call that SQLite allows at any time, on an open connection;
/// 5. the values it lends (`Connection`, `Row`) are noncopyable and can't leave the closure.
@safe
final class SQLiteSession: DatabaseSession, @unchecked Sendable {
  private static let statementLimit = 256

  var dialect: Dialect { .sqlite }
  var catalog: any DatabaseCatalog { SQLiteCatalog() }

  private let handle: OpaquePointer
  private let trace: (@Sendable (String) -> Void)?
  private let damage: DamageMark?
  private var statements: [StatementKey: SQLiteStatement] = [:]
  private var controls: [Control: SQLiteStatement] = [:]
  private var uses = 0
  private var lossCause: DatabaseError?

  init(_ handle: OpaquePointer, trace: (@Sendable (String) -> Void)?, damage: DamageMark?) {
    unsafe self.handle = handle
    self.trace = trace
    self.damage = damage
  }

  deinit {
    statements = [:]
    controls = [:]
    unsafe sqlite3_close_v2(handle)
  }

  // MARK: - Statements

  func statement(for sql: SQL) throws(DatabaseError) -> any DatabaseStatement {
    guard isInTransaction else { throw loss }
    let statement = try cached(sql)
    trace?(statement.text)
    do {
      try statement.bind(sql.values)
    } catch {
      statement.reset()
      throw error
    }
    return statement
  }

  /// Returns an unused statement, from the cache if possible.
  private func cached(_ sql: SQL) throws(DatabaseError) -> SQLiteStatement {
    uses += 1
    let key = StatementKey(sql, in: dialect)
    if let statement = statements[key], !statement.isBorrowed {
      statement.isBorrowed = true
      statement.lastUse = uses
      return statement
    }
    let statement = try prepareOnly(sql.text(in: .sqlite))
    statement.isBorrowed = true
    statement.lastUse = uses
    guard statements[key] == nil else { return statement }
    if statements.count >= Self.statementLimit { forgetOldest() }
    statements[key] = statement
    return statement
  }

  private func forgetOldest() {
    let free = statements.filter { !$0.value.isBorrowed }
    guard let oldest = free.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
    statements[oldest.key] = nil
  }

  private func prepareOnly(_ text: String) throws(DatabaseError) -> SQLiteStatement {
    var bytes = Array(text.utf8)[...]
    try SQLText.refuseReserved(bytes, in: text)
    guard let statement = try prepare(&bytes, flags: SQLITE_PREPARE_PERSISTENT, from: text) else {
      throw DatabaseError(.misuse, "the text holds no statement", sql: text)
    }
    guard SQLText.rest(of: bytes).isEmpty else {
      throw DatabaseError(.misuse, "the text holds more than one statement", sql: text)
    }
    return statement
  }

  func runScript(_ text: String) throws(DatabaseError) {
    guard isInTransaction else { throw loss }
    var bytes = Array(text.utf8)[...]
    while !SQLText.rest(of: bytes).isEmpty {
      try SQLText.refuseReserved(bytes, in: text)
      guard let statement = try prepare(&bytes, flags: 0, from: text) else { continue }
      trace?(statement.text)
      _ = try statement.finish()
      guard isInTransaction else { throw loss }
    }
  }

  /// Prepares the first statement of `bytes` and advances past it; `nil` when it's empty.
  private func prepare(
    _ bytes: inout ArraySlice<UInt8>, flags: Int32, from text: String
  ) throws(DatabaseError) -> SQLiteStatement? {
    var prepared: OpaquePointer?
    var length = 0
    let result = unsafe bytes.withUnsafeBytes { buffer in
      let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      var tail: UnsafePointer<CChar>?
      let result = unsafe sqlite3_prepare_v3(
        handle, start, Int32(buffer.count), UInt32(flags), &prepared, &tail)
      if let start = unsafe start, let tail = unsafe tail { length = unsafe tail - start }
      return result
    }
    guard result == SQLITE_OK else { throw failure(result, sql: text) }
    guard length > 0 else {
      throw DatabaseError(.misuse, "the text holds a NUL character", sql: text)
    }
    let own = bytes.prefix(length)
    bytes = bytes.dropFirst(length)
    guard let prepared = unsafe prepared else { return nil }
    return unsafe SQLiteStatement(
      prepared, text: String(decoding: own, as: UTF8.self), session: self)
  }

  // MARK: - State

  var isInTransaction: Bool {
    unsafe sqlite3_get_autocommit(handle) == 0
  }

  /// The number of rows changed by the last statement that changed any.
  var changes: Int { Int(unsafe sqlite3_changes64(handle)) }

  /// The number of rows changed since the connection was opened, including by triggers.
  var totalChanges: Int { Int(unsafe sqlite3_total_changes64(handle)) }

  /// The reason SQLite rolled back the transaction automatically.
  var loss: DatabaseError {
    lossCause ?? DatabaseError(.misuse, "the transaction is over")
  }

  /// Returns the connection's last error, and keeps the first one that ends the transaction.
  func failure(_ code: Int32, sql: String) -> DatabaseError {
    let error = unsafe DatabaseError.sqlite(code, handle, sql: sql)
    if lossCause == nil, !isInTransaction { lossCause = error }
    damage?.note(error)
    return error
  }

  // MARK: - Control

  enum Control: String {
    case begin = "BEGIN"
    case beginImmediate = "BEGIN IMMEDIATE"
    case commit = "COMMIT"
    case rollback = "ROLLBACK"
    case savepoint = "SAVEPOINT write"
    case release = "RELEASE write"
    case rollbackToSavepoint = "ROLLBACK TO write"
    case savepointOfPart = "SAVEPOINT part"
    case releasePart = "RELEASE part"
    case rollbackToPart = "ROLLBACK TO part"
  }

  /// Begins, ends, or subdivides the transaction.
  func perform(_ control: Control) throws(DatabaseError) {
    if control == .begin || control == .beginImmediate { lossCause = nil }
    let statement = if let known = controls[control] { known } else { try prepareControl(control) }
    defer { statement.reset() }
    while try statement.step() {}
  }

  private func prepareControl(_ control: Control) throws(DatabaseError) -> SQLiteStatement {
    let statement = try prepareWhole(control.rawValue)
    controls[control] = statement
    return statement
  }

  /// Runs a statement that callers aren't allowed to run, such as a PRAGMA, and returns the text in
  /// a column of each row.
  @discardableResult
  func ask(_ text: String, column: Int = 0) throws(DatabaseError) -> [String] {
    let statement = try prepareWhole(text)
    var rows: [String] = []
    while try statement.step() {
      if let text = try statement.text(at: column) {
        rows.append(text)
      } else {
        rows.append(statement.integer(at: column).map { String($0) } ?? "")
      }
    }
    return rows
  }

  private func prepareWhole(_ text: String) throws(DatabaseError) -> SQLiteStatement {
    var bytes = Array(text.utf8)[...]
    guard let statement = try prepare(&bytes, flags: 0, from: text) else {
      throw DatabaseError(.misuse, "the text holds no statement", sql: text)
    }
    return statement
  }

  /// Passes the connection's address to a closure, for backups and checkpoints.
  func withHandle<T>(_ body: (OpaquePointer) throws(DatabaseError) -> T) throws(DatabaseError) -> T
  {
    try unsafe body(handle)
  }

  /// Interrupts the statement that's running, from any thread.
  func interrupt() { unsafe sqlite3_interrupt(handle) }
}
