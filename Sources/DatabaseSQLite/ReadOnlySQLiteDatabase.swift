public import Database

/// A SQLite file that is only read and never changed, including its write-ahead log.
///
/// It's for files other than the database being served, such as a backup or a replaced database.
public final class ReadOnlySQLiteDatabase: Database {
  /// SQLite's.
  public var dialect: Dialect { .sqlite }

  let options: SessionOptions
  private let readers: ReaderPool

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - ignoresLog: True for a backup, so that no log next to it is read. The file must not change
  ///     meanwhile.
  /// - Throws: ``DatabaseError``, mostly `.notADatabase` and `.cannotOpen`.
  public init(path: String, ignoresLog: Bool = false) throws(DatabaseError) {
    options = SessionOptions(
      path: path, access: ignoresLog ? .immutable : .readOnly, busyTimeout: .seconds(5))
    readers = ReaderPool([try .open(.reader, options)])
  }

  /// Reads from one consistent snapshot; one read at a time.
  public nonisolated(nonsending) func read<T: Sendable>(
    _ body: @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    let session = try await readers.borrow()
    defer { readers.giveBack(session) }
    return try session.read(body)
  }

  /// Runs `body`; the file doesn't change, so all of its reads see the same data.
  public nonisolated(nonsending) func snapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T {
    try await body()
  }

  /// Throws an error, since the database is read-only.
  ///
  /// - Throws: ``DatabaseError`` with `.readOnly`.
  @discardableResult
  public nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    throw DatabaseError(.readOnly, "the database was opened for reading only")
  }

  /// Throws an error, since the database is read-only.
  ///
  /// - Throws: ``DatabaseError`` with `.readOnly`.
  public nonisolated(nonsending) func checkpoint() async throws {
    throw DatabaseError(.readOnly, "the database was opened for reading only")
  }

  /// Throws an error, since the database is read-only.
  ///
  /// - Throws: ``DatabaseError`` with `.readOnly`.
  public nonisolated(nonsending) func compact(atMost bytes: Int) async throws {
    throw DatabaseError(.readOnly, "the database was opened for reading only")
  }

  /// Returns `Int64.max`: one write follows another.
  public nonisolated(nonsending) func settledKey(
    _ column: StaticString, of table: StaticString
  ) async throws -> Int64? { .max }

  /// Counters since the database was opened.
  public var statistics: DatabaseStatistics { DatabaseStatistics(reads: readers.reads) }

  /// Waits for reads in progress and closes the file.
  public func close() async { await readers.close() }
}
