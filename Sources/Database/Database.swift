public import Metrics

/// A database that is read and written through closures.
///
/// ```swift
/// let count = try await database.read { connection in
///   try connection.first("SELECT count(*) FROM account") { try $0.next() } ?? 0
/// }
/// ```
public protocol Database: Sendable {
  /// The SQL that it understands.
  var dialect: Dialect { get }

  /// Reads from one consistent snapshot.
  ///
  /// The closure runs immediately if a reader is free; otherwise the caller waits its turn. It runs
  /// on the calling thread when the database is a file, and on the thread of a connection when it's
  /// on a server. It can't change the database, and should take a few milliseconds at most.
  ///
  /// - Parameter body: The reads; runs once.
  /// - Returns: The result of `body`.
  /// - Throws: What `body` throws; ``DatabaseError`` when no snapshot is available;
  ///   `CancellationError` when the task is canceled while it waits.
  nonisolated(nonsending) func read<T: Sendable>(
    _ body: @Sendable (borrowing Connection) throws -> T
  ) async throws -> T

  /// Runs all reads of a task on one snapshot.
  ///
  /// The transaction begins with the first read and ends with `body`. It occupies a reader for that
  /// time, or for all of `body` with a database on a server, so `body` shouldn't wait for anything
  /// slow. It may write, but its reads don't see those writes.
  ///
  /// - Parameter body: Calls ``read(_:)`` any number of times.
  /// - Returns: The result of `body`.
  /// - Throws: What `body` throws.
  nonisolated(nonsending) func snapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T

  /// Changes the database in a transaction.
  ///
  /// Concurrent writes, also of other servers, have the same effect as one after the other, so a
  /// closure may decide by what it has read, and store a count that it has read and increased.
  ///
  /// When this returns, the changes are on disk. When the closure throws, they're undone, so an
  /// outcome that must be recorded is returned, not thrown.
  ///
  /// - Parameter body: The reads and changes. It can run more than once, so it must have no side
  ///   effects other than through the connection; the effects of all runs but the last are undone.
  /// - Returns: The result of the last run of `body`.
  /// - Throws: What `body` throws; ``DatabaseError`` when the changes couldn't be stored, in which
  ///   case nothing was, unless its code is `.outcomeUnknown`; `CancellationError` when the task is
  ///   canceled while it waits.
  @discardableResult
  nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T

  /// Moves what is only in the write-ahead log to the database file, and empties the log.
  ///
  /// - Throws: ``DatabaseError``: `.busy` when a read or a backup needs the log.
  nonisolated(nonsending) func checkpoint() async throws

  /// Writes the database file anew, unless it's larger than a number of bytes, so that the unused
  /// parts of its pages have nothing of deleted rows.
  ///
  /// Writes wait meanwhile, and it takes as much memory as the file is large.
  ///
  /// - Throws: ``DatabaseError``.
  nonisolated(nonsending) func compact(atMost bytes: Int) async throws

  /// Returns a key up to which the rows of a table are settled: in reads that begin afterward, none
  /// appears anymore.
  ///
  /// A table's keys come from a sequence, so when writes are concurrent, a row can be stored after
  /// one with a higher key. A task that processes rows in order, each once, stops at this key.
  ///
  /// - Parameters:
  ///   - column: The column with the key, which the database chooses.
  ///   - table: The table.
  /// - Returns: The key, or `Int64.max` when writes are stored in the order of their keys; nil when
  ///   the writes in progress didn't end in time.
  /// - Throws: ``DatabaseError``.
  nonisolated(nonsending) func settledKey(
    _ column: StaticString, of table: StaticString
  ) async throws -> Int64?

  /// Returns who keeps the newest rows of a table from being settled: transactions that have changed
  /// it for a second or longer and haven't ended.
  ///
  /// - Parameter table: The table.
  /// - Returns: The holders; none for a file, where one write follows another.
  /// - Throws: ``DatabaseError``.
  nonisolated(nonsending) func unsettled(in table: StaticString) async throws -> [LockHolder]

  /// Counters since the database was opened.
  var statistics: DatabaseStatistics { get }
}

