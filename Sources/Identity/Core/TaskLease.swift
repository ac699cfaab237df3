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
    let lease = lease
    try await store.write { try lease.end($0) }
  }
}
