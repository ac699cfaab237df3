import Dispatch
import Glibc
import HTTP
import HTTPServer
import Synchronization
import Testing

/// Tests for stopping a server.
@Suite(.timeLimit(.minutes(1)))
struct StopTests {
  private let latch = Latch()
  private let server: TestServer

  init() throws {
    let latch = latch
    server = try TestServer(handler: { request in
      if request.target.rawPath == "/wait" { await latch.pass() }
      return .text(request.target.rawPath)
    })
  }

  @Test func `pending requests are completed and new ones refused`() async throws {
    let idle = try server.client()
    await idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await idle.answer().status == 200)
    let busy = try server.client()
    await busy.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
    let waits = await eventually { latch.count == 1 }
    #expect(waits)

    async let stopped: Void = server.server.stop(grace: .seconds(20))
    #expect(try await idle.isAtEnd())
    #expect(throws: Client.Failure.self) { _ = try server.client() }
    latch.open()
    let answer = try await busy.answer()
    #expect(answer.text == "/wait")
    #expect(answer["Connection"] == "close")
    #expect(try await busy.isAtEnd())
    await stopped
  }

  @Test func `a request on a connection that was just opened is completed`() async throws {
    let server = try TestServer(
      limits: { $0.firstRequest = .seconds(20) }, handler: { .text($0.target.rawPath) })
    let new = try server.client()
    let isAccepted = await eventually { server.server.connectionCount == 1 }
    #expect(isAccepted)
    async let stopped: Void = server.server.stop(grace: .seconds(20))
    try await Task.sleep(for: .milliseconds(100))
    await new.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await new.answer().text == "/late")
    await stopped
  }

  @Test func `connections that were established before a stop are served`() async throws {
    let server = try TestServer(
      limits: { ($0.firstRequest, $0.headerDeadline) = (.seconds(20), .seconds(20)) },
      handler: { .text($0.target.rawPath) })
    // Faster than they can be accepted.
    let clients = try await withThrowingTaskGroup(of: [Client].self) { group in
      for _ in 0..<8 { group.addTask { try (0..<10).map { _ in try server.client() } } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    async let stopped: Void = server.server.stop(grace: .seconds(20))
    for client in clients {
      await client.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.answer().text == "/late")
    }
    await stopped
  }

  @Test func `requests that exceed the grace period get a 503 response`() async throws {
    let busy = try server.client()
    await busy.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
    let waits = await eventually { latch.count == 1 }
    #expect(waits)
    let start = ContinuousClock.now
    await server.server.stop(grace: .milliseconds(100))
    #expect(ContinuousClock.now - start < .seconds(5))
    #expect(try await busy.answer().text == "refused 503 /wait")
    latch.open()
    try await Task.sleep(for: .milliseconds(50))
  }

  @Test func `a server without clients stops immediately, and can be stopped twice`() async throws {
    let start = ContinuousClock.now
    await server.server.stop(grace: .seconds(20))
    await server.server.stop(grace: .seconds(20))
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test func `a released server stops even with pending requests`() async throws {
    var server: TestServer? = try TestServer(handler: { [latch] _ in
      await latch.pass()
      return .noContent
    })
    let client = try #require(try server?.client())
    await client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
    let waits = await eventually { latch.count == 1 }
    #expect(waits)
    server = nil
    _ = try await client.rest()
    latch.open()
  }

  @Test func `a server can be released while handlers are about to be suspended`() async throws {
    for _ in 0..<3 {
      let served = Counter()
      var server: TestServer? = try TestServer(handler: { _ in
        // Suspends after the server has looked for suspended handlers, and until its threads have ended.
        usleep(20_000)
        await withCheckedContinuation { continuation in
          DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(100)) {
            continuation.resume()
          }
        }
        served.value.add(1, ordering: .relaxed)
        return .text("served")
      })
      let clients = try (0..<8).map { _ in try #require(try server?.client()) }
      await withTaskGroup { group in
        for client in clients {
          group.addTask {
            while await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
              let answer = try? await client.answer()
            {
              #expect(answer.text == "served" || answer.text == "refused 503 /")
            }
          }
        }
        let isBusy = await eventually { served.value.load(ordering: .relaxed) > 3 }
        #expect(isBusy)
        server = nil
      }
    }
  }

  @Test func `a port that's in use is reported`() throws {
    let port = server.server.port
    #expect {
      _ = try HTTPServer(
        ServerConfiguration(port: port), failure: { status, _, _ in .text("", status: status) },
        handler: { _ in .noContent })
    } throws: { error in
      guard case .cannotListen(_, port, _, true) = error as? ServerError else { return false }
      return true
    }
  }

  @Test func `an unknown host is reported`() {
    #expect(throws: ServerError.unknownHost("a..b")) {
      _ = try HTTPServer(
        ServerConfiguration(host: "a..b"),
        failure: { status, _, _ in .text("", status: status) }, handler: { _ in .noContent })
    }
  }
}

/// A number that handlers count up.
private final class Counter: Sendable {
  let value = Atomic(0)
}
