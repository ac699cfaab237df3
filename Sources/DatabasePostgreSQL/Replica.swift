import Database
import Synchronization

/// The connections to a replica, for reads whose results say how old they may be.
final class Replica: Sendable {
  private struct State {
    /// The result of the latest check.
    var found = ReplicaState()
    /// Whether a check for ``newState(of:within:)`` is in progress.
    var isBeingMeasured = false
    /// When to check a server again that didn't respond.
    var next: ContinuousClock.Instant?
  }

  /// The result of a check.
  private struct Finding {
    var database: String
    var isReplica: Bool
    /// The time of the last change, in microseconds since 1970.
    var moment: Int64?
    var secondsBehind: Int64?
  }

  /// The time between checks of an unresponsive server.
  private static let pause = Duration.seconds(10)

  let readers: ConnectionPool
  private let mostSecondsBehind: Int
  private let report: @Sendable (ReplicaStatus) -> Void
  private let state = Mutex(State())
  /// Identifies the database that this is a replica of; nil until it's known.
  private let database = Mutex<String?>(nil)

  /// Creates the connections, which are opened when they're needed.
  ///
  /// - Parameters:
  ///   - readers: The connections.
  ///   - mostSecondsBehind: How old its data may be.
  ///   - report: Receives each change of the replica's status.
  init(
    _ readers: ConnectionPool, mostSecondsBehind: Int,
    report: @escaping @Sendable (ReplicaStatus) -> Void
  ) {
    (self.readers, self.mostSecondsBehind, self.report) = (readers, mostSecondsBehind, report)
  }

  /// Borrows a connection, and finds out how old the data of its next snapshot may be.
  ///
  /// The connection isn't opened again until it's given back, since another one may be to another
  /// replica.
  ///
  /// - Parameter primary: Connections to the database that this is a replica of.
  /// - Returns: The connection, and a time up to which the snapshot has all changes, in
  ///   microseconds since 1970; nil if the replica can't be used.
  nonisolated(nonsending) func borrow(
    of primary: ConnectionPool
  ) async -> (slot: ConnectionPool.Slot, moment: Int64)? {
    let isPausing = state.withLock { state in state.next.map { $0 > .now } ?? false }
    guard !isPausing else { return nil }
    guard let own = try? await identifier(primary) else { return nil }
    var borrowed: ConnectionPool.Slot?
    do {
      let slot = try await readers.borrow()
      borrowed = slot
      let finding = try await slot.run { session in
        let found = Result { try Self.look(session) }
        session.settle()
        session.keepsLink = true
        let finding = try found.get()
        guard session.isOpen else { throw DatabaseError.connection("it was closed") }
        return finding
      }
      let status = status(of: finding, own)
      note(ReplicaState(status: status, microseconds: finding.isReplica ? finding.moment : nil))
      if status == .inUse, let moment = finding.moment { return (slot, moment) }
    } catch is CancellationError {
    } catch {
      let reason = (error as? DatabaseError)?.message ?? "\(error)"
      note(ReplicaState(status: .unreachable(reason: reason), microseconds: lastMoment))
    }
    if let borrowed { readers.giveBack(borrowed) }
    return nil
  }

  private var lastMoment: Int64? { state.withLock { $0.found.microseconds } }

  /// Looks at the replica, unless that's being done.
  ///
  /// - Parameters:
  ///   - primary: Connections to the database that this is a replica of.
  ///   - time: How long to wait for that.
  /// - Returns: What the latest look found.
  func newState(of primary: ConnectionPool, within time: Duration) async -> ReplicaState {
    let isFree = state.withLock { state in
      defer { state.isBeingMeasured = true }
      return !state.isBeingMeasured
    }
    if isFree {
      let (ended, end) = AsyncStream<Void>.makeStream()
      Task {
        if let (slot, _) = await borrow(of: primary) { readers.giveBack(slot) }
        state.withLock { $0.isBeingMeasured = false }
        end.finish()
      }
      Task {
        try? await Task.sleep(for: time)
        end.finish()
      }
      for await _ in ended {}
    }
    return state.withLock { $0.found }
  }

  private func status(of finding: Finding, _ own: String) -> ReplicaStatus {
    guard finding.database == own else { return .otherDatabase }
    guard finding.isReplica else { return .notReplica }
    let behind = finding.secondsBehind.map { Int(max($0, 0)) }
    guard let behind, behind <= mostSecondsBehind else { return .behind(seconds: behind) }
    return .inUse
  }

  private func note(_ found: ReplicaState) {
    guard let status = found.status else { return }
    let isNew = state.withLock { state in
      defer { state.found = found }
      if case .unreachable = status { state.next = .now + Self.pause } else { state.next = nil }
      return state.found.status?.kind != status.kind
    }
    if isNew { report(status) }
  }

  private nonisolated(nonsending) func identifier(_ primary: ConnectionPool) async throws -> String
  {
    if let known = database.withLock({ $0 }) { return known }
    let found = try await primary.use { try Self.look($0).database }
    database.withLock { $0 = found }
    return found
  }

  // Transactions that commit at once aren't logged in the order of their times, hence the second.
  private static func look(_ session: PostgreSQLSession) throws -> Finding {
    try session.read { connection in
      try connection.first(
        """
        SELECT system_identifier || '/' || current_database(), pg_catalog.pg_is_in_recovery(),
          ((extract(epoch FROM last) - 1) * 1000000)::bigint,
          extract(epoch FROM clock_timestamp() - last)::bigint
        FROM pg_catalog.pg_control_system(),
          pg_catalog.pg_last_xact_replay_timestamp() AS last
        """
      ) { row in
        Finding(
          database: try row.value(0), isReplica: try row.value(1), moment: try row.value(2),
          secondsBehind: try row.value(3))
      }
    } ?? Finding(database: "", isReplica: false)
  }
}

extension ReplicaStatus {
  /// The status without its details, which change all the time.
  fileprivate var kind: Int {
    switch self {
    case .inUse: 0
    case .behind: 1
    case .unreachable: 2
    case .notReplica: 3
    case .otherDatabase: 4
    }
  }
}
