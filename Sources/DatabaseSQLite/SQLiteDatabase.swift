import CSQLite
public import Database
import Glibc

/// A database in one SQLite file, with one writer and several readers over a write-ahead log.
///
/// Reads run at once on the calling thread while a reader is free, and are never held up by a
/// write. Writes are stored in groups: a commit, which waits for the disk, serves all that wait.
/// Open a file once in a process, and ``close()`` it when done.
public final class SQLiteDatabase: Database {
  private let options: SessionOptions
  private let readers: ReaderPool
  private let writer: Writer

  /// Opens a file, or makes it, readable by its owner alone, where there is none.
  ///
  /// - Parameters:
  ///   - path: The file; its folder takes two more files beside it.
  ///   - readers: How many reads run at the same time; by default two more than there are cores.
  ///   - busyTimeout: How long to wait for another process that holds the database.
  ///   - waitingWrites: How many writes may wait before further ones fail with `.busy`.
  ///   - maximumPages: The most pages of 4 KiB the file may have; for tests of a full disk.
  ///   - trace: Is told the text of every statement that callers run; for tests.
  /// - Throws: ``DatabaseError``: `.notADatabase`, `.readOnly` and `.cannotOpen` above all.
  public init(
    path: String, readers: Int? = nil, busyTimeout: Duration = .seconds(5),
    waitingWrites: Int = 4096, maximumPages: Int? = nil,
    trace: (@Sendable (String) -> Void)? = nil
  ) throws(DatabaseError) {
    let options = SessionOptions(
      path: path, busyTimeout: busyTimeout, maximumPages: maximumPages, trace: trace)
    try DatabaseFile.prepare(path)
    writer = Writer(try .open(.writer, options), Writer.Limits(waiting: waitingWrites))
    var sessions: [SQLiteSession] = []
    for _ in 0..<max(1, readers ?? sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 2) {
      sessions.append(try .open(.reader, options))
    }
    self.readers = ReaderPool(sessions)
    self.options = options
  }

  /// Reads from one consistent snapshot, at once when a reader is free.
  public nonisolated(nonsending) func read<T: Sendable>(
    _ body: @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    if let snapshot = Snapshot.current(of: readers), let session = try await snapshot.take() {
      defer { snapshot.giveBack(session) }
      return try body(Connection(session))
    }
    let session = try await readers.borrow()
    defer { readers.giveBack(session) }
    return try session.read(body)
  }

  /// Lets all reads of `body` see one moment, in one transaction.
  public nonisolated(nonsending) func snapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T {
    let snapshot = Snapshot(of: readers)
    defer { snapshot.end() }
    return try await Snapshot.$current.withValue(snapshot, operation: body)
  }

  /// Changes the database; returns when the changes are on the disk.
  @discardableResult
  public nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    try await writer.write(body)
  }

  /// What has been done since the database was opened.
  public var statistics: DatabaseStatistics {
    var statistics = writer.statistics
    statistics.reads = readers.reads
    return statistics
  }

  /// How SQLite would go about a statement, without running it.
  ///
  /// - Parameter text: A statement as `trace` tells it; its parameters need no values.
  /// - Returns: The lines of `EXPLAIN QUERY PLAN`, such as `SCAN account` or
  ///   `SEARCH account USING INDEX account_email (project_id=? AND email=?)`.
  /// - Throws: ``DatabaseError``.
  public func queryPlan(of text: String) async throws -> [String] {
    let session = try await readers.borrow()
    defer { readers.giveBack(session) }
    return try session.ask("EXPLAIN QUERY PLAN " + text, column: 3)
  }

  /// How SQLite would go about a statement, without running it.
  ///
  /// - Parameter sql: The statement.
  /// - Returns: The lines of `EXPLAIN QUERY PLAN`.
  /// - Throws: ``DatabaseError``.
  public func queryPlan(of sql: SQL) async throws -> [String] {
    try await queryPlan(of: sql.text)
  }

  /// Brings the write-ahead log into the database file and empties it.
  ///
  /// SQLite does the former by itself as the log grows. Writes wait meanwhile.
  ///
  /// - Throws: ``DatabaseError``: `.busy` when a read or a backup needs the log.
  public func checkpoint() async throws {
    try await writer.control { session throws(DatabaseError) in
      try unsafe session.withHandle { handle throws(DatabaseError) in
        let result = unsafe sqlite3_wal_checkpoint_v2(
          handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard result == SQLITE_OK else { throw unsafe DatabaseError.sqlite(result, handle) }
      }
    }
  }

  /// Copies the database, as it is now, to a new file while it goes on being used.
  ///
  /// The copy appears under its name when it is complete and on the disk; it is a database to be
  /// opened like any other.
  ///
  /// - Parameter path: The new file, readable by its owner alone.
  /// - Throws: ``DatabaseError``: `.exists` when there is a file of that name already.
  public func backup(to path: String) async throws {
    try await Backup(source: options, path: path).run()
  }

  /// Stores the writes that are queued, ends the reads under way, and closes the file.
  ///
  /// Calls that come later fail with `.closed`.
  public func close() async {
    await writer.finish()
    await readers.close()
    await writer.close()
  }
}
