import HTTP
import Network
import Synchronization
import Testing

@testable import HTTPServer

/// Tests for addresses, networks, and client addresses reported by proxies.
struct NetworkTests {
  @Test(arguments: [
    ("6.6.6.6, 192.0.2.7", "192.0.2.7"), ("192.0.2.7:4711", "192.0.2.7"),
    ("[2001:db8::7]:4711", "2001:db8::7"), ("[2001:db8::7]", "2001:db8::7"),
    ("2001:db8::7", "2001:db8::7"), ("6.6.6.6, 192.0.2.7:80, 10.1.1.1:443", "192.0.2.7"),
    ("6.6.6.6,192.0.2.7 ,\t127.0.0.1", "192.0.2.7"), ("2001:DB8:0::7", "2001:db8::7"),
    // A hop that isn't an address hides everything before it.
    ("6.6.6.6, unknown", "127.0.0.1"), ("6.6.6.6, unknown, 10.1.1.1", "10.1.1.1"),
    ("6.6.6.6, 192.0.2.7:99999", "127.0.0.1"), ("6.6.6.6,", "127.0.0.1"), ("", "127.0.0.1"),
    ("192.0.2.7:port", "127.0.0.1"), ("[2001:db8::7", "127.0.0.1"), ("[192.0.2.7]", "127.0.0.1"),
    ("2001:db8::7]:80", "127.0.0.1"), ("\u{600}", "127.0.0.1"),
    // It doesn't hide what comes after it, even where a comma joins it to one character.
    ("\u{600}, 192.0.2.7", "192.0.2.7"), ("\u{600},192.0.2.7, 10.1.1.1", "192.0.2.7"),
    // If all addresses are proxies, the first one is the client.
    ("10.2.2.2, 10.1.1.1", "10.2.2.2"),
  ])
  func `the client is the last address that isn't a trusted proxy`(
    _ field: String, _ client: String
  ) async throws {
    let server = try TestServer(
      trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"],
      handler: { .text("\($0.peer) \($0.isSecure)") })
    let connection = try server.client()
    await connection.send(
      "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: \(field)\r\nX-Forwarded-Proto: https\r\n\r\n")
    #expect(try await connection.answer().text == "\(client) true")
  }

  @Test func `C8: forwarding headers are accepted only from trusted proxies`() async throws {
    for proxies in [[], ["192.0.2.0/24"]] {
      let server = try TestServer(
        trustedProxies: proxies, handler: { .text("\($0.peer) \($0.isSecure)") })
      let client = try server.client()
      await client.send(
        "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.7\r\n"
          + "X-Forwarded-Proto: https\r\n\r\n")
      #expect(try await client.answer().text == "127.0.0.1 false")
    }
  }

  private func connections(_ proxies: [String] = []) -> Connections {
    Connections(
      threads: 1, mostPerNetwork: 2, uncounted: proxies.compactMap { AddressRange($0) })
  }

  private func admits(_ connections: Connections, _ socket: Int32, _ address: String) -> Bool {
    let admission = connections.admit(
      socket: socket, address: NetworkAddress(address), atMost: 100, now: 0, deadline: 1000)
    guard case .admitted = admission else { return false }
    return true
  }

  @Test func `an IPv6 /64 counts as one network, like a single IPv4 address`() {
    let list = connections()
    #expect(admits(list, 1000, "2001:db8::1") && admits(list, 1001, "2001:db8::2:0:0:1"))
    #expect(!admits(list, 1002, "2001:db8::ffff:ffff:ffff:ffff"))
    #expect(admits(list, 1003, "2001:db8:0:1::1"))
    #expect(admits(list, 1004, "192.0.2.1") && admits(list, 1005, "::ffff:192.0.2.1"))
    #expect(!admits(list, 1006, "192.0.2.1"))
    #expect(admits(list, 1007, "192.0.2.2"))
  }

  @Test func `trusted proxies are exempt from the limit per network`() {
    let list = connections(["10.0.0.0/8"])
    for socket in 1000..<1010 { #expect(admits(list, Int32(socket), "10.0.0.1")) }
    #expect(admits(list, 1010, "192.0.2.1") && admits(list, 1011, "192.0.2.1"))
    #expect(!admits(list, 1012, "192.0.2.1"))
  }

  @Test(arguments: [
    (12_000, 20_000, 12_000), (12_000, 1024, 768), (12_000, 256, 192), (12_000, 4, 3),
    (10, 256, 10),
  ])
  func `a quarter of the file descriptors is reserved for other uses`(
    _ wanted: Int, _ files: Int, _ most: Int
  ) {
    #expect(connectionsThatFit(wanted: wanted, files: files) == most)
  }
}
