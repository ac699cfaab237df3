import Crypto
import Database
import Synchronization

/// Decides which of the servers on one database does the tasks that only one of them should do.
///
/// A task that two servers do at once changes nothing twice, since each of its writes checks what's
/// left to do; the lease saves the work, and keeps events in order. A file has one server, which
/// always holds the lease without writing.
public final class TaskLease: Sendable {
  /// The seconds after which another server takes over from one that stopped renewing.
  public static let length: Int64 = 15
  /// How often to call ``renew()``, in seconds.
  public static let interval: Int64 = 5
  /// The seconds before the end from which the holder no longer relies on it.
  private static let margin: Int64 = 2

  private let store: Store
  private let lease: Lease
  private let steady: @Sendable () -> Duration
  private let end = Mutex<Duration?>(nil)

  init(store: Store, steady: @escaping @Sendable () -> Duration) {
    self.store = store
    self.steady = steady
    lease = Lease(name: "tasks", holder: RandomSource.system.uuid(), length: Self.length)
  }

  public var isShared: Bool { store.database.dialect.sharesDatabase }

  public var isHeld: Bool {
    guard store.isUsable else { return false }
    guard isShared else { return true }
    return end.withLock { $0.map { steady() < $0 } ?? false }
  }

  /// Takes the lease if no other server holds it, or renews it.
  ///
  /// - Throws: The database's error; the lease then ends on its own.
  public func renew() async throws {
    guard isShared else { return }
    // Measured from before the write, so that it ends here before it ends for the others.
    let start = steady()
    let now = store.clock.now()
    let lease = lease
    let isTaken = try await store.write { try lease.take(at: now, $0) }
    end.withLock { $0 = isTaken ? start + .seconds(Self.length - Self.margin) : nil }
  }

  /// Lets another server take over at once.
  public func release() async throws {
    guard isShared else { return }
    end.withLock { $0 = nil }
    let (lease, now) = (lease, store.clock.now())
    try await store.database.write { try lease.end(at: now, $0) }
  }

  /// How long nobody may hold the lease before someone has to look, in seconds: a server that was
  /// killed is replaced after ``length`` and ``interval``.
  public static let longestGap: Int64 = 60

  /// Returns since when no server has held the lease; nil if one does, and for a file.
  public func unheldSince() async throws -> Instant? {
    let now = store.clock.now()
    return try await store.read { try Self.unheldSince(at: now, $0) }
  }

  static func unheldSince(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    guard connection.dialect.sharesDatabase else { return nil }
    let until = try connection.first("SELECT until FROM lease WHERE name = 'tasks'") {
      try $0.next() as Instant
    }
    return until.flatMap { $0 <= now ? $0 : nil }
  }
}

/// A lease on a task that only one process may do at a time.
struct Lease: Sendable {
  let name: String
  let holder: String
  /// How long the task is held after each renewal, in seconds.
  let length: Int64

  /// The maximum difference between the clocks of servers on one database, in seconds.
  static let tolerance: Int64 = 60

  /// Takes or renews the lease, in the transaction of the work that it guards.
  ///
  /// A lease that ends later than any that's taken now is from a clock that was set back, or, if
  /// several servers use the database, from a clock that's a little ahead.
  ///
  /// - Returns: False if another process holds it.
  func take(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let until = now.advanced(bySeconds: length)
    let tolerance = connection.dialect.sharesDatabase ? Self.tolerance : 0
    let latest = now.advanced(bySeconds: length + tolerance)
    let changed = try connection.run(
      """
      INSERT INTO lease (name, holder, until) VALUES (\(name), \(holder), \(until))
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE lease.holder IN (excluded.holder, '') OR lease.until <= \(now)
        OR lease.until > \(latest)
      """)
    return changed > 0
  }

  /// Lets another process take it at once; when it was held last stays known.
  func end(at now: Instant, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      UPDATE lease SET holder = '', until = \(now) WHERE name = \(name) AND holder = \(holder)
      """)
  }
}
