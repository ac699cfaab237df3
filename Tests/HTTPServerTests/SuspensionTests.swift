import HTTP
import HTTPServer
import Testing

/// Tests for handlers that suspend.
@Suite(.timeLimit(.minutes(1)))
struct SuspensionTests {
  private let latch = Latch()
  private let server: TestServer

  init() throws {
    let latch = latch
    server = try TestServer(handler: { request in
      if request.target.rawPath.hasPrefix("/wait") { await latch.pass() }
      return .text("\(request.target.rawPath) \(request.body.count)")
    })
  }

  @Test func `many handlers can suspend while other requests are served`() async throws {
    var clients: [Client] = []
    for number in 0..<64 {
      let client = try server.client()
      await client.send("POST /wait\(number) HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab")
      clients.append(client)
    }
    let allWait = await eventually { latch.count == 64 }
    #expect(allWait)
    let other = try server.client()
    await other.send("GET /now HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await other.answer().text == "/now 0")
    latch.open()
    for (number, client) in clients.enumerated() {
      #expect(try await client.answer().text == "/wait\(number) 2")
      await client.send("GET /again HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.answer().text == "/again 0")
    }
  }

  @Test func `clients can disconnect while their handlers are suspended`() async throws {
    for number in 0..<16 {
      let client = try server.client()
      await client.send("GET /wait\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
      let waits = await eventually { latch.count == number + 1 }
      #expect(waits)
      await client.close()
    }
    latch.open()
    let isEmpty = await eventually { server.server.connectionCount == 0 }
    #expect(isEmpty)
    let client = try server.client()
    await client.send("GET /now HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await client.answer().text == "/now 0")
  }

  @Test func `a client can disconnect in the middle of a request`() async throws {
    // The engine can miss that a client closed right after sending, but the deadline catches it.
    let server = try TestServer(limits: { limits in
      limits.headerDeadline = .seconds(3)
      limits.bodyDeadline = .seconds(3)
    })
    for text in [
      "G", "GET / HTTP/1.1\r\nHost", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ] {
      let client = try server.client()
      await client.send(text)
      let isThere = await eventually { server.server.connectionCount == 1 }
      #expect(isThere)
      await client.close()
      let isGone = await eventually { server.server.connectionCount == 0 }
      #expect(isGone)
    }
  }

  @Test func `pipelined requests wait in order`() async throws {
    let client = try server.client()
    await client.send(
      (0..<8).map { "GET /wait\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined())
    let waits = await eventually { latch.count == 1 }
    #expect(waits)
    latch.open()
    for number in 0..<8 { #expect(try await client.answer().text == "/wait\(number) 0") }
  }

  @Test func `races between responses and suspension lose no response`() async throws {
    let server = try TestServer(handler: { request in
      let turns = (request.target.query.text("n").flatMap { Int($0) } ?? 0) % 5
      for _ in 0..<turns { await Task.yield() }
      return .text(request.target.query.text("n") ?? "")
    })
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 {
        let client = try server.client()
        group.addTask {
          for number in 0..<500 {
            await client.send("GET /?n=\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
            let text = try await client.answer().text
            #expect(text == "\(number)")
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
