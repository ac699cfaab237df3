public import Database
import Synchronization

/// A PostgreSQL database, with connections for reads and others for writes.
///
/// Each connection has its own thread, on which the closures run, and the tasks of snapshots: no
/// other thread waits on the network. Reads see a snapshot (`REPEATABLE READ`), and writes are
/// `SERIALIZABLE`, so that concurrent ones have the same effect as one after the other, here and in
/// other processes. A write that conflicts with another runs again.
///
/// Connections are opened when they're needed and again after they were lost. ``close()`` the
/// database when done.
public final class PostgreSQLDatabase: Database {
  /// PostgreSQL's.
  public var dialect: Dialect { .postgreSQL }

  private let readers: ConnectionPool
  let writers: ConnectionPool
  let retries: RetryPolicy
  private let watch: UseWatch
  private let stored = Mutex(0)
  /// Whether a write failed because the server's disk was full, and none of the looks since then
  /// found space.
  private let isFull = Mutex(false)

  /// Opens a database; the first connection shows whether it's there.
  ///
  /// - Parameters:
  ///   - address: The address.
  ///   - passwordFile: A file whose first line is the password, read for each connection. Without
  ///     it, libpq looks in the file of the address's parameter `passfile`, of the environment
  ///     variable `PGPASSFILE`, or `~/.pgpass`.
  ///   - readers: The number of connections for reads.
  ///   - writers: The number of connections for writes.
  ///   - waiting: How many reads or writes can wait before further ones fail with `.busy`.
  ///   - statementTimeout: How long a statement may run; a script's statements have no limit.
  ///   - idleTimeout: How long a read may wait for its next statement.
  ///   - writeIdleTimeout: How long a write may wait for its next statement, after which the server
  ///     releases its locks. That's also how long others wait for a process that can't reach the
  ///     server any longer.
  ///   - sharesUse: Whether connections keep others from moving the database; false for a move,
  ///     which acquires it alone.
  ///   - trace: Receives the text of every statement that callers run; for tests.
  /// - Throws: ``DatabaseError``: `.cannotOpen`, `.unreachable`, or `.busy` when the server is
  ///   starting or has too many connections.
  public init(
    _ address: PostgreSQLAddress, passwordFile: String? = nil, readers: Int = 8, writers: Int = 8,
    waiting: Int = 4096, statementTimeout: Duration = .seconds(30),
    idleTimeout: Duration = .seconds(60),
    writeIdleTimeout: Duration = .seconds(5), sharesUse: Bool = true,
    trace: (@Sendable (String) -> Void)? = nil
  ) async throws {
    let (outage, watch) = (Outage(), UseWatch())
    self.watch = watch
    func pool(_ size: Int, for kind: SlowUse.Kind, idleTimeout: Duration) -> ConnectionPool {
      let connector = Connector(
        address: address, passwordFile: passwordFile,
        limits: Connector.Limits(
          statementTimeout: statementTimeout, idleTimeout: idleTimeout),
        writes: kind == .write,
        sharesUse: sharesUse, outage: outage)
      return ConnectionPool(
        (0..<max(size, 1)).map { _ in PostgreSQLSession(connector, watch: watch, trace: trace) },
        for: kind, waiting: waiting, watch: watch)
    }
    self.readers = pool(readers, for: .read, idleTimeout: idleTimeout)
    self.writers = pool(writers, for: .write, idleTimeout: writeIdleTimeout)
    retries = RetryPolicy()
    do {
      try await self.readers.use { session in
        try session.check()
        guard try session.read({ try $0.first(Self.comparesBytes) { try $0.next() } }) == true
        else {
          throw DatabaseError(
            .cannotOpen, "cannot use \(address): the database must be created with the collation C")
        }
      }
    } catch {
      await close()
      throw error
    }
  }

  /// Whether the database compares texts by their bytes.
  ///
  /// Version 14 has no other providers of collations than the C library.
  private static let comparesBytes: SQL = """
    SELECT CASE coalesce(to_jsonb(d) ->> 'datlocprovider', 'c') WHEN 'b' THEN TRUE WHEN 'c'
      THEN lower(replace(datcollate, '-', '')) IN ('c', 'posix', 'c.utf8') ELSE FALSE END
    FROM pg_catalog.pg_database AS d WHERE datname = current_database()
    """

  /// Reads from one consistent snapshot, on the thread of a connection.
  public nonisolated(nonsending) func read<T: Sendable>(
    _ body: @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    // It isn't kept: the pool and the snapshot release it before they return.
    try await withoutActuallyEscaping(body) { body in
      let snapshot = PostgreSQLSnapshot.current(of: readers)
      if let result = await snapshot?.read(body) { return try result.get() }
      return try await readers.use { session in try session.read(body) }
    }
  }

  /// Runs all reads of `body` on one snapshot, in one transaction.
  public nonisolated(nonsending) func snapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T {
    try await PostgreSQLSnapshot.run(of: readers, body)
  }

