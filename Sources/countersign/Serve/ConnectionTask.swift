import Identity

/// Reads the connected projects that are due: the policies of each, also while its users are read, and
/// the users of its pools, one pool after another.
actor ConnectionTask {
  private struct Read: Hashable {
    let project: ID<Project>
    let isOfPolicies: Bool
  }

  private let connections: Connections
  private let clock: WallClock
  private let lease: TaskLease
  private let log: Log
  private var reads: [Read: Task<Void, Never>] = [:]
  /// Why projects aren't read, as it was logged.
  private var causes: [ID<Project>: ConnectionCause] = [:]

  /// The maximum number of projects that are read at a time.
  private static let most = 4
  /// The pause after a failure that isn't stored, such as the database's.
  private static let pause = Duration.seconds(60)

  init(_ identity: Identity, log: Log) {
    (connections, clock) = (identity.connections, identity.clock)
    (lease, self.log) = (identity.taskLease, log)
  }

  /// Begins the reads that are due, on the server that does the tasks of one.
  func look() async throws {
    let due = try await connections.due()
    guard lease.isHeld else { return }
    try await connections.finishChanges()
    for connection in due {
      let read = Read(
        project: connection.project, isOfPolicies: connection.arePoliciesDue(at: clock.now()))
      let projects = Set(reads.keys.map(\.project))
      guard reads[read] == nil, projects.count < Self.most || projects.contains(read.project)
      else { continue }
      reads[read] = Task { await self.run(read, connection) }
    }
  }

  private func run(_ read: Read, _ connection: ProjectConnection) async {
    do {
      try await connections.sync(connection, onlyPolicies: read.isOfPolicies) { [lease] in
        lease.isHeld && !Task.isCancelled
      }
      let new = try await connections.find(read.project)
      if new.cause != causes[new.project], new.state != .disconnected { log.add(.connection(new)) }
      causes[new.project] = new.cause
    } catch {
      if !Task.isCancelled { log.add(.taskFailed(.readConnections, reason: "\(error)")) }
      _ = await slept(Self.pause)
    }
    reads[read] = nil
  }

  /// Ends all reads, which go on later where they stopped.
  func stop() async {
    let running = Array(reads.values)
    for read in running { read.cancel() }
    for read in running { await read.value }
  }
}
