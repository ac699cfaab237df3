import HTTP
import HTTPServer
import Testing

/// Tests for limits on requests and connections.
struct LimitTests {
  private let server: TestServer

  init() throws {
    server = try TestServer(limits: { limits in
      limits.body = { $0.rawPath == "/import" ? 4 << 20 : 1 << 20 }
    })
  }

  @Test(arguments: [(8192, 200), (16_000, 200), (16_385, 414), (20_000, 414)])
  func `a long target is refused`(_ size: Int, _ status: Int) async throws {
    let client = try server.client()
    let target = "/" + String(repeating: "a", count: size - 1)
    await client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
    let answer = try await client.answer()
    #expect(answer.status == status)
    #expect(status == 200 || answer.text == "refused 414 \(target)")
  }

  @Test(arguments: [
    (1, 16 << 10, 200), (1, 16 << 10 + 1, 431), (200, 15_000, 200), (60, 20_000, 431),
  ])
  func `a large header is refused`(_ lines: Int, _ size: Int, _ status: Int) async throws {
    let client = try server.client()
    var text = "GET / HTTP/1.1\r\nHost: h\r\n"
    let spare = size - text.utf8.count - 2
    for line in 0..<lines {
      let length = spare * (line + 1) / lines - spare * line / lines
      text += "X: " + String(repeating: "a", count: length - 5) + "\r\n"
    }
    await client.send(text + "\r\n")
    let answer = try await client.answer()
    #expect(answer.status == status)
    #expect(status == 200 || answer.text == "refused 431 /")
  }

  @Test(arguments: [100_000, 1 << 20])
  func `a huge header is refused too`(_ size: Int) async throws {
    let client = try server.client()
    await client.send(
      "GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "a", count: size) + "\r\n\r\n")
    #expect(try await client.answer().status == 431)
  }

  @Test(arguments: [
    ("/", 1 << 20, 200), ("/", 1 << 20 + 1, 413), ("/import", 4 << 20, 200),
    ("/import", 4 << 20 + 1, 413),
  ])
  func `a long body is refused, with Content-Length or chunked`(
    _ target: String, _ size: Int, _ status: Int
  ) async throws {
    let expected = status == 200 ? "POST \(target) \(size)" : "refused 413 \(target)"
    let body = [UInt8](repeating: 97, count: size)
    let client = try server.client()
    await client.send("POST \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: \(size)\r\n\r\n")
    await client.send(body)
    #expect(try await client.answer().text == expected)

    let other = try server.client()
    await other.send("POST \(target) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    await other.send("\(String(size, radix: 16))\r\n")
    await other.send(body)
    await other.send("\r\n0\r\n\r\n")
    #expect(try await other.answer().text == expected)
  }

  @Test func `a client that expects 100-continue is refused before sending the body`() async throws
  {
    let client = try server.client()
    await client.send(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n")
    #expect(try await client.answer().text == "refused 413 /")
    #expect(try await client.isAtEnd())
  }

  @Test func `a huge Content-Length is refused immediately`() async throws {
    let client = try server.client()
    await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 900000000000\r\n\r\n")
    #expect(try await client.answer().text == "refused 413 /")
    #expect(try await client.isAtEnd())
  }

  @Test func `endless chunks close the connection`() async throws {
    let server = try TestServer(limits: { $0.bodyDeadline = .milliseconds(300) })
    let client = try server.client()
    await client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    let chunk = "10000\r\n" + String(repeating: "a", count: 0x10000) + "\r\n"
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end, await client.send(chunk) {}
    #expect(ContinuousClock.now < end)
  }

  @Test func `the total size of pending bodies is limited`() async throws {
    let server = try TestServer(limits: { $0.bodiesTogether = 8 * 1_500_000 })
    let body = [UInt8](repeating: 97, count: 1_000_000)
    let header = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n"
    let slow = try server.client()
    await slow.send(header)
    await slow.send(Array(body.dropLast()))
    let other = try server.client()
    var status = 200
    // The engine may not have read the whole first body yet.
    for _ in 0..<100 where status == 200 {
      await other.send(header)
      await other.send(body)
      status = try await other.answer().status
    }
    #expect(status == 503)
    await slow.send("a")
    #expect(try await slow.answer().text == "POST / 1000000")
    let again = try server.client()
    await again.send(header)
    await again.send(body)
    #expect(try await again.answer().text == "POST / 1000000")
  }

  @Test func `C15: connections per network are limited`() async throws {
    let server = try TestServer(limits: { $0.connectionsPerNetwork = 3 })
    var clients: [Client] = []
    for _ in 0..<3 {
      let client = try server.client()
      await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.answer().status == 200)
      clients.append(client)
    }
    let late = try server.client()
    await late.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await late.isAtEnd())
    await clients[0].close()
    let hasRoom = await eventually { server.server.connectionCount == 2 }
    #expect(hasRoom)
    let again = try server.client()
    await again.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await again.answer().status == 200)
  }

  @Test func `at the connection limit, the longest idle connection is closed`() async throws {
    let server = try TestServer(limits: { $0.connections = 4 })
    var clients: [Client] = []
    for _ in 0..<4 {
      let client = try server.client()
      await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.answer().status == 200)
      clients.append(client)
      // The clock has a resolution of milliseconds, so keep idle times apart.
      try await Task.sleep(for: .milliseconds(10))
    }
    await clients[0].send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await clients[0].answer().status == 200)
    let late = try server.client()
    await late.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await late.answer().status == 200)
    #expect(try await clients[1].isAtEnd())
    for client in [clients[0], clients[2], clients[3], late] {
      await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.answer().status == 200)
    }
  }

  @Test func `at the connection limit, the oldest connection without a complete header is closed`()
    async throws
  {
    let latch = Latch()
    let server = try TestServer(
      limits: { $0.connections = 3 },
      handler: { request in
        if request.target.rawPath == "/wait" { await latch.pass() }
        return .text("done")
      })
    let busy = try server.client()
    await busy.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
    let isBusy = await eventually { latch.count == 1 }
    #expect(isBusy)
    var unfinished: [Client] = []
    for count in 2...3 {
      let client = try server.client()
      await client.send("GET / HTTP/1.1\r\nHost: h\r\n")
      let isOpen = await eventually { server.server.connectionCount == count }
      #expect(isOpen)
      unfinished.append(client)
      // The clock has a resolution of milliseconds, so keep their times apart.
      try await Task.sleep(for: .milliseconds(10))
    }
    let late = try server.client()
    await late.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await late.answer().status == 200)
    #expect(try await unfinished[0].isAtEnd())
    await unfinished[1].send("\r\n")
    #expect(try await unfinished[1].answer().status == 200)
    latch.open()
    #expect(try await busy.answer().text == "done")
  }

  @Test func `while all connections are busy, new clients wait`() async throws {
    let latch = Latch()
    let server = try TestServer(
      limits: { $0.connections = 2 },
      handler: { request in
        if request.target.rawPath == "/wait" { await latch.pass() }
        return .text("done")
      })
    var clients: [Client] = []
    for _ in 0..<2 {
      let client = try server.client()
      await client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
      clients.append(client)
    }
    let areBusy = await eventually { latch.count == 2 }
    #expect(areBusy)
    let late = try server.client(patience: 1)
    await late.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    await #expect(throws: Client.Failure.self) { try await late.answer() }
    latch.open()
    for client in clients { #expect(try await client.answer().text == "done") }
    var answer: Client.Answer?
    for _ in 0..<5 where answer == nil { answer = try? await late.answer() }
    #expect(answer?.status == 200)
  }
}
