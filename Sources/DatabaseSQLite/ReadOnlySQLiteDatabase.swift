public import Database
import Glibc
import Host

/// A SQLite file that is only read and never changed, including its write-ahead log.
///
/// A file that no process has open is read without creating a log next to it. If a process opens it
/// meanwhile, what was read can be inconsistent: see ``isOvertaken``.
public final class ReadOnlySQLiteDatabase: Database {
  /// SQLite's.
  public var dialect: Dialect { .sqlite }

  let options: SessionOptions
  private let readers: ReaderPool
  /// The state of the file before it was read without its log; nil if the log is read as well.
  private let state: FileState?

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - ignoresLog: True for a backup, so that no log next to it is read. The file must not change
  ///     meanwhile.
  /// - Throws: ``DatabaseError``, mostly `.notADatabase` and `.cannotOpen`.
  public init(path: String, ignoresLog: Bool = false) throws(DatabaseError) {
    // A connection that isn't immutable would create the log and never remove it.
    let state = ignoresLog ? nil : FileState(alone: path)
    self.state = state
    options = SessionOptions(
      path: path, access: ignoresLog || state != nil ? .immutable : .readOnly,
      busyTimeout: .seconds(5))
    readers = ReaderPool([try .open(.reader, options)])
  }

  /// Whether another process has opened the file since it was opened here without a log, so that
  /// what was read can be inconsistent and has to be read again from a new
  /// `ReadOnlySQLiteDatabase`.
  public var isOvertaken: Bool { state.map { FileState(alone: options.path) != $0 } ?? false }

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

/// The state of a file that no process has open.
private struct FileState: Equatable {
  private let inode: UInt
  private let size: Int
  private let seconds: Int
  private let nanoseconds: Int

  /// Reads the state of a database; nil if there's none, or if it has a log or the log's index, as
  /// it does while a process has it open.
  ///
  /// Those of a database that a link leads to are next to the database.
  init?(alone link: String) {
    let path = ResolvedPath.of(link)
    guard ["-wal", "-shm"].allSatisfy({ unsafe access(path + $0, F_OK) != 0 }) else { return nil }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    inode = status.st_ino
    size = status.st_size
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
