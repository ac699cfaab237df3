import HTTP
import Testing

@testable import HTTPServer

/// Tests for slow clients.
@Suite(.timeLimit(.minutes(1)))
struct DeadlineTests {
  private let server: TestServer

  init() throws {
    server = try TestServer(
      limits: { limits in
        limits.headerDeadline = .milliseconds(400)
        limits.bodyDeadline = .milliseconds(400)
        limits.idle = .milliseconds(400)
        limits.writeDeadline = .milliseconds(400)
        limits.minimumRate = 100 << 20
        limits.minimumBodyRate = 100 << 20
      },
      handler: { request in
        guard request.target.rawPath == "/large" else { return await TestServer.echo(request) }
        return Response(body: .bytes([UInt8](repeating: 1, count: 64 << 20)))
      })
  }

  /// Sends a byte at each interval, and returns whether the server closed the connection.
  private func isDisconnected(_ client: Client, sendingEvery pause: Duration) async throws -> Bool {
    for _ in 0..<100 {
      guard await client.send("x") else { return true }
      try await Task.sleep(for: pause)
    }
    return false
  }

  @Test func `a slow header closes the connection, even if bytes keep arriving`() async throws {
    let client = try server.client()
    await client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ")
    #expect(try await isDisconnected(client, sendingEvery: .milliseconds(100)))
  }

  @Test func `a slow second header also closes the connection`() async throws {
    let client = try server.client()
    await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await client.answer().status == 200)
    await client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ")
    #expect(try await isDisconnected(client, sendingEvery: .milliseconds(100)))
  }

  @Test(arguments: ["Content-Length: 1000", "Transfer-Encoding: chunked"])
  func `a slow body closes the connection`(_ framing: String) async throws {
    let client = try server.client()
    await client.send("POST / HTTP/1.1\r\nHost: h\r\n\(framing)\r\n\r\n")
    if framing.hasSuffix("chunked") { await client.send("100\r\n") }
    #expect(try await isDisconnected(client, sendingEvery: .milliseconds(100)))
  }

  @Test(arguments: [(0, 10_000), (1 << 16, 11_000), (1 << 20, 26_000), (16 << 20, 266_000)])
  func `a body has 10 seconds, and one more for each 64 KiB that arrived`(
    _ size: Int, _ milliseconds: UInt64
  ) {
    #expect(Limits().time(forBody: size) == milliseconds)
  }

  @Test func `a client that sends nothing is disconnected`() async throws {
    let client = try server.client()
    #expect(try await client.isAtEnd())
  }

  @Test func `an idle client is disconnected`() async throws {
    let client = try server.client()
    await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await client.answer().status == 200)
    #expect(try await client.isAtEnd())
  }

  @Test func `a client that doesn't read its response is disconnected`() async throws {
    let client = try Client(port: server.server.port, receiveBuffer: 4096)
    await client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(await client.sip(1000) == 1000)
    let isGone = await eventually { server.server.connectionCount == 0 }
    #expect(isGone)
  }

  @Test func `an active client is served for longer than any deadline`() async throws {
    let server = try TestServer(limits: { limits in
      limits.headerDeadline = .seconds(3)
      limits.bodyDeadline = .seconds(3)
      limits.idle = .seconds(3)
    })
    for _ in 0..<6 {
      if try await isServed(by: server, for: .milliseconds(4500)) { return }
    }
    Issue.record("this process paused too often to be an active client")
  }

  /// Sends requests all the time, and returns false if this process paused meanwhile: it wasn't an
  /// active client then, and the server may close its connection.
  private func isServed(by server: TestServer, for duration: Duration) async throws -> Bool {
    let client = try server.client()
    let end = ContinuousClock.now + duration
    var last = ContinuousClock.now
    while last < end {
      do {
        await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n")
        try await Task.sleep(for: .milliseconds(100))
        await client.send("abc")
        let text = try await client.answer().text
        #expect(text == "POST / 3")
        try await Task.sleep(for: .milliseconds(100))
      } catch {
        guard ContinuousClock.now - last > .seconds(1) else { throw error }
        return false
      }
      guard ContinuousClock.now - last < .seconds(1) else { return false }
      last = .now
    }
    return true
  }

  @Test func `a handler that takes too long is given up, before a proxy would be`() async throws {
    #expect(Limits().handlerDeadline < .seconds(25))
    let latch = Latch()
    let server = try TestServer(
      limits: { $0.handlerDeadline = .milliseconds(200) },
      handler: { _ in
        await latch.pass()
        return .text("too late")
      })
    let client = try server.client()
    for _ in 0..<2 {
      await client.send("GET /waits HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.answer().text == "refused 503 /waits")
    }
    latch.open()
  }

  @Test func `a slow handler doesn't close the connection`() async throws {
    let server = try TestServer(
      limits: { limits in
        limits.headerDeadline = .milliseconds(100)
        limits.idle = .milliseconds(100)
        limits.writeDeadline = .milliseconds(100)
      },
      handler: { _ in
        try? await Task.sleep(for: .milliseconds(600))
        return .text("at last")
      })
    let client = try server.client()
    await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await client.answer().text == "at last")
  }
}
