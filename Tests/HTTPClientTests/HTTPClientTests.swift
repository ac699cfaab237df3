import HTTP
import HTTPServer
import Network
import Synchronization
import Testing

@testable import HTTPClient

/// Tests of the client with a real server on this machine.
@Suite(.timeLimit(.minutes(1)))
struct HTTPClientTests {
  private static let local = AddressPolicy(
    allowing: ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) })

  private func server(
    _ handler: @escaping @Sendable (Request) async -> Response
  ) throws -> HTTPServer {
    try HTTPServer(
      ServerConfiguration(threads: 2), failure: { status, _, _ in .text("", status: status) },
      refusal: { _ in nil }, handler: handler)
  }

  private func client(_ adjust: (inout HTTPClient.Limits) -> Void = { _ in }) -> HTTPClient {
    var limits = HTTPClient.Limits()
    adjust(&limits)
    return HTTPClient(limits: limits, addresses: Self.local)
  }

  private func url(_ server: HTTPServer, _ path: String = "/", host: String = "127.0.0.1") throws
    -> ClientURL
  {
    try ClientURL("http://\(host):\(server.port)\(path)")
  }

  @Test func `a request has its method, fields, and body, and gets the response`() async throws {
    let server = try server { request in
      let agent = request.fields["x-event"] ?? ""
      return .text("\(request.method) \(request.target.rawPath) \(agent) \(request.body.count)")
    }
    let body = [UInt8](repeating: 65, count: 200_000)
    let request = ClientRequest(
      .post, try url(server, "/hook?a=b"),
      fields: [try #require(.init("X-Event", "7"))], body: body)
    let response = try await client().send(request)
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self) == "POST /hook 7 200000")
    #expect(response.fields["content-type"]?.hasPrefix("text/plain") == true)
  }

  @Test func `an empty body is sent as one`() async throws {
    let server = try server { .text("\($0.method) \($0.body.count)") }
    let response = try await client().send(ClientRequest(.put, try url(server), body: []))
    #expect(String(decoding: response.body, as: UTF8.self) == "PUT 0")
  }

  @Test func `a patch has its method and body`() async throws {
    let server = try server { .text("\($0.method) \($0.body.count)") }
    let request = ClientRequest(.patch, try url(server), body: Array("{}".utf8))
    let response = try await client().send(request)
    #expect(String(decoding: response.body, as: UTF8.self) == "PATCH 2")
  }

  @Test func `a redirect is returned, not followed`() async throws {
    let count = Mutex(0)
    let server = try server { _ in
      count.withLock { $0 += 1 }
      return .redirect(to: "/elsewhere")
    }
    let response = try await client().send(ClientRequest(.get, try url(server)))
    #expect((300..<400).contains(response.status))
    #expect(response.fields["location"]?.hasSuffix("/elsewhere") == true)
    #expect(count.withLock { $0 } == 1)
  }

  @Test(arguments: ["127.0.0.1", "localhost"])
  func `a server at a private address gets no request`(_ host: String) async throws {
    let count = Mutex(0)
    let server = try server { _ in
      count.withLock { $0 += 1 }
      return .text("")
    }
    let request = ClientRequest(.get, try url(server, host: host))
    await #expect(throws: HTTPClientError.addressRefused) {
      try await HTTPClient().send(request)
    }
    #expect(count.withLock { $0 } == 0)
  }

  @Test func `a response that's too large is refused`() async throws {
    let server = try server { _ in .text(String(repeating: "x", count: 5_000)) }
    let request = ClientRequest(.get, try url(server))
    await #expect(throws: HTTPClientError.tooLarge) {
      try await client { $0.longestBody = 4_999 }.send(request)
    }
    #expect(try await client { $0.longestBody = 5_000 }.send(request).body.count == 5_000)
    await #expect(throws: HTTPClientError.tooLarge) {
      try await client { $0.longestHeader = 20 }.send(request)
    }
  }

  @Test func `a response of 16 MiB is accepted if that's the limit`() async throws {
    let most = 16 << 20
    let server = try server { request in
      .text(String(repeating: "x", count: most + request.body.count))
    }
    let client = client { $0.longestBody = most }
    let whole = try await client.send(ClientRequest(.post, try url(server), body: []))
    #expect(whole.body.count == most)
    let larger = ClientRequest(.post, try url(server), body: [0])
    await #expect(throws: HTTPClientError.tooLarge) { try await client.send(larger) }
  }

  @Test func `a request that its status answers keeps the beginning of the body`() async throws {
    let server = try server { _ in .text(String(repeating: "x", count: 5_000)) }
    var request = ClientRequest(.get, try url(server))
    request.isAnsweredByStatus = true
    let response = try await client { $0.longestBody = 10 }.send(request)
    #expect(response.status == 200)
    #expect(response.body == [UInt8](repeating: UInt8(ascii: "x"), count: 4_096))
  }

  @Test(
    arguments: [
      ("HTTP/1.1 204 No Content\r\n\r\n", 204),
      ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", 200),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 200),
      ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Unavailable\r\nContent-Length: 9\r\n\r\n", 503),
      ("HTTP/1.1 100 Continue\r\n\r\n", nil), ("200 OK\r\n\r\n", nil), ("", nil),
    ] as [(String, Int?)])
  func `a body that's cut off is no error if the status answers the request`(
    _ text: String, _ status: Int?
  ) async throws {
    let server = try LocalReceiver()
    var request = ClientRequest(.get, try ClientURL("http://127.0.0.1:\(server.port)/"))
    request.isAnsweredByStatus = true
    server.answerOnce(text)
    do throws(HTTPClientError) {
      let response = try await client().send(request)
      #expect(response.status == status)
    } catch {
      guard case .interrupted = error, status == nil else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test func `a server that doesn't respond in time is given up`() async throws {
    let server = try server { _ in
      try? await Task.sleep(for: .seconds(3))
      return .text("")
    }
    let request = ClientRequest(.get, try url(server))
    await #expect(throws: HTTPClientError.timedOut) {
      try await client { $0.wholeSeconds = 1 }.send(request)
    }
  }

  @Test func `a canceled request ends`() async throws {
    let server = try server { _ in
      try? await Task.sleep(for: .seconds(5))
      return .text("")
    }
    let request = ClientRequest(.get, try url(server))
    let client = client()
    let task = Task { () -> HTTPClientError? in
      do throws(HTTPClientError) {
        _ = try await client.send(request)
        return nil
      } catch { return error }
    }
    try await Task.sleep(for: .milliseconds(200))
    task.cancel()
    #expect(await task.value == .canceled)
  }

  @Test func `a closed port is unreachable, and an unknown name unresolved`() async throws {
    let closed = ClientRequest(.get, try ClientURL("http://127.0.0.1:1/"))
    do throws(HTTPClientError) {
      _ = try await client().send(closed)
      Issue.record("a closed port responded")
    } catch {
      guard case .unreachable = error else {
        Issue.record("\(error)")
        return
      }
    }
    let unknown = ClientRequest(.get, try ClientURL("https://name.invalid/"))
    await #expect(throws: HTTPClientError.unresolved) { try await client().send(unknown) }
  }

  @Test func `a field whose name isn't ASCII is left out`() {
    let exchange = HTTPExchange(HTTPClient.Limits(), AddressPolicy())
    for line in ["HTTP/1.1 200 OK", "a\u{301}\u{323}: x", "X-Chun\u{212A}: y", "X-Id: 7"] {
      #expect(exchange.receive(header: Array("\(line)\r\n".utf8)))
    }
    #expect(exchange.status == 200)
    #expect(exchange.fields == ["x-id": "7"])
  }
}
