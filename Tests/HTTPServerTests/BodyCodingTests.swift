import Compression
import HTTP
import Testing

@testable import HTTPServer

/// Tests for compressed request bodies.
struct BodyCodingTests {
  private static let limit = 1 << 20
  private let server: TestServer

  init() throws {
    server = try TestServer(limits: { limits in limits.body = { _ in Self.limit } })
  }

  private func answer(_ body: [UInt8], _ coding: String, isChunked: Bool) async throws -> String {
    let client = try server.client()
    let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
    await client.send(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: \(coding)\r\n\(framing)\r\n\r\n")
    if isChunked { await client.send("\(String(body.count, radix: 16))\r\n") }
    await client.send(body)
    if isChunked { await client.send("\r\n0\r\n\r\n") }
    return try await client.answer().text
  }

  @Test(arguments: [false, true])
  func `the limit of a compressed body is that of its content`(isChunked: Bool) async throws {
    for (size, expected) in [
      (1, "POST / 1"), (Self.limit, "POST / \(Self.limit)"), (Self.limit + 1, "refused 413 /"),
      (Self.limit * 64, "refused 413 /"),
    ] {
      let body = try #require(gzip([UInt8](repeating: 97, count: size)))
      #expect(body.count < Self.limit)
      #expect(try await answer(body, "gzip", isChunked: isChunked) == expected)
    }
  }

  @Test(arguments: ["gzip", "GZIP", "x-gzip"])
  func `a body of complete gzip members is accepted, and no other`(coding: String) async throws {
    let body = try #require(gzip(Array("some text".utf8)))
    let empty = try #require(gzip([]))
    for (whole, size) in [
      (body, 9), (body + body, 18), (empty, 0), (body + empty + body + empty, 18),
    ] {
      #expect(try await answer(whole, coding, isChunked: false) == "POST / \(size)")
    }
    var damaged = body
    damaged[body.count - 5] ^= 1
    for part in [
      Array(body.dropLast()), body + [0], body + body.dropLast(), body + damaged, damaged,
      body + Array("text".utf8), Array("text".utf8),
    ] {
      #expect(try await answer(part, coding, isChunked: false) == "refused 400 /")
    }
  }

  @Test func `the limit is that of all members together`() async throws {
    let half = try #require(gzip([UInt8](repeating: 97, count: Self.limit / 2)))
    let one = try #require(gzip([97]))
    #expect(try await answer(half + half, "gzip", isChunked: false) == "POST / \(Self.limit)")
    #expect(try await answer(half + half + one, "gzip", isChunked: false) == "refused 413 /")
  }

  @Test(arguments: ["identity", "Identity", ""])
  func `a body that isn't coded is accepted`(coding: String) async throws {
    #expect(try await answer([1, 2, 3], coding, isChunked: false) == "POST / 3")
  }

  @Test(arguments: ["br", "deflate", "gzip, gzip", "gzip, identity", "zstd"])
  func `other codings are refused`(coding: String) async throws {
    #expect(try await answer([1, 2, 3], coding, isChunked: false) == "refused 415 /")
  }

  @Test func `content counts toward the limit of all bodies, and no longer after the response`()
    async throws
  {
    let server = try TestServer(limits: { $0.bodiesTogether = 8 * 600_000 })
    for (size, status) in [(500_000, 200), (700_000, 503), (500_000, 200)] {
      let body = try #require(gzip([UInt8](repeating: 97, count: size)))
      let client = try server.client()
      await client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
      )
      await client.send(body)
      #expect(try await client.answer().status == status)
    }
  }
}
