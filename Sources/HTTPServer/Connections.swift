import Glibc
import Network
import Synchronization

/// All open connections of a server.
///
/// A connection is removed before its socket is closed, and sockets are shut down under the same
/// lock, so a reused file descriptor is never mistaken for an older connection.
final class Connections: Sendable {
  /// The result of admitting a client.
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
    /// The connections that were without a complete header the longest at the last scan, the longest
    /// last.
    ///
    /// All others began to wait later, so those in this list that still wait are still the longest.
    var oldestWithoutHeader: [(connection: Connection, since: UInt64)] = []
  }

  private let state: Mutex<State>
  /// The generation of threads that serves new connections.
  private let generation = Atomic<Int>(0)
  private let threads: Int
  private let mostPerNetwork: Int
  private let uncounted: [AddressRange]

  /// The number of connections found in one scan.
  private static let foundAtOnce = 64

  /// Creates an empty list.
  ///
  /// - Parameters:
  ///   - threads: The number of threads.
  ///   - mostPerNetwork: The maximum number of connections from one network.
  ///   - uncounted: Networks exempt from that limit.
  init(threads: Int, mostPerNetwork: Int, uncounted: [AddressRange]) {
    state = Mutex(State(countOfThread: [0: Array(repeating: 0, count: threads)]))
    self.threads = threads
    self.mostPerNetwork = mostPerNetwork
    self.uncounted = uncounted
  }

  /// Admits a client to the thread with the fewest connections.
  ///
  /// - Parameters:
  ///   - socket: The client's socket.
  ///   - address: The client's address; nil when it isn't an IP address, which is treated as a
  ///     network.
  ///   - most: The maximum number of connections.
  ///   - now: The time, in coarse milliseconds.
  ///   - deadline: When the first header must be complete, in coarse milliseconds.
  /// - Returns: The connection, or why it was rejected.
  func admit(
    socket: Int32, address: NetworkAddress?, atMost most: Int, now: UInt64, deadline: UInt64
  ) -> Admission {
    let isCounted = address.map { address in !uncounted.contains { $0.contains(address) } } ?? true
    let network = Connections.network(address)
    return state.withLock { state in
      let others = isCounted ? state.countOfNetwork[network, default: 0] : 0
      guard others < mostPerNetwork else { return .refused }
      guard state.open.count < most else { return .full }
      var counts = state.countOfThread[state.generation] ?? Array(repeating: 0, count: threads)
      var thread = 0
      for index in counts.indices where counts[index] < counts[thread] { thread = index }
      let connection = Connection(
        socket: socket, address: address, isCounted: isCounted, generation: state.generation,
        thread: thread, now: now, deadline: deadline)
      if isCounted { state.countOfNetwork[network] = others + 1 }
      counts[thread] += 1
      state.countOfThread[state.generation] = counts
      state.open[socket] = connection
      return .admitted(connection)
    }
  }

  private static func network(_ address: NetworkAddress?) -> NetworkAddress {
    address?.network ?? NetworkAddress(high: 0, low: 0)
  }

  /// Returns the connection with a socket.
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

  /// The number of open connections.
  var count: Int { state.withLock(\.open.count) }

  /// Closes the connection that has been without a complete header the longest, idle or not: a client
  /// that never completes its header must not keep others out.
  ///
  /// - Returns: Whether there was one; the engine takes a moment to close it.
  func evictOldestWithoutHeader() -> Bool {
    state.withLock { state in
      if let connection = Connections.next(&state.oldestWithoutHeader) {
        connection.shut()
        return true
      }
      state.oldestWithoutHeader = state.open.values
        .filter { Connections.lacksHeader($0) }
        .map { ($0, $0.idleSince.load(ordering: .relaxed)) }
        .sorted { $0.since > $1.since }
        .suffix(Connections.foundAtOnce)
      guard let connection = Connections.next(&state.oldestWithoutHeader) else { return false }
      connection.shut()
      return true
    }
  }

  private static func next(_ longest: inout [(connection: Connection, since: UInt64)])
    -> Connection?
  {
    while let (connection, since) = longest.popLast() {
      if lacksHeader(connection), connection.idleSince.load(ordering: .relaxed) == since {
        return connection
      }
    }
    return nil
  }

  private static func lacksHeader(_ connection: Connection) -> Bool {
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

  /// Shuts down every connection whose deadline has passed.
  func shutExpired(at now: UInt64) {
    shut { $0.deadline.load(ordering: .relaxed) < now }
  }

  /// Shuts down every idle connection.
  ///
  /// - Parameter start: The time, in coarse milliseconds, which spares connections accepted later
  ///   that have had no request yet; nil to spare none.
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

  /// Returns the exchanges whose handlers are suspended.
  func suspended() -> [Exchange] {
    let open = state.withLock { Array($0.open.values) }
    return open.compactMap { $0.suspended.withLock { $0 } }
  }
}
