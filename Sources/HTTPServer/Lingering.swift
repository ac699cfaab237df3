import Glibc
import Host
import Synchronization

/// Connections whose request was refused before all of it had arrived.
///
/// The engine closes its own descriptor after the response, which would reset the connection if the
/// client is still sending, and the client might not receive the response. Another descriptor keeps
/// it open until the client closes it too, or for a time; what arrives is discarded.
final class Lingering: Sendable {
  private let connections: Connections
  private let open = Mutex<[Connection]>([])
  /// A pipe that wakes the thread when it's written to.
  private let wake: (reader: Int32, writer: Int32)
  private let isStopping = Atomic<Bool>(false)

  /// Creates an empty list.
  ///
  /// - Throws: ``ServerError/cannotStart(reason:)`` if there are no free file descriptors.
  init(_ connections: Connections) throws(ServerError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .system(.last) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    wake = (ends[0], ends[1])
    self.connections = connections
  }

  /// Keeps a connection open for a time in milliseconds, whose response was sent, before the engine
  /// closes it.
  func add(_ connection: Connection, for time: UInt64) {
    let now = SystemClock.coarseMilliseconds()
    guard let copy = connections.copy(connection, now: now, deadline: now + time) else {
      connection.drain()
      return
    }
    _ = shutdown(copy.socket, Int32(SHUT_WR))
    open.withLock { $0.append(copy) }
    signal()
  }

  /// Discards what arrives, for a time in milliseconds; returns false once it's stopped.
  func discard(for time: UInt64) -> Bool {
    let end = SystemClock.coarseMilliseconds() + time
    while !isStopping.load(ordering: .acquiring) {
      let now = SystemClock.coarseMilliseconds()
      guard now < end else { return true }
      let waiting = open.withLock { $0 }
      var files = ([wake.reader] + waiting.map(\.socket)).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard unsafe poll(&files, nfds_t(files.count), CInt(end - now)) > 0 else { continue }
      if files[0].revents != 0 { awaken() }
      let ended = zip(waiting, files.dropFirst()).filter { connection, file in
        file.revents != 0 && !connection.drain()
      }
      close(ended.map(\.0))
    }
    return false
  }

  func stop() {
    isStopping.store(true, ordering: .releasing)
    signal()
  }

  /// Closes all, once `discard` has ended.
  func closeAll() { close(open.withLock { $0 }) }

  private func close(_ ended: [Connection]) {
    guard !ended.isEmpty else { return }
    let gone = Set(ended.map { ObjectIdentifier($0) })
    open.withLock { open in open.removeAll { gone.contains(ObjectIdentifier($0)) } }
    for connection in ended {
      connections.remove(connection)
      _ = Glibc.close(connection.socket)
    }
  }

  private func signal() { _ = unsafe write(wake.writer, [1], 1) }

  private func awaken() {
    unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      while unsafe read(wake.reader, buffer.baseAddress, buffer.count) > 0 {}
    }
  }

  deinit {
    _ = Glibc.close(wake.reader)
    _ = Glibc.close(wake.writer)
  }
}
