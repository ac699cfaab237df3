/// A database that is read and written through closures.
///
/// ```swift
/// let count = try await database.read { connection in
///   try connection.first("SELECT count(*) FROM account") { try $0.value(0) } ?? 0
/// }
/// ```
public protocol Database: Sendable {
  /// Reads from one consistent snapshot.
  ///
  /// The closure runs on the calling thread, at once when a reader is free; otherwise the caller
  /// waits its turn. It cannot change the database, and should take milliseconds at most.
  ///
  /// - Parameter body: Reads; it runs once.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; ``DatabaseError`` when no snapshot can be had;
  ///   `CancellationError` when the task is canceled while it waits.
  nonisolated(nonsending) func read<T: Sendable>(
    _ body: @Sendable (borrowing Connection) throws -> T
  ) async throws -> T

  /// Lets all reads of a task see one moment.
  ///
  /// Their transaction begins with the first of them and ends with `body`; meanwhile they have a
  /// reader to themselves, so `body` should not wait for anything slow. It may write, but its reads
  /// do not see what it wrote.
  ///
  /// - Parameter body: Calls ``read(_:)`` any number of times.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  nonisolated(nonsending) func snapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T

  /// Changes the database: the closure is a transaction.
  ///
  /// When this returns, the changes are on the disk. When the closure throws, they are undone, so
  /// an outcome that must leave a trace is returned, not thrown.
  ///
  /// - Parameter body: Reads and changes. It can run more than once, so it must touch nothing but
  ///   the connection; the effects of every run but the last are undone.
  /// - Returns: What the last run of `body` returned.
  /// - Throws: What `body` throws; ``DatabaseError`` when the changes could not be stored, and
  ///   nothing of them has been; `CancellationError` when the task is canceled while it waits.
  @discardableResult
  nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T

  /// What has been done since the database was opened.
  var statistics: DatabaseStatistics { get }
}

/// Counts since a database was opened.
public struct DatabaseStatistics: Sendable, Equatable {
  /// Reads begun.
  public var reads: Int
  /// Writes stored.
  public var writes: Int
  /// Commits made for them.
  public var commits: Int
  /// The most writes one commit has stored.
  public var largestGroup: Int
  /// Writes waiting now.
  public var waitingWrites: Int

  /// Makes counts.
  public init(
    reads: Int = 0, writes: Int = 0, commits: Int = 0, largestGroup: Int = 0,
    waitingWrites: Int = 0
  ) {
    self.reads = reads
    self.writes = writes
    self.commits = commits
    self.largestGroup = largestGroup
    self.waitingWrites = waitingWrites
  }
}
