import HTTP
import HTTPServer
import Testing
import Text

/// Tests for well-formed requests.
struct RequestTests {
  private let server: TestServer

  init() throws {
    server = try TestServer()
  }

  @Test(arguments: ["/", "/later", "/a%2Fb?q=1", "/a//b/../c"])
  func `a request gets a response, and the connection stays open`(_ target: String) async throws {
    let client = try server.client()
    for _ in 0..<3 {
      await client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
      let answer = try await client.answer()
      #expect(answer.status == 200)
      #expect(answer.text == "GET \(target.prefix { $0 != "?" }) 0")
      #expect(answer.all("Content-Length").count == 1)
      #expect(answer["Date"] != nil)
      #expect(answer["Server"] == nil)
      #expect(answer["Connection"] != "close")
    }
  }

  @Test(arguments: ["/", "/later"])
  func `HEAD returns the header of GET without a body`(_ target: String) async throws {
    let client = try server.client()
    await client.send("HEAD \(target) HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
    let head = try await client.answer(toHead: true)
    #expect(head["Content-Length"] == String("HEAD \(target) 0".utf8.count))
    #expect(try await client.answer().text == "GET / 0")
  }

  @Test(arguments: ["/", "/later"])
  func `pipelined requests get responses in order`(_ target: String) async throws {
    let client = try server.client()
    let count = 50
    await client.send(
      (0..<count).map { number in
        number.isMultiple(of: 2)
          ? "GET \(target)?\(number) HTTP/1.1\r\nHost: h\r\n\r\n"
          : "POST \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
      }.joined())
    for number in 0..<count {
      let expected = number.isMultiple(of: 2) ? "GET \(target) 0" : "POST \(target) 3"
      #expect(try await client.answer().text == expected)
    }
  }

  @Test(arguments: [0, 1, 1000, 100_000, 1 << 20])
  func `a body is received completely, with Content-Length or chunked`(_ count: Int) async throws {
    let body = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let server = try TestServer { _ in
    } handler: { request in
      Response(body: .bytes(request.body))
    }
    let client = try server.client()
    await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n")
    await client.send(body)
    #expect(try await client.answer().body == body)
    await client.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n")
    for start in stride(from: 0, to: count, by: 7777) {
      let part = body[start..<min(start + 7777, count)]
      await client.send("\(String(part.count, radix: 16));x=y\r\n")
      await client.send(part + [13, 10])
    }
    await client.send("0\r\nX-Trailer: 1\r\n\r\n")
    #expect(try await client.answer().body == body)
  }

  @Test func `a client that expects 100-continue gets it`() async throws {
    let client = try server.client()
    await client.send(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    #expect(try await client.answer().status == 100)
    await client.send("abc")
    #expect(try await client.answer().text == "POST / 3")
  }

  @Test func `a header can arrive in many pieces`() async throws {
    let client = try server.client()
    let long = String(repeating: "x", count: 900)
    await client.send("\r\nGET /a HTT")
    try await Task.sleep(for: .milliseconds(50))
    await client.send("P/1.1\r\nHost: h\r")
    for number in 0..<15 {
      await client.send("\nX-\(number): \(long)\r")
      try await Task.sleep(for: .milliseconds(5))
    }
    await client.send("\n\r\nGET /b HTTP/1.1\r\nHost: h\r\nX-Empty:\r\nX-Spaces: \t \r\n\r\n")
    #expect(try await client.answer().text == "GET /a 0")
    #expect(try await client.answer().text == "GET /b 0")
  }

  @Test func `an HTTP 1.0 client gets a response, and the connection closes`() async throws {
    let client = try server.client()
    await client.send("GET / HTTP/1.0\r\n\r\n")
    let text = String(decoding: try await client.rest(), as: UTF8.self)
    #expect(text.hasSuffix("GET / 0"))
  }

  @Test func `a Connection: close request closes the connection`() async throws {
    let client = try server.client()
    await client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    #expect(try await client.answer()["Connection"] == "close")
    #expect(try await client.isAtEnd())
  }

  @Test func `the handler receives header fields, query, and address`() async throws {
    let server = try TestServer { _ in
    } handler: { request in
      let many = request.fields.all("X-Many").joined(separator: "|")
      let cookie = request.cookies["c"] ?? ""
      return .text(
        "\(request.peer) \(request.isSecure) \(request.target.query["q"] ?? "") \(many) \(cookie)")
    }
    let client = try server.client()
    await client.send(
      "GET /?q=a%20b+c HTTP/1.1\r\nHost: h\r\nx-many: 1\r\nX-MANY:   2, 3  \r\nCookie: c=d\r\n\r\n")
    #expect(try await client.answer().text == "127.0.0.1 false a b c 1|2, 3 d")
  }

  @Test func `request IDs are unique`() async throws {
    let server = try TestServer { _ in
    } handler: {
      .text($0.id.text)
    }
    var ids: Set<String> = []
    for _ in 0..<3 {
      let client = try server.client()
      for _ in 0..<20 {
        await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        ids.insert(try await client.answer().text)
      }
    }
    #expect(ids.count == 60)
  }

  @Test func `one thread works, and so do other hosts and IPv6`() async throws {
    for host in ["127.0.0.1", "localhost", "::1", "0.0.0.0"] {
      let server: HTTPServer
      do {
        server = try HTTPServer(
          ServerConfiguration(host: host, threads: 1),
          failure: { status, _, _ in .text("", status: status) }, handler: TestServer.echo)
      } catch {
        // A machine without IPv6 can't listen on this address.
        #expect(host == "::1")
        continue
      }
      #expect(server.port > 0)
      guard host != "::1", host != "localhost" else { continue }
      let client = try Client(port: server.port)
      await client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.answer().text == "GET /later 0")
    }
  }
}