extension Database {
  /// Returns none: one write follows another.
  public nonisolated(nonsending) func unsettled(
    in table: StaticString
  ) async throws -> [LockHolder] { [] }
}

/// A session of a database's server that others wait for.
public struct LockHolder: Sendable, Equatable {
  /// The process of the server, as in `pg_stat_activity`; 0 for a prepared transaction.
  public let process: Int64
  /// What the session calls itself; empty if it doesn't.
  public let application: String

  /// Creates a holder.
  public init(process: Int64, application: String) {
    (self.process, self.application) = (process, application)
  }
}

/// Counters since a database was opened.
public struct DatabaseStatistics: Sendable, Equatable {
  /// Reads begun.
  public var reads: Int
  /// Writes stored.
  public var writes: Int
  /// Commits.
  public var commits: Int
  /// The largest number of writes in one commit.
  public var largestGroup: Int
  /// Writes currently waiting.
  public var waitingWrites: Int
  /// Commits by the number of their writes: at position n, those with at most 2ⁿ writes and more
  /// than half as many.
  public var groups: [Int]
  /// The seconds that commits took.
  public var commitTimes: Distribution
  /// What only a database on a server has; nil for a file.
  public var server: ServerStatistics?

  /// Creates counters.
  public init(
    reads: Int = 0, writes: Int = 0, commits: Int = 0, largestGroup: Int = 0,
    waitingWrites: Int = 0, groups: [Int] = Array(repeating: 0, count: 9),
    commitTimes: Distribution = DurationHistogram().distribution, server: ServerStatistics? = nil
  ) {
    self.reads = reads
    self.writes = writes
    self.commits = commits
    self.largestGroup = largestGroup
    self.waitingWrites = waitingWrites
    self.groups = groups
    self.commitTimes = commitTimes
    self.server = server
  }
}

/// The settings of a database's server that decide how much it can do and what a failure loses.
public struct ServerSettings: Sendable, Equatable {
  /// How many connections it allows.
  public var connections: Int
  /// How many prepared transactions it allows, which decides how many writes it remembers.
  public var preparedTransactions: Int
  /// The settings that are off, although a power failure can destroy the database then.
  public var turnedOff: [String]
  /// Whether it has a standby, and doesn't wait until one has received what is stored.
  public var losesOnFailover: Bool

  /// Creates settings.
  public init(
    connections: Int, preparedTransactions: Int, turnedOff: [String], losesOnFailover: Bool
  ) {
    self.connections = connections
    self.preparedTransactions = preparedTransactions
    self.turnedOff = turnedOff
    self.losesOnFailover = losesOnFailover
  }
}

/// What a process measures of its connections to a database's server.
public struct ServerStatistics: Sendable, Equatable {
  /// Connections that reads use now.
  public var reading: Int
  /// Connections that writes use now.
  public var writing: Int
  /// Reads that wait for a connection.
  public var waitingReads: Int
  /// Open connections for reads.
  public var openReading: Int
  /// Open connections for writes.
  public var openWriting: Int
  /// Connections that the server refused because it has too many.
  public var refused: Int
  /// Runs of writes after the first, because they conflicted with others.
  public var retries: Int
  /// The seconds from sending statements to the last of their results.
  public var roundTrips: Distribution

  /// Creates measurements.
  public init(
    reading: Int, writing: Int, waitingReads: Int, openReading: Int = 0, openWriting: Int = 0,
    refused: Int = 0, retries: Int, roundTrips: Distribution
  ) {
    self.reading = reading
    self.writing = writing
    self.waitingReads = waitingReads
    self.openReading = openReading
    self.openWriting = openWriting
    self.refused = refused
    self.retries = retries
    self.roundTrips = roundTrips
  }
}

/// What takes long in a database.
public enum SlowUse: Sendable, Equatable {
  /// Statements that were sent together, with parameters instead of values, on one line, and how long
  /// they have taken so far; with the sessions that they wait for.
  case statement(String, Duration, blockers: [LockHolder] = [])
  /// A read or a write that waited for a connection.
  case wait(Kind, Duration)

  /// What a connection is for.
  public enum Kind: String, Sendable, CaseIterable {
    /// A read.
    case read
    /// A write.
    case write
  }
}
