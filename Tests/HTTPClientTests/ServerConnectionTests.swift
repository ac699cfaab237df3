import Dispatch
import Glibc
import Network
import Testing

@testable import HTTPClient

/// Tests of connections without answers, with a socket on this machine.
@Suite(.timeLimit(.minutes(1)))
struct ServerConnectionTests {
  private func connection(to receiver: LocalReceiver) throws -> ServerConnection {
    let connection = ServerConnection(
      ServerConnection.Server(
        "127.0.0.1:\(receiver.port)", isSecure: false,
        addresses: AddressPolicy(allowing: ["127.0.0.0/8"].compactMap { AddressRange($0) }),
        authority: nil))
    try connection.open()
    return connection
  }

  /// Waits until the connection has another state than open.
  private func ended(_ connection: ServerConnection) -> ServerConnection.State {
    for _ in 0..<1_000 {
      let state = connection.state
      guard case .open = state else { return state }
      usleep(1_000)
    }
    return .open
  }

  @Test func `a connection is open until the server closes it`() throws {
    let receiver = try LocalReceiver()
    let connection = try connection(to: receiver)
    let socket = receiver.accepted()
    try connection.send(Array("one".utf8))
    #expect(connection.state == .open)
    var buffer = [UInt8](repeating: 0, count: 16)
    #expect(unsafe recv(socket, &buffer, 16, 0) == 3)
    close(socket)
    #expect(ended(connection) == .closed)
  }

  @Test func `a reset breaks it, and leaves no message where memory was freed`() throws {
    for _ in 0..<20 {
      let receiver = try LocalReceiver()
      let connection = try connection(to: receiver)
      let socket = receiver.accepted()
      // What takes the place of the buffer that libcurl had while it connected.
      let others = (0..<64).map { _ in [UInt8](repeating: 0xA5, count: 256) }
      var linger = linger(l_onoff: 1, l_linger: 0)
      unsafe setsockopt(
        socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
      close(socket)
      #expect(ended(connection) == .broken)
      #expect(others.allSatisfy { $0.allSatisfy { $0 == 0xA5 } })
    }
  }

  @Test func `a reset ends sending at once, whatever is unacknowledged`() throws {
    let receiver = try LocalReceiver()
    let connection = try connection(to: receiver)
    let socket = receiver.accepted()
    // More than the receiver's kernel takes while nobody reads; closing it unread resets.
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { _ = close(socket) }
    let start = ContinuousClock.now
    let error = #expect(throws: HTTPClientError.self) {
      try connection.send([UInt8](repeating: 65, count: 1 << 20))
    }
    let isInterrupted = if case .interrupted? = error { true } else { false }
    #expect(isInterrupted && ContinuousClock.now - start < .seconds(5))
  }

  @Test func `a server that only talks counts as broken`() throws {
    let receiver = try LocalReceiver()
    let connection = try connection(to: receiver)
    let socket = receiver.accepted()
    let talk = [UInt8](repeating: 65, count: 80 << 10)
    #expect(unsafe send(socket, talk, talk.count, 0) == talk.count)
    usleep(20_000)
    #expect(connection.state == .broken)
    close(socket)
  }
}
