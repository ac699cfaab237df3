import Compression
import HTTP
import Network
import Synchronization
import Testing

@testable import HTTPServer

/// Tests for bodies that are refused by the header, and for the memory that bodies hold.
@Suite(.timeLimit(.minutes(1)))
struct LargeBodyTests {
  /// How a body is sent.
  enum Framing: CaseIterable {
    case length, chunked, coded, chunkedCoded

    func request(_ size: Int, _ lines: String = "") throws -> [UInt8] {
      let content = [UInt8](repeating: 97, count: size)
      let isCoded = self == .coded || self == .chunkedCoded
      let body = isCoded ? try #require(gzip(content)) : content
      var head = "POST /x HTTP/1.1\r\nHost: h\r\n" + lines
      if isCoded { head += "Content-Encoding: gzip\r\n" }
      guard self == .chunked || self == .chunkedCoded else {
        return Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8) + body
      }
      let chunk = "Transfer-Encoding: chunked\r\n\r\n\(String(body.count, radix: 16))\r\n"
      return Array((head + chunk).utf8) + body + Array("\r\n0\r\n\r\n".utf8)
    }
  }

  private static let refusal: @Sendable (Request) async -> Response? = { request in
    let credential = request.fields[.authorization]
    // Suspended, as while a database is asked.
    if credential == "later" { await Task.yield() }
    return ["now", "later"].contains(credential) ? nil : .text("no", status: .unauthorized)
  }

  @Test(arguments: Framing.allCases)
  func `only a body above 64 KiB needs a header that vouches for it, however it's sent`(
    framing: Framing
  ) async throws {
    let asked = Atomic(0)
    let server = try TestServer(refusal: { request in
      asked.add(1, ordering: .relaxed)
      return await Self.refusal(request)
    })
    for (size, credential, expected, asks) in [
      (1, "", "POST /x 1", 0), (64 << 10, "", "POST /x 65536", 0),
      (64 << 10, "now", "POST /x 65536", 0), (64 << 10 + 1, "", "no", 1),
      (1 << 20, "wrong", "no", 1), (1 << 20, "now", "POST /x 1048576", 1),
      (64 << 10 + 1, "later", "POST /x 65537", 1), (1 << 20, "later", "POST /x 1048576", 1),
      (1 << 20 + 1, "later", "refused 413 /x", framing == .length ? 0 : 1),
    ] {
      asked.store(0, ordering: .relaxed)
      let client = try server.client()
      let line = credential.isEmpty ? "" : "Authorization: \(credential)\r\n"
      await client.send(try framing.request(size, line))
      #expect(try await client.answer().text == expected, "\(size) bytes, \(credential)")
      #expect(asked.load(ordering: .relaxed) == asks, "\(size) bytes, \(credential)")
    }
  }

  @Test(arguments: [Framing.length, .chunked, .coded])
  func `without anything that vouches, every body above 64 KiB is refused`(framing: Framing)
    async throws
  {
    let server = try TestServer(refusal: nil)
    for (size, expected) in [(64 << 10, "POST /x 65536"), (64 << 10 + 1, "refused 413 /x")] {
      let client = try server.client()
      await client.send(try framing.request(size))
      #expect(try await client.answer().text == expected)
    }
  }

  @Test(arguments: [16 << 20 + 1])
  func `a client that sends all of a refused body first still gets the response`(size: Int)
    async throws
  {
    for (refusal, expected) in [
      (LargeBodyTests.refusal, "no"), ({ _ in nil }, "refused 413 /x"),
    ] {
      let server = try TestServer(
        limits: { limits in limits.body = { _ in expected == "no" ? 32 << 20 : 16 << 20 } },
        refusal: refusal)
      for framing in [Framing.length, .chunked] {
        let client = try server.client()
        #expect(await client.send(try framing.request(size)))
        #expect(try await client.answer().text == expected)
        await client.close()
        let isGone = await eventually { server.server.connectionCount == 0 }
        #expect(isGone)
      }
    }
  }

  @Test func `a refused body is discarded for a time only, and stopping doesn't wait for it`()
    async throws
  {
    let server = try TestServer(
      limits: { $0.bodyDeadline = .milliseconds(300) }, refusal: Self.refusal)
    let client = try server.client()
    await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n")
    #expect(try await client.answer().text == "no")
    #expect(try await client.isAtEnd())
    let isGone = await eventually { server.server.connectionCount == 0 }
    #expect(isGone)

    let patient = try TestServer(refusal: Self.refusal)
    let other = try patient.client()
    await other.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n")
    #expect(try await other.answer().text == "no")
    let start = ContinuousClock.now
    await patient.server.stop(grace: .seconds(20))
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test func `C15: a body that doesn't fit is refused by its header`() async throws {
    let server = try TestServer(
      trustedProxies: ["127.0.0.1"], limits: { $0.bodiesTogether = 8 << 20 })
    func send(_ size: Int, for network: String) async throws -> Client {
      let client = try server.client()
      await client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: \(network)\r\nContent-Length: \(size)\r\n"
          + "Expect: 100-continue\r\n\r\n")
      return client
    }
    var held: [Client] = []
    let first = try await send(1 << 20, for: "192.0.2.1")
    #expect(try await first.answer().status == 100)
    // A trusted proxy's clients have a share each, and the small ones of a network a separate one.
    for (size, network, status) in [
      (64 << 10 + 1, "192.0.2.1", 503), (64 << 10, "192.0.2.1", 100), (1 << 20, "192.0.2.2", 100),
      (1 << 20, "2001:db8::1", 100), (64 << 10 + 1, "2001:db8::2", 503),
    ] {
      let client = try await send(size, for: network)
      #expect(try await client.answer().status == status, "\(size) bytes of \(network)")
      held.append(client)
    }
    await first.send([UInt8](repeating: 97, count: 1 << 20))
    #expect(try await first.answer().status == 200)
    let again = try await send(1 << 20, for: "192.0.2.1")
    #expect(try await again.answer().status == 100)
  }

  @Test func `large bodies of all networks leave a quarter for small ones`() {
    let memory = BodyMemory(atMost: 8192, longestSmall: 64)
    func network(_ number: Int) -> NetworkAddress { NetworkAddress(high: 0, low: UInt64(number)) }
    for number in 1...6 {
      #expect(memory.change(from: 0, to: 1024, of: network(number)))
      #expect(!memory.change(from: 0, to: 65, of: network(number)))
    }
    #expect(!memory.change(from: 0, to: 65, of: network(7)))
    for number in 1...2 {
      for _ in 0..<16 { #expect(memory.change(from: 0, to: 64, of: network(number))) }
      #expect(!memory.change(from: 0, to: 1, of: network(number)))
    }
    #expect(!memory.change(from: 0, to: 1, of: network(8)))
    // A small body that grows moves to the large ones, or stays what it is.
    #expect(!memory.change(from: 64, to: 65, of: network(1)))
    #expect(memory.change(from: 1024, to: 0, of: network(1)))
    #expect(memory.change(from: 64, to: 65, of: network(1)))
    #expect(memory.change(from: 0, to: 64, of: network(1)))
    #expect(memory.change(from: 65, to: 1, of: network(1)))
  }

  /// What opens a connection without a complete request.
  private static let incomplete = [
    "", "GET / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
  ]

  @Test(arguments: incomplete)
  func `the oldest incomplete request of the network with the most makes room`(_ text: String)
    async throws
  {
    let server = try TestServer(limits: { $0.connections = 5 })
    var clients: [Client] = []
    for source: UInt8 in [2, 3, 3, 3, 4] {
      let client = try server.client(from: source)
      await client.send(text)
      clients.append(client)
      let isOpen = await eventually { server.server.connectionCount == clients.count }
      #expect(isOpen)
      // The clock has a resolution of milliseconds, so keep their times apart.
      try await Task.sleep(for: .milliseconds(10))
    }
    for (source, closed) in [(UInt8(5), 1), (6, 2), (7, 0)] {
      let late = try server.client(from: source)
      await late.send(text)
      #expect(try await clients[closed].isAtEnd())
      clients.append(late)
      // Those found in an earlier scan are used for a while.
      try await Task.sleep(for: .milliseconds(60))
    }
    #expect(server.server.connectionCount == 5)
  }

  @Test func `a trusted proxy's connections aren't counted together`() async throws {
    let server = try TestServer(trustedProxies: ["127.0.0.2"], limits: { $0.connections = 5 })
    var clients: [Client] = []
    for source: UInt8 in [2, 2, 2, 3, 3] {
      let client = try server.client(from: source)
      await client.send(Self.incomplete[2])
      clients.append(client)
      let isOpen = await eventually { server.server.connectionCount == clients.count }
      #expect(isOpen)
      try await Task.sleep(for: .milliseconds(10))
    }
    let late = try server.client(from: 4)
    await late.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await late.answer().status == 200)
    #expect(try await clients[3].isAtEnd())
  }
}
