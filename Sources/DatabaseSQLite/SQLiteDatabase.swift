import CSQLite
public import Database
import Glibc

/// A SQLite file with one writer and several readers, in write-ahead log mode.
///
/// Reads run on the calling thread, immediately if a reader is free, and never wait for a write.
/// Writes are stored in groups: one commit, which waits for the disk, covers all waiting writes.
/// Open a file only once per process, and ``close()`` it when done.
public final class SQLiteDatabase: Database {
  /// SQLite's.
  public var dialect: Dialect { .sqlite }

  let options: SessionOptions
  private let readers: ReaderPool
  private let writer: Writer

  /// Opens a file, creating it with mode 600 if it's missing.
  ///
  /// - Parameters:
  ///   - path: The file; SQLite creates two more files next to it.
  ///   - readers: The number of concurrent reads; by default two more than there are cores.
  ///   - busyTimeout: How long to wait for another process that has locked the database.
  ///   - waitingWrites: How many writes can wait before further ones fail with `.busy`.
  ///   - maximumPages: The maximum size of the file in pages of 4 KiB; for tests of a full disk.
  ///   - trace: Receives the text of every statement that callers run; for tests.
  /// - Throws: ``DatabaseError``, mostly `.notADatabase`, `.readOnly`, and `.cannotOpen`.
  public init(
    path: String, readers: Int? = nil, busyTimeout: Duration = .seconds(5),
    waitingWrites: Int = 4096, maximumPages: Int? = nil,
    trace: (@Sendable (String) -> Void)? = nil
  ) throws(DatabaseError) {
    let options = SessionOptions(
      path: path, busyTimeout: busyTimeout, maximumPages: maximumPages, trace: trace,
      damage: DamageMark())
    try DatabaseFile.prepare(path)
    writer = Writer(try .open(.writer, options), Writer.Limits(waiting: waitingWrites))
    var sessions: [SQLiteSession] = []
    for _ in 0..<max(1, readers ?? sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 2) {
      sessions.append(try .open(.reader, options))
    }
    self.readers = ReaderPool(sessions)
    self.options = options
  }

  /// Reads from one consistent snapshot, immediately if a reader is free.
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

  /// Runs all reads of `body` on one snapshot, in one transaction.
  public nonisolated(nonsending) func snapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T {
    let snapshot = Snapshot(of: readers)
    defer { snapshot.end() }
    return try await Snapshot.$current.withValue(snapshot, operation: body)
  }

  /// Changes the database; returns when the changes are on disk.
  @discardableResult
  public nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    try await writer.write(body)
  }

  /// Returns `Int64.max`: one write follows another.
  public nonisolated(nonsending) func settledKey(
    _ column: StaticString, of table: StaticString
  ) async throws -> Int64? { .max }

  /// The first error of a statement that showed that the file is damaged; nil if there was none.
  public var damage: DatabaseError? { options.damage?.error }

  /// The same error, once there is one; for one task.
  public var damages: AsyncStream<DatabaseError> {
    options.damage?.errors ?? AsyncStream { $0.finish() }
  }

  /// Returns what the writer has been doing for a second or longer, such as a commit that the disk
  /// delays; once for each.
  public func slowUse() -> SlowUse? { writer.takeSlow(.seconds(1)) }

  /// Whether the writer is doing something.
  public var isRunning: Bool { writer.isRunning }

  /// Counters since the database was opened.
  public var statistics: DatabaseStatistics {
    var statistics = writer.statistics
    statistics.reads = readers.reads
    return statistics
  }

  /// Returns SQLite's plan for a statement, without running it.
  ///
  /// - Parameter text: A statement as passed to `trace`; its parameters need no values.
  /// - Returns: The lines of `EXPLAIN QUERY PLAN`, such as `SCAN account` or `SEARCH account USING
  ///   INDEX account_email (project_id=? AND email=?)`.
  /// - Throws: ``DatabaseError``.
  public func queryPlan(of text: String) async throws -> [String] {
    let session = try await readers.borrow()
    defer { readers.giveBack(session) }
    return try session.ask("EXPLAIN QUERY PLAN " + text, column: 3)
  }

  /// Checkpoints the write-ahead log into the database file and empties it.
  ///
  /// SQLite does the former automatically as the log grows. Writes wait meanwhile.
  ///
  /// - Throws: ``DatabaseError``: `.busy` when a read or a backup needs the log.
  public nonisolated(nonsending) func checkpoint() async throws {
    try await writer.control { session throws(DatabaseError) in
      try unsafe session.withHandle { handle throws(DatabaseError) in
        let result = unsafe sqlite3_wal_checkpoint_v2(
          handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard result == SQLITE_OK else { throw unsafe DatabaseError.sqlite(result, handle) }
      }
    }
  }

  /// Writes the database file anew, unless it's larger than a number of bytes, so that the unused
  /// parts of its pages have nothing of deleted rows.
  ///
  /// SQLite overwrites deleted rows, but not the copies of rows that moved to another page. Writes
  /// wait meanwhile, and it takes as much memory as the file is large.
  ///
  /// - Throws: ``DatabaseError``.
  public nonisolated(nonsending) func compact(atMost bytes: Int) async throws {
    try await writer.control { session throws(DatabaseError) in
      let pages = try session.ask("PRAGMA page_count").first.flatMap { Int($0) } ?? 0
      let size = try session.ask("PRAGMA page_size").first.flatMap { Int($0) } ?? 0
      guard pages * size <= bytes else { return }
      // SQLite attaches the new file, which nothing else is allowed to do.
      try unsafe session.withHandle { handle throws(DatabaseError) in
        _ = unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
      }
      defer {
        try? unsafe session.withHandle { handle throws(DatabaseError) in
          _ = unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
        }
      }
      try session.ask("VACUUM")
    }
  }

  /// Copies the current state of the database to a new file while it stays in use.
  ///
  /// The copy appears under its name once it's complete and on disk; it can be opened like any
  /// other database.
  ///
  /// - Parameter path: The new file, created with mode 600.
  /// - Throws: ``DatabaseError``: `.exists` when the file already exists.
  public func backup(to path: String) async throws {
    try await backup(to: path) { _ in }
  }

  /// Does the same, if the copy passes an examination before it gets its name.
  ///
  /// - Parameters:
  ///   - path: The new file.
  ///   - isKept: False if the copy is only read by `verify`, and never gets its name.
  ///   - verify: Examines the complete copy, whose path it gets; the copy is removed if it throws.
  /// - Returns: What `verify` returns.
  /// - Throws: ``DatabaseError``, and what `verify` throws.
  public func backup<T: Sendable>(
    to path: String, isKept: Bool = true,
    verifying verify: @Sendable (_ copy: String) async throws -> T
  ) async throws -> T {
    try await Backup(source: options, path: path, isKept: isKept).run(verifying: verify)
  }

  /// Stores queued writes, waits for reads in progress, and closes the file.
  ///
  /// Later calls fail with `.closed`.
  public func close() async {
    await writer.finish()
    await readers.close()
    await writer.close()
  }
}
