public import Database

/// A SQLite file that is read and left exactly as it is, its write-ahead log included.
///
/// It is for files that aren't the one being served: a backup, or a database that was replaced.
public final class ReadOnlySQLiteDatabase: Database {
  private let readers: ReaderPool

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - ignoresLog: True for a backup: whatever lies beside it under the name of a log isn't read.
  ///     Nobody may change the file meanwhile.
  /// - Throws: ``DatabaseError``: `.notADatabase` and `.cannotOpen` above all.
  public init(path: String, ignoresLog: Bool = false) throws(DatabaseError) {
    let options = SessionOptions(
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

  /// Runs `body`; the file doesn't change, so each of its reads sees the same.
  public nonisolated(nonsending) func snapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T {
    try await body()
  }

  /// Fails: nothing is written here.
  ///
  /// - Throws: ``DatabaseError`` with `.readOnly`.
  @discardableResult
  public nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    throw DatabaseError(.readOnly, "the database was opened for reading only")
  }

  /// What has been read since it was opened.
  public var statistics: DatabaseStatistics { DatabaseStatistics(reads: readers.reads) }

  /// Ends the reads under way and closes the file.
  public func close() async { await readers.close() }
}