  /// Changes the database; returns when the server has stored the changes.
  ///
  /// - Throws: What `body` throws; ``DatabaseError``, with `.outcomeUnknown` when the connection
  ///   was lost during the commit.
  @discardableResult
  public nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    let retries = retries
    let value = try await writers.use { session in
      do { return try session.write(retries, body) } catch {
        // The closure may have replaced the error by its own.
        let failure = session.failure?.error ?? error as? DatabaseError
        if failure?.code == .full { self.isFull.withLock { $0 = true } }
        throw error
      }
    }
    stored.withLock { $0 += 1 }
    return value
  }

  /// Returns whether the server's disk has space, as far as is known.
  ///
  /// With little space left, writes that add no page succeed while others fail. So after one
  /// failed, this looks whether two megabytes of temporary data can be stored.
  public func hasSpace() async -> Bool {
    guard isFull.withLock({ $0 }) else { return true }
    let found = try? await readers.use { session in
      try session.read { connection in
        _ = try connection.first("SELECT set_config('work_mem', '64kB', true)") { _ in }
        return try connection.first("SELECT count(*) FROM generate_series(1, 65536)") {
          try $0.next() as Int
        }
      }
    }
    guard found != nil else { return false }
    isFull.withLock { $0 = false }
    return true
  }

  /// Does nothing: the server checkpoints its own log.
  public nonisolated(nonsending) func checkpoint() async throws {}

  /// Does nothing: the server's autovacuum frees the space of deleted rows, at some time.
  ///
  /// Only `VACUUM FULL` writes a table anew, and locks it meanwhile, for all nodes.
  public nonisolated(nonsending) func compact(atMost bytes: Int) async throws {}

  /// Counters since the database was opened; each write has its own commit.
  public var statistics: DatabaseStatistics {
    let writes = stored.withLock { $0 }
    var statistics = DatabaseStatistics(
      reads: readers.begun - 1, writes: writes, commits: writes,
      largestGroup: min(writes, 1), waitingWrites: writers.waiting,
      commitTimes: watch.commitTimes,
      server: watch.statistics(readers: readers, writers: writers))
    statistics.groups[0] = writes
    return statistics
  }

  /// Tells someone, from now on, about statements and waits for a connection that take a second or
  /// longer.
  ///
  /// - Parameter listener: Is called on the thread of a connection, or of a caller that is canceled.
  public func tellSlowUse(_ listener: @escaping @Sendable (SlowUse) -> Void) {
    watch.tell(listener)
  }

  /// Whether the server is running a statement.
  public var isRunning: Bool { watch.isRunning }

  /// Tells which statements have been running for a second or longer, each once, with the sessions that
  /// they wait for.
  public func tellSlowStatements() {
    watch.tellRunning { [readers] process in
      // The answer may take as long as the statement, and says less than that it takes long.
      await Self.first(within: .seconds(2), or: []) {
        try await readers.use { session in
          try session.read { try Self.blockers(of: process, $0) }
        }
      }
    }
  }

  private static func blockers(
    of process: Int64, _ connection: borrowing Connection
  ) throws -> [LockHolder] {
    try connection.all(
      """
      SELECT DISTINCT b.pid::bigint, coalesce(a.application_name, '')
      FROM unnest(pg_catalog.pg_blocking_pids(\(process)::int)) AS b(pid)
      LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = b.pid ORDER BY 1
      """
    ) { LockHolder(process: try $0.next(), application: try $0.next()) }
  }

  private static func first<T: Sendable>(
    within time: Duration, or other: T, _ work: @escaping @Sendable () async throws -> T
  ) async -> T {
    await withCheckedContinuation { continuation in
      let waiting = Mutex<CheckedContinuation<T, Never>?>(continuation)
      let answer: @Sendable (T) -> Void = { value in
        waiting.withLock { $0.take() }?.resume(returning: value)
      }
      let limit = Task {
        if (try? await Task.sleep(for: time)) != nil { answer(other) }
      }
      Task {
        answer((try? await work()) ?? other)
        limit.cancel()
      }
    }
  }

  /// Completes the writes that wait, waits for reads in progress, and closes the connections.
  ///
  /// Later calls fail with `.closed`.
  public func close() async {
    await writers.close(completingWaiting: true)
    await readers.close(completingWaiting: false)
  }
}

