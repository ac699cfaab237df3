import Glibc
import Network
import Synchronization

/// All open connections of a server.
///
/// A connection is removed before its socket is closed, and sockets are shut down under the same
/// lock, so a reused file descriptor is never mistaken for an older connection.
final class Connections: Sendable {
  enum Admission {
    case admitted(Connection)
    /// The limit for its network is reached.
    case refused
    /// The limit for all connections is reached.
    case full
  }

  private struct State {
    var open: [Int32: Connection] = [:]
    var countOfNetwork: [NetworkAddress: Int] = [:]
    /// The number of connections of each thread, by generation.
    var countOfThread: [Int: [Int]] = [:]
    var generation = 0
    /// The connections to close for others, found by a scan, the first one last.
    var dispensable: [(connection: Connection, since: UInt64)] = []
    /// When they were found, in coarse milliseconds.
    var found: UInt64 = 0
  }

  private let state: Mutex<State>
  /// The generation of threads that serves new connections.
  private let generation = Atomic<Int>(0)
  private let threads: Int
  private let mostPerNetwork: Int
  private let uncounted: [AddressRange]

  /// The number of connections found in one scan, and how long they're used, in milliseconds.
  private static let (foundAtOnce, usedFor) = (64, UInt64(50))

  /// Creates an empty list; `uncounted` networks are exempt from the limit per network.
  init(threads: Int, mostPerNetwork: Int, uncounted: [AddressRange]) {
    state = Mutex(State(countOfThread: [0: Array(repeating: 0, count: threads)]))
    self.threads = threads
    self.mostPerNetwork = mostPerNetwork
    self.uncounted = uncounted
  }

  /// Admits a client to the thread with the fewest connections, or returns why it's rejected.
  ///
  /// `now`, and `deadline` for the first header, are in coarse milliseconds. Clients without an IP
  /// address are treated as one network.
  func admit(
    socket: Int32, address: NetworkAddress?, atMost most: Int, now: UInt64, deadline: UInt64
  ) -> Admission {
    let isCounted = address.map { address in !uncounted.contains { $0.contains(address) } } ?? true
    let network = Connections.network(address)
    return state.withLock { state in
      let others = isCounted ? state.countOfNetwork[network, default: 0] : 0
      guard others < mostPerNetwork else { return .refused }
      guard state.open.count < most else { return .full }
      let counts = state.countOfThread[state.generation] ?? Array(repeating: 0, count: threads)
      var thread = 0
      for index in counts.indices where counts[index] < counts[thread] { thread = index }
      state.countOfThread[state.generation] = counts
      let connection = Connection(
        socket: socket, address: address, isCounted: isCounted, generation: state.generation,
        thread: thread, now: now, deadline: deadline)
      Connections.add(connection, to: &state)
      return .admitted(connection)
    }
  }

  private static func add(_ connection: Connection, to state: inout State) {
    state.open[connection.socket] = connection
    state.countOfThread[connection.generation]?[connection.thread] += 1
    if connection.isCounted { state.countOfNetwork[network(connection.address), default: 0] += 1 }
  }

  /// Adds another descriptor for a connection's socket, which stays open when the engine closes its
  /// own; nil when there are no free ones.
  func copy(_ connection: Connection, now: UInt64, deadline: UInt64) -> Connection? {
    let socket = fcntl(connection.socket, F_DUPFD_CLOEXEC, 0)
    guard socket >= 0 else { return nil }
    let copy = Connection(
      socket: socket, address: connection.address, isCounted: connection.isCounted,
      generation: connection.generation, thread: connection.thread, now: now, deadline: deadline)
    copy.begin()
    copy.wait(since: now, until: deadline)
    state.withLock { Connections.add(copy, to: &$0) }
    return copy
  }

  /// Returns the network that an address belongs to; all that aren't IP addresses are one.
  static func network(_ address: NetworkAddress?) -> NetworkAddress {
    address?.network ?? NetworkAddress(high: 0, low: 0)
  }

  func find(socket: Int32) -> Connection? {
    state.withLock { $0.open[socket] }
  }

  /// Removes a connection, before its socket is closed.
  func remove(_ connection: Connection) {
    state.withLock { state in
      guard state.open[connection.socket] === connection else { return }
      state.open[connection.socket] = nil
      state.countOfThread[connection.generation]?[connection.thread] -= 1
      guard connection.isCounted else { return }
      let network = Connections.network(connection.address)
      let others = state.countOfNetwork[network, default: 1] - 1
      state.countOfNetwork[network] = others > 0 ? others : nil
    }
  }

