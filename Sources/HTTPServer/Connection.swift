import Glibc
import Synchronization

/// One socket of a client, from its acceptance to its end.
final class Connection: Sendable {
  /// What a connection is doing, as far as stopping is concerned.
  enum Phase {
    static let waiting: UInt8 = 0
    static let serving: UInt8 = 1
  }

  static let never = UInt64.max

  let socket: Int32
  let peer: String
  let serial: UInt64
  /// When the socket is shut, in coarse milliseconds.
  let deadline: Atomic<UInt64>
  let phase = Atomic<UInt8>(Phase.waiting)
  /// How many requests have come; written on the engine's thread only.
  let requests = Atomic<UInt64>(0)
  /// The exchange whose handler is suspended.
  let suspended = Mutex<Exchange?>(nil)

  init(socket: Int32, peer: String, serial: UInt64, deadline: UInt64) {
    self.socket = socket
    self.peer = peer
    self.serial = serial
    self.deadline = Atomic(deadline)
  }

  /// The number of the next request: it differs from that of any other in this run.
  func nextRequest() -> UInt64 {
    let number = requests.load(ordering: .relaxed)
    requests.store(number + 1, ordering: .relaxed)
    return serial << 24 &+ number
  }

  /// Sets the moment when the socket is shut.
  func expire(at milliseconds: UInt64) {
    deadline.store(milliseconds, ordering: .relaxed)
  }

  /// Cuts both directions; the engine sees it and closes.
  func shut() {
    _ = shutdown(socket, Int32(SHUT_RDWR))
  }
}

/// All connections of a server.
///
/// A connection leaves before its socket is closed, and sockets are shut under the same lock, so
/// the number of a socket never stands for another client's.
final class Connections: Sendable {
  private struct State {
    var open: [Int32: Connection] = [:]
    var serial: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Admits a client.
  func add(socket: Int32, peer: String, deadline: UInt64) -> Connection {
    state.withLock { state in
      state.serial += 1
      let connection = Connection(
        socket: socket, peer: peer, serial: state.serial, deadline: deadline)
      state.open[socket] = connection
      return connection
    }
  }

  /// Dismisses a client, before its socket is closed.
  func remove(_ connection: Connection) {
    state.withLock { state in
      if state.open[connection.socket] === connection { state.open[connection.socket] = nil }
    }
  }

  /// The number of clients.
  var count: Int { state.withLock(\.open.count) }

  /// Shuts every connection whose deadline has passed.
  func shutExpired(at now: UInt64) {
    shut { $0.deadline.load(ordering: .relaxed) < now }
  }

  /// Shuts every connection that waits for a request.
  func shutWaiting() {
    shut { $0.phase.load(ordering: .acquiring) == Connection.Phase.waiting }
  }

  /// Shuts every connection.
  func shutAll() {
    shut { _ in true }
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
