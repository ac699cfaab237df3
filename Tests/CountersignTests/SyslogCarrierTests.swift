import Glibc
import HTTPClient
import Identity
import Network
import Testing

@testable import countersign

/// Tests of what is sent again, with a syslog server on this machine.
@Suite(.timeLimit(.minutes(1)))
struct SyslogCarrierTests {
  private func carrier(to receiver: SyslogReceiver, unread: Duration) -> SyslogCarrier {
    SyslogCarrier(
      ServerConnection.Server(
        "127.0.0.1:\(receiver.port)", isSecure: false,
        addresses: AddressPolicy(allowing: ["127.0.0.0/8"].compactMap { AddressRange($0) }),
        authority: nil),
      unread: unread)
  }

  /// Delivers a message of an entry; returns the result, with the position if it's sent again.
  private func deliver(_ entry: Int64, to carrier: SyslogCarrier) async -> String {
    let before = StreamPosition(sequence: entry - 1, head: 0)
    return switch await carrier.deliver(SyslogReceiver.message, after: before) {
    case .delivered: "delivered"
    case .refused: "refused"
    case .postponed: "postponed"
    case .interrupted(_, after: let position): "again after \(position.sequence)"
    }
  }

  @Test func `unread events are sent again however late a break is noticed`() async throws {
    let receiver = try SyslogReceiver()
    // Any time is longer than the server may take to read.
    let carrier = carrier(to: receiver, unread: .zero)
    #expect(await deliver(1, to: carrier) == "delivered")
    receiver.reset(receiver.accepted())
    #expect(await deliver(2, to: carrier) == "again after 0")
    #expect(await deliver(1, to: carrier) == "delivered")
  }

  @Test(arguments: [
    // A later acknowledgment shows that the earlier event was read.
    (Duration.zero, "again after 1"), (.seconds(3_600), "again after 0"),
  ])
  func `events that were acknowledged long before others aren't sent again`(
    unread: Duration, expected: String
  ) async throws {
    let receiver = try SyslogReceiver()
    let carrier = carrier(to: receiver, unread: unread)
    #expect(await deliver(1, to: carrier) == "delivered")
    #expect(await deliver(2, to: carrier) == "delivered")
    receiver.reset(receiver.accepted())
    #expect(await deliver(3, to: carrier) == expected)
  }

  @Test func `a server that closes its connection has read everything`() async throws {
    let receiver = try SyslogReceiver()
    let carrier = carrier(to: receiver, unread: .seconds(3_600))
    #expect(await deliver(1, to: carrier) == "delivered")
    let first = receiver.accepted()
    receiver.end(first)
    #expect(await deliver(2, to: carrier) == "delivered")
    receiver.reset(receiver.accepted())
    #expect(await deliver(3, to: carrier) == "again after 1")
    close(first)
  }
}

/// A server that accepts connections, and reads only when it's told to.
private final class SyslogReceiver: Sendable {
  static let message = Array("4 test".utf8)
  private let listener: Int32
  let port: UInt16

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let length = size
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, length) == 0 && listen(listener, 4) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    try #require(isBound)
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(listener) }

  func accepted() -> Int32 { accept(listener, nil, nil) }

  /// Resets a connection, as a server that is killed before it has read everything.
  func reset(_ socket: Int32) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
      socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    close(socket)
  }

  /// Reads a message, and ends the connection; returns when the other side knows.
  func end(_ socket: Int32) {
    var buffer = Self.message
    let count = unsafe recv(socket, &buffer, buffer.count, Int32(MSG_WAITALL))
    #expect(count == Self.message.count)
    shutdown(socket, Int32(SHUT_WR))
    // The first byte of `tcp_info` is the state, and 5 is `TCP_FIN_WAIT2`.
    var (state, size) = (0 as UInt8, 1 as socklen_t)
    for _ in 0..<1_000 where state != 5 {
      unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &state, &size)
      usleep(1_000)
    }
    #expect(state == 5)
  }
}