  var count: Int { state.withLock(\.open.count) }

  /// Closes a connection to make room: of the network with the most connections without a complete
  /// request, idle or not, the one without it the longest.
  ///
  /// A client that never completes its request, whether its header or its body, must not keep others
  /// out. Each connection of a trusted proxy counts as a network, since many clients may share it.
  ///
  /// - Returns: Whether there was one; the engine takes a moment to close it.
  func evictIncomplete(at now: UInt64) -> Bool {
    state.withLock { state in
      if now >= state.found + Connections.usedFor { state.dispensable = [] }
      if let connection = Connections.next(&state.dispensable) {
        connection.shut()
        return true
      }
      state.dispensable = Connections.dispensable(among: state.open.values)
      state.found = now
      guard let connection = Connections.next(&state.dispensable) else { return false }
      connection.shut()
      return true
    }
  }

  private static func dispensable(
    among open: some Sequence<Connection>
  ) -> [(connection: Connection, since: UInt64)] {
    let newestFirst = open.filter { isIncomplete($0) }
      .map { (connection: $0, since: $0.idleSince.load(ordering: .relaxed)) }
      .sorted { $0.since > $1.since }
    var counts: [NetworkAddress: Int] = [:]
    // The number of a network's connections, once the older ones are closed.
    let ranked = newestFirst.map { one in
      guard one.connection.isCounted else { return (rank: 1, one: one) }
      let network = network(one.connection.address)
      counts[network, default: 0] += 1
      return (rank: counts[network] ?? 1, one: one)
    }
    let crowds = ranked.filter { $0.rank > 1 }
    return (crowds.isEmpty ? ranked : crowds)
      .sorted { ($0.rank, $1.one.since) < ($1.rank, $0.one.since) }
      .suffix(foundAtOnce).map(\.one)
  }

  private static func next(
    _ dispensable: inout [(connection: Connection, since: UInt64)]
  ) -> Connection? {
    while let (connection, since) = dispensable.popLast() {
      if isIncomplete(connection), connection.idleSince.load(ordering: .relaxed) == since {
        return connection
      }
    }
    return nil
  }

  private static func isIncomplete(_ connection: Connection) -> Bool {
    connection.phase.load(ordering: .acquiring) != Connection.Phase.serving
      && !connection.isShut.load(ordering: .relaxed)
  }

  // MARK: - Generations of threads

  /// Assigns new connections to another generation of threads.
  func begin(generation: Int) {
    state.withLock { state in
      state.generation = generation
      state.countOfThread[generation] = Array(repeating: 0, count: threads)
      self.generation.store(generation, ordering: .relaxed)
    }
  }

  /// Returns whether a connection is served by a retired generation.
  func isRetired(_ connection: Connection) -> Bool {
    connection.generation != generation.load(ordering: .relaxed)
  }

  /// Removes a retired generation without connections; returns false while it has any.
  func forget(generation: Int) -> Bool {
    state.withLock { state in
      guard generation != state.generation else { return false }
      guard state.countOfThread[generation]?.allSatisfy({ $0 == 0 }) ?? true else { return false }
      state.countOfThread[generation] = nil
      return true
    }
  }

  // MARK: - Closing

  func shutExpired(at now: UInt64) {
    shut { $0.deadline.load(ordering: .relaxed) < now }
  }

  /// Shuts down every idle connection, except those that were accepted after `start`, in coarse
  /// milliseconds, and have had no request yet.
  func shutWaiting(sparingNewSince start: UInt64? = nil) {
    shut { connection in
      guard connection.phase.load(ordering: .acquiring) == Connection.Phase.waiting else {
        return false
      }
      guard let start, connection.isNew.load(ordering: .relaxed) else { return true }
      return connection.idleSince.load(ordering: .relaxed) < start
    }
  }

  private func shut(where condition: (Connection) -> Bool) {
    state.withLock { state in
      for connection in state.open.values where condition(connection) {
        connection.expire(at: Connection.never)
        connection.shut()
      }
    }
  }

  /// Returns the exchanges whose handlers are suspended, and that meet a condition.
  func suspended(where condition: (Exchange) -> Bool = { _ in true }) -> [Exchange] {
    let open = state.withLock { Array($0.open.values) }
    return open.compactMap { connection in
      connection.suspended.withLock { $0.flatMap { condition($0) ? $0 : nil } }
    }
  }
}
