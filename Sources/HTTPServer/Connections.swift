import Glibc
import Synchronization

/// All connections of a server.
///
/// A connection leaves before its socket is closed, and sockets are shut under the same lock, so
/// the number of a socket never stands for another client's.
final class Connections: Sendable {
  private struct State {
    var open: [Int32: Connection] = [:]
    var countOfAddress: [String: Int] = [:]
    var countOfThread: [Int]
  }

  private let state: Mutex<State>
  private let mostPerAddress: Int

  /// Makes an empty list.
  ///
  /// - Parameters:
  ///   - threads: The number of threads that serve.
  ///   - mostPerAddress: The most connections of one address.
  init(threads: Int, mostPerAddress: Int) {
    state = Mutex(State(countOfThread: Array(repeating: 0, count: threads)))
    self.mostPerAddress = mostPerAddress
  }

  /// Admits a client to the thread that has the fewest, or not, when its address has its share.
  func admit(socket: Int32, peer: String, deadline: UInt64) -> Connection? {
    state.withLock { state in
      let others = state.countOfAddress[peer, default: 0]
      guard others < mostPerAddress else { return nil }
      var thread = 0
      for index in state.countOfThread.indices
      where state.countOfThread[index] < state.countOfThread[thread] {
        thread = index
      }
      let connection = Connection(socket: socket, peer: peer, thread: thread, deadline: deadline)
      state.countOfAddress[peer] = others + 1
      state.countOfThread[thread] += 1
      state.open[socket] = connection
      return connection
    }
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
      state.countOfThread[connection.thread] -= 1
      let others = state.countOfAddress[connection.peer, default: 1] - 1
      state.countOfAddress[connection.peer] = others > 0 ? others : nil
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