extension PostgreSQLDatabase {
  /// Returns a key up to which the rows of a table are settled.
  ///
  /// A write locks the table before the sequence gives it a key, and unlocks it when it has ended
  /// and others see its rows. So the rows up to the last key that was given are settled once none
  /// of the writes that have the lock then is in progress. No write waits for this.
  ///
  /// The connections are those for writes: after a failover, one for reads may still be to the
  /// server before it, where none of the writes is in progress.
  ///
  /// - Parameters:
  ///   - column: The column with the key, an identity column.
  ///   - table: The table.
  /// - Returns: The key; nil when a write in progress didn't end within a second, or the server
  ///   isn't the same at the end.
  /// - Throws: ``DatabaseError``.
  public nonisolated(nonsending) func settledKey(
    _ column: StaticString, of table: StaticString
  ) async throws -> Int64? {
    let (column, table) = (column.description, table.description)
    let first = try await look(column, table)
    var earlier = first.writes
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(1)
    while !earlier.isEmpty {
      guard clock.now < deadline else { return nil }
      try await clock.sleep(for: .milliseconds(10))
      let next = try await look(column, table)
      guard next.server == first.server else { return nil }
      earlier.formIntersection(next.writes)
    }
    return first.key
  }

  /// Returns who has changed a table for a second or longer in a transaction that hasn't ended.
  ///
  /// - Throws: ``DatabaseError``.
  public nonisolated(nonsending) func unsettled(
    in table: StaticString
  ) async throws -> [LockHolder] {
    let table = table.description
    let first = try await read { Set(try Self.holders(of: table, $0).map(\.transaction)) }
    try await Task.sleep(for: .seconds(1))
    let second = try await read { try Self.holders(of: table, $0) }
    return second.filter { first.contains($0.transaction) }.map(\.holder)
  }

  private static func holders(
    of table: String, _ connection: borrowing Connection
  ) throws -> [(transaction: String, holder: LockHolder)] {
    try connection.all(
      """
      SELECT l.virtualtransaction, coalesce(l.pid, 0)::bigint, coalesce(a.application_name, '')
      FROM pg_catalog.pg_locks AS l
      LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
      WHERE l.locktype = 'relation' AND l.relation = \(table)::regclass AND l.granted
        AND l.mode = 'RowExclusiveLock' AND l.database = (
          SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
      ORDER BY 2
      """
    ) { row in
      (try row.next(), LockHolder(process: try row.next(), application: try row.next()))
    }
  }

  /// What a look at a table finds.
  private struct Finding {
    /// When the server was started, which distinguishes it from its copies.
    var server: String
    /// The last key that was given; 0 for none.
    var key: Int64
    /// The transactions that have inserted rows, or are about to.
    var writes: Set<String>
  }

  /// Looks at a table of the server that accepts writes.
  private nonisolated(nonsending) func look(
    _ column: String, _ table: String
  ) async throws -> Finding {
    let retries = retries
    return try await writers.use { session in
      try session.write(retries) { connection in
        // In this order: a write that is given a key later can have the lock, but not the reverse.
        let (server, key) = try Self.lastKey(column, of: table, connection)
        return Finding(server: server, key: key, writes: try Self.writes(to: table, connection))
      }
    }
  }

  /// Returns the server, and the last key that the sequence of a column has given.
  private static func lastKey(
    _ column: String, of table: String, _ connection: borrowing Connection
  ) throws -> (server: String, key: Int64) {
    try connection.first(
      """
      SELECT pg_catalog.pg_postmaster_start_time()::text,
        coalesce(pg_catalog.pg_sequence_last_value(
          pg_catalog.pg_get_serial_sequence(\(table), \(column))::regclass), 0)
      """
    ) { (try $0.next(), try $0.next()) } ?? ("", 0)
  }

  /// Returns the transactions that have inserted rows into a table, or are about to.
  private static func writes(
    to table: String, _ connection: borrowing Connection
  ) throws -> Set<String> {
    Set(
      try connection.all(
        """
        SELECT l.virtualtransaction FROM pg_catalog.pg_locks AS l
        WHERE l.locktype = 'relation' AND l.relation = \(table)::regclass AND l.granted
          AND l.mode = 'RowExclusiveLock' AND l.database = (
            SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
        """
      ) { try $0.next() as String })
  }

  /// Returns the settings of the server that decide how much it can do and what a failure loses.
  ///
  /// - Throws: ``DatabaseError``.
  public func settings() async throws -> ServerSettings {
    let sql: SQL = """
      SELECT current_setting('max_connections')::bigint,
        current_setting('max_prepared_transactions')::bigint,
        current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',
        current_setting('synchronous_standby_names') = ''
          AND EXISTS (SELECT 1 FROM pg_catalog.pg_stat_replication)
      """
    let found = try await read { connection in
      try connection.first(sql) { row in
        let (connections, preparedTransactions): (Int, Int) = (try row.next(), try row.next())
        let isOn = ["fsync": try row.next() as Bool, "full_page_writes": try row.next() as Bool]
        return ServerSettings(
          connections: connections, preparedTransactions: preparedTransactions,
          turnedOff: isOn.filter { !$0.value }.keys.sorted(), losesOnFailover: try row.next())
      }
    }
    guard let found else { throw DatabaseError(.unexpectedValue, "the server has no settings") }
    return found
  }
}
