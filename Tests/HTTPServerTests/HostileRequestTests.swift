import HTTP
import HTTPServer
import Testing

/// Tests for malformed requests.
struct HostileRequestTests {
  private let server: TestServer

  init() throws {
    server = try TestServer()
  }

  /// Sends a request, and expects one error response before the connection closes.
  private func refusal(_ request: String) async throws -> Client.Answer {
    let client = try server.client()
    await client.send(request)
    let answer = try await client.answer()
    #expect(try await client.isAtEnd())
    return answer
  }

  private static let next = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"

  @Test(arguments: [
    "Content-Length: 3\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 3",
    "Content-Length: 3\r\nContent-Length: 40", "Content-Length: 3\r\nContent-Length: 3",
    "Content-Length: 3, 3", "Content-Length: +3", "Content-Length: -3", "Content-Length: 0x3",
    "Content-Length: 3 3", "Content-Length: ",
    "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding: identity",
    "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: \"chunked\"", "Content-Length: 3\r\n Transfer-Encoding: chunked",
    "Content-Length : 3",
    "Transfer-Encoding : chunked", "Transfer-Encoding:\u{B}chunked", "Content-Length: \u{0}3",
    "X A: b", "X-A\t: b", "X-A: b\rX-B: c", "X-Ä: c", "Host: other",
    // Lowercased, the Kelvin sign is a k.
    "Transfer-Encoding: chun\u{212A}ed",
  ])
  func `an ambiguous header is refused`(_ lines: String) async throws {
    for method in ["POST", "GET", "DELETE", "PATCH"] {
      let client = try server.client()
      await client.send(
        "\(method) /x HTTP/1.1\r\nHost: h\r\n\(lines)\r\n\r\n0\r\n\r\n" + HostileRequestTests.next)
      let text = String(decoding: try await client.rest(), as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 400 ") || text.isEmpty, "\(lines): \(text)")
      #expect(!text.contains("smuggled"), "\(lines)")
      #expect(!text.contains("HTTP/1.1 200"), "\(lines): \(text)")
    }
  }

  @Test func `overlong cookie names and too many combining marks are refused`() async throws {
    let longest = String(repeating: "n", count: 256)
    let marks = "e" + String(repeating: "\u{301}\u{323}", count: 15)
    for (line, status) in [
      ("Cookie: \(longest)=1", 200), ("Cookie: \(longest)x=1", 400),
      ("Cookie: a=1; \(longest)x", 200), ("Cookie: a=\(longest)\(longest)", 200),
      ("X-A: \(marks)", 200), ("X-A: \(marks)\u{301}", 400), ("Cookie: a=\(marks)\u{301}", 400),
    ] {
      let client = try server.client()
      await client.send("GET / HTTP/1.1\r\nHost: h\r\n\(line)\r\nConnection: close\r\n\r\n")
      let text = String(decoding: try await client.rest(), as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(line): \(text.prefix(20))")
    }
  }

  @Test(arguments: [
    ("h", 200), ("h:", 200), ("h:8080", 200), ("H.example.", 200), ("my_app:80", 200), ("", 200),
    ("192.0.2.7:443", 200), ("[::1]", 200), ("[2001:DB8::7]:443", 200), ("a%C3%A4", 200),
    (String(repeating: "h", count: 255) + ":65535", 200),
    ("a b", 400), ("a\tb", 400), ("a@b", 400), ("a/b", 400), ("http://h", 400), ("h?a", 400),
    ("h#a", 400), ("\"h\"", 400), ("<h>", 400), ("ä", 400), ("a%2", 400), ("a%zz", 400),
    ("h:80a", 400), ("h:80:80", 400), ("h:123456", 400), ("::1", 400), ("[::1", 400),
    ("[::1]x", 400), ("[::1]]", 400), ("[]", 400), ("[192.0.2.7]", 400), ("[fe80::1%25e]", 400),
    (String(repeating: "h", count: 256), 400),
  ])
  func `a Host field with an invalid value is refused`(_ host: String, _ status: Int) async throws {
    for version in ["1.1", "1.0"] {
      let client = try server.client()
      await client.send("GET / HTTP/\(version)\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
      let text = String(decoding: try await client.rest(), as: UTF8.self)
      #expect(text.dropFirst(8).hasPrefix(" \(status) "), "\(host): \(text.prefix(20))")
    }
  }

  @Test func `a Content-Length that overflows is refused`() async throws {
    let client = try server.client()
    await client.send(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n"
        + HostileRequestTests.next)
    let text = String(decoding: try await client.rest(), as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 413 "))
    #expect(!text.contains("smuggled"))
  }

  @Test(arguments: [
    "/a%00b", "/%", "/%zz", "/%FF", "a", "*", "/ä", "/a\tb", "/a#b", "/a b",
    "/?a=%",
    "ftp://h/",
  ])
  func `an invalid target is refused`(_ target: String) async throws {
    let client = try server.client()
    await client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n" + HostileRequestTests.next)
    let text = String(decoding: try await client.rest(), as: UTF8.self)
    // Version 0.9.75 of the library closes the connection if there's a space in the target.
    #expect(
      text.hasPrefix("HTTP/1.1 400 ") || target == "/a b" && text.isEmpty, "\(target): \(text)")
    #expect(!text.contains("smuggled"))
  }

  @Test func `errors are formatted by the application`() async throws {
    #expect(try await refusal("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n").text == "refused 400 /")
    let lengths = "Content-Length: 1\r\nContent-Length: 2"
    #expect(
      try await refusal("POST /api HTTP/1.1\r\nHost: h\r\n\(lengths)\r\n\r\n").text
        == "refused 400 /api")
    #expect(
      try await refusal("POST /api HTTP/1.1\r\nHost: h\r\nExpect: gold\r\n\r\n").text
        == "refused 417 /api")
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\nHost: h\r\n\r\n",
    "\u{16}\u{3}\u{1}\r\n\r\n",
    "GET  /  HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1 x\r\nHost: h\r\n\r\n",
    " GET / HTTP/1.1\r\n\r\n",
    "GET / http/1.1\r\nHost: h\r\n\r\n",
  ])
  func `malformed HTTP doesn't reach a handler`(_ text: String) async throws {
    let client = try server.client()
    await client.send(text + HostileRequestTests.next)
    let answer = String(decoding: try await client.rest(), as: UTF8.self)
    #expect(!answer.contains(" 200 "), "\(text): \(answer)")
    #expect(!answer.contains("smuggled"), "\(text): \(answer)")
  }

  @Test(arguments: [
    "3\r\nabcd\r\n0\r\n\r\n", "x\r\nabc\r\n0\r\n\r\n", "-3\r\nabc\r\n0\r\n\r\n",
    "0x3\r\nabc\r\n0\r\n\r\n",
    "FFFFFFFFFFFFFFFFF\r\nabc", " 3\r\nabc\r\n0\r\n\r\n", "\r\n3\r\nabc\r\n0\r\n\r\n",
  ])
  func `malformed chunks close the connection`(_ chunks: String) async throws {
    let client = try server.client()
    await client.send(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
        + HostileRequestTests.next)
    let answer = String(decoding: try await client.rest(), as: UTF8.self)
    #expect(!answer.contains(" 200 "), "\(answer)")
    #expect(!answer.contains("smuggled"), "\(answer)")
  }
}
