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
  /// When the socket is shut, in coarse milliseconds.
  let deadline: Atomic<UInt64>
  let phase = Atomic<UInt8>(Phase.waiting)
  /// The number of the last request; written on the engine's thread only.
  let requests = Atomic<UInt64>(0)
  /// The exchange whose handler is suspended.
  let suspended = Mutex<Exchange?>(nil)

  init(socket: Int32, peer: String, deadline: UInt64) {
    self.socket = socket
    self.peer = peer
    self.deadline = Atomic(deadline)
  }

  /// The number of the next request, which differs from that of any other in this run.
  ///
  /// - Parameter block: Gives a number that no other connection has; each covers 2^24 requests.
  /// - Returns: The number.
  func nextRequest(_ block: () -> UInt64) -> UInt64 {
    var number = requests.load(ordering: .relaxed) &+ 1
    if number & 0xFF_FFFF < 2 { number = block() << 24 | 2 }
    requests.store(number, ordering: .relaxed)
    return number
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
  private let open = Mutex<[Int32: Connection]>([:])

  /// Admits a client.
  func add(socket: Int32, peer: String, deadline: UInt64) -> Connection {
    open.withLock { open in
      let connection = Connection(socket: socket, peer: peer, deadline: deadline)
      open[socket] = connection
      return connection
    }
  }

  /// Dismisses a client, before its socket is closed.
  func remove(_ connection: Connection) {
    open.withLock { open in
      if open[connection.socket] === connection { open[connection.socket] = nil }
    }
  }

  /// The number of clients.
  var count: Int { open.withLock(\.count) }

  /// Shuts every connection whose deadline has passed.
  func shutExpired(at now: UInt64) {
    shut { $0.deadline.load(ordering: .relaxed) < now }
  }

  /// Shuts every connection that waits for a request.
  func shutWaiting() {
    shut { $0.phase.load(ordering: .acquiring) == Connection.Phase.waiting }
  }

  private func shut(where condition: (Connection) -> Bool) {
    open.withLock { open in
      for connection in open.values where condition(connection) {
        connection.expire(at: Connection.never)
        connection.shut()
      }
    }
  }

  /// The exchanges whose handlers are suspended.
  func suspended() -> [Exchange] {
    let open = open.withLock { Array($0.values) }
    return open.compactMap { $0.suspended.withLock { $0 } }
  }
}
