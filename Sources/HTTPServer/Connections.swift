import Glibc
import Synchronization

/// All connections of a server.
///
/// A connection leaves before its socket is closed, and sockets are shut under the same lock, so
/// the number of a socket never stands for another client's.
final class Connections: Sendable {
  /// What becomes of a client that connects.
  enum Admission {
    case admitted(Connection)
    /// Its network has its share.
    case refused
    /// There is no room for anybody.
    case full
  }

  private struct State {
    var open: [Int32: Connection] = [:]
    var countOfNetwork: [NetworkAddress: Int] = [:]
    /// For each generation of threads, the connections of each thread.
    var countOfThread: [Int: [Int]] = [:]
    var generation = 0
    /// Connections that had waited longest when all were looked at last, the longest last.
    ///
    /// Others wait since later, so those of these that still wait are still the longest.
    var longestIdle: [(connection: Connection, since: UInt64)] = []
  }

  private let state: Mutex<State>
  /// The generation of threads that serves new clients.
  private let generation = Atomic<Int>(0)
  private let threads: Int
  private let mostPerNetwork: Int
  private let uncounted: [AddressRange]
  private let failure: Connection.Failure

  /// How many of the longest idle are found at once.
  private static let foundAtOnce = 64

  /// Makes an empty list.
  ///
  /// - Parameters:
  ///   - threads: The number of threads that serve.
  ///   - mostPerNetwork: The most connections of one network.
  ///   - uncounted: Networks without such a limit.
  ///   - failure: Makes the answer to a request that no handler sees.
  init(
    threads: Int, mostPerNetwork: Int, uncounted: [AddressRange],
    failure: @escaping Connection.Failure
  ) {
    state = Mutex(State(countOfThread: [0: Array(repeating: 0, count: threads)]))
    self.threads = threads
    self.mostPerNetwork = mostPerNetwork
    self.uncounted = uncounted
    self.failure = failure
  }

  /// Admits a client to the thread that has the fewest.
  ///
  /// - Parameters:
  ///   - socket: The client's socket.
  ///   - address: Its address; nil for what isn't an IP address, which counts as a network.
  ///   - most: The most connections that there is room for.
  ///   - now: The time, in coarse milliseconds.
  ///   - deadline: When its first header must have come.
  /// - Returns: The connection, or why there is none.
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
        thread: thread, now: now, deadline: deadline, failure: failure)
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

  /// The client that was admitted with a socket.
  func find(socket: Int32) -> Connection? {
    state.withLock { $0.open[socket] }
  }

  /// Dismisses a client, before its socket is closed.
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

  /// The number of clients.
  var count: Int { state.withLock(\.open.count) }

  /// Closes the connection that has waited longest for a request.
  ///
  /// - Returns: Whether there was one; the engine takes a moment to let it go.
  func evictLongestIdle() -> Bool {
    state.withLock { state in
      if let connection = Connections.next(&state.longestIdle) {
        connection.shut()
        return true
      }
      state.longestIdle = state.open.values
        .filter { Connections.isIdle($0) }
        .map { ($0, $0.idleSince.load(ordering: .relaxed)) }
        .sorted { $0.since > $1.since }
        .suffix(Connections.foundAtOnce)
      guard let connection = Connections.next(&state.longestIdle) else { return false }
      connection.shut()
      return true
    }
  }

  private static func next(_ longest: inout [(connection: Connection, since: UInt64)])
    -> Connection?
  {
    while let (connection, since) = longest.popLast() {
      if isIdle(connection), connection.idleSince.load(ordering: .relaxed) == since {
        return connection
      }
    }
    return nil
  }

  private static func isIdle(_ connection: Connection) -> Bool {
    connection.phase.load(ordering: .acquiring) == Connection.Phase.waiting
      && !connection.isShut.load(ordering: .relaxed)
  }

  // MARK: - Generations of threads

  /// Gives new clients to other threads from now on.
  func begin(generation: Int) {
    state.withLock { state in
      state.generation = generation
      state.countOfThread[generation] = Array(repeating: 0, count: threads)
      self.generation.store(generation, ordering: .relaxed)
    }
  }

  /// Whether a connection is served by threads that take no more clients.
  func isRetired(_ connection: Connection) -> Bool {
    connection.generation != generation.load(ordering: .relaxed)
  }

  /// Forgets a former generation that serves nobody any more; false while it does.
  func forget(generation: Int) -> Bool {
    state.withLock { state in
      guard generation != state.generation else { return false }
      guard state.countOfThread[generation]?.allSatisfy({ $0 == 0 }) ?? true else { return false }
      state.countOfThread[generation] = nil
      return true
    }
  }

  // MARK: - Ends

  /// Shuts every connection whose deadline has passed.
  func shutExpired(at now: UInt64) {
    shut { $0.deadline.load(ordering: .relaxed) < now }
  }

  /// Shuts every connection that waits for a request.
  func shutWaiting() {
    shut { $0.phase.load(ordering: .acquiring) == Connection.Phase.waiting }
  }

  private func shut(where condition: (Connection) -> Bool) {
    state.withLock { state in
      for connection in state.open.values where condition(connection) {
        connection.expire(at: Connection.never)
        connection.shut()
      }
    }
  }

  /// The exchanges whose handlers are suspended.
  func suspended() -> [Exchange] {
    let open = state.withLock { Array($0.open.values) }
    return open.compactMap { $0.suspended.withLock { $0 } }
  }
}
