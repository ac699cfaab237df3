import HTTP
import HTTPServer
import Testing

/// Tests for request framing, byte by byte, with any version of the library.
///
/// Version 0.9.75 accepts LF alone as the end of a line, folded lines, and NUL. If it does so in
/// chunks, nothing after them is read.
@Suite(.timeLimit(.minutes(1)))
struct FramingTests {
  private let server: TestServer

  init() throws {
    server = try TestServer()
  }

  private static let head = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
  private static let next = "GET /next HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

  /// Sends parts one at a time, each read before the next if possible, and returns all responses.
  private func answers(_ parts: [[UInt8]], of server: TestServer? = nil) async throws -> String {
    let client = try (server ?? self.server).client()
    await client.send(each: parts)
    await client.finish()
    return String(decoding: try await client.restUntilSilence(), as: UTF8.self)
  }

  private func answers(_ text: String, inOne: Bool) async throws -> String {
    let bytes = Array(text.utf8)
    return try await answers(inOne ? [bytes] : bytes.map { [$0] })
  }

  @Test(arguments: [
    ("3\r\nabc\r\n0\r\n\r\n", 3), ("0\r\n\r\n", 0),
    ("00a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\nX-Sum: 1\r\nX-Other:\r\n\r\n", 20),
    ("2\r\n\r\n\r\n0\r\n\r\n", 2),
  ])
  func `chunks are read, and nothing after them is`(_ body: String, _ size: Int) async throws {
    for inOne in [true, false] {
      let text = try await answers(FramingTests.head + body + FramingTests.next, inOne: inOne)
      #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("Connection: close"), "\(text)")
      #expect(text.hasSuffix("POST /x \(size)"), "\(text)")
    }
  }

  @Test(arguments: [
    "3\rabc\r\n0\r\n\r\n", "3\r\nabc\r0\r\n\r\n", "3\r\nabc\r\n0\r\r\n", "3\r\r\nabc\r\n0\r\n\r\n",
    "3;a\nb\r\nabc\r\n0\r\n\r\n", "3;\n\r\nabc\r\n0\r\n\r\n", "3 \r\nabc\r\n0\r\n\r\n",
    "3\t;a\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\nX a\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n",
    "\r\n3\r\nabc\r\n0\r\n\r\n", ";a\r\n", "0x3\r\nabc\r\n0\r\n\r\n", "ffffffffffffffffff\r\na",
  ])
  func `malformed chunks are refused`(_ body: String) async throws {
    for inOne in [true, false] {
      let text = try await answers(FramingTests.head + body + FramingTests.next, inOne: inOne)
      #expect(text.hasPrefix("HTTP/1.1 4"), "\(body.debugDescription): \(text)")
      #expect(!text.contains(" 200 "), "\(body.debugDescription): \(text)")
    }
  }

  @Test(arguments: [
    "3\nabc\r\n0\r\n\r\n", "3\r\nabc\n0\r\n\r\n", "3\r\nabc\r\n0\n\r\n", "3\r\nabc\r\n0\r\n\n",
    "3\nabc\n0\n\n", "3;a\r\nabc\r\n0;b\r\n\r\n", "3;a\rb\r\nabc\r\n0\r\n\r\n",
    "3;a\u{0}\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\nX: a\n\r\n",
    "3\r\nabc\r\n0\r\nX: a\rb\r\n\r\n",
    "3\r\nabc\r\n0\r\nX: a\r\n b\r\n\r\n", "3\r\nabc\r\n0\r\n: a\r\n\r\n",
  ])
  func `nothing after chunks is read that a version may accept`(_ body: String) async throws {
    for inOne in [true, false] {
      let text = try await answers(FramingTests.head + body + FramingTests.next, inOne: inOne)
      #expect(text.hasPrefix("HTTP/1.1 400 ") || text.hasSuffix("POST /x 3"), "\(text)")
      #expect(!text.contains("/next"), "\(body.debugDescription): \(text)")
    }
  }

  @Test func `a space after the coding is ignored or refused`() async throws {
    let head = FramingTests.head.replacing("chunked\r\n", with: "chunked \r\n")
    let text = try await answers(head + "3\r\nabc\r\n0\r\n\r\n" + FramingTests.next, inOne: true)
    #expect(text.hasPrefix("HTTP/1.1 400 ") || text.hasSuffix("POST /x 3"), "\(text)")
    #expect(!text.contains("/next"), "\(text)")
  }

  @Test func `a request with an endless chunk extension or trailer isn't handled`() async throws {
    let server = try TestServer(limits: { $0.bodyDeadline = .seconds(1) })
    let long = String(repeating: "e", count: 200_000)
    for body in ["1;\(long)\r\nx\r\n0\r\n\r\n", "1\r\nx\r\n0\r\nX: \(long)\r\n\r\n"] {
      let text = try await answers([Array((FramingTests.head + body).utf8)], of: server)
      #expect(!text.contains(" 200 "), "\(text)")
    }
  }

  @Test(arguments: [
    ("Content-Length: 3, 3", 400), ("Content-Length: abc", 400), ("Content-Length: -1", 400),
    ("Content-Length: 99999999999999999999999", 413), ("no colon", 400),
    ("X: " + String(repeating: "a", count: 100_000), 431),
    ((0..<5000).map { _ in "X: a" }.joined(separator: "\r\n"), 431),
  ])
  func `requests that the engine refuses close the connection`(_ lines: String, _ status: Int)
    async throws
  {
    let request = "POST /x HTTP/1.1\r\nHost: h\r\n\(lines)\r\n\r\n"
    for parts in [[request], [String(request.dropLast(5)), String(request.suffix(5))]] {
      let text = try await answers(
        parts.map { Array($0.utf8) } + [Array(FramingTests.next.utf8)])
      #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(lines.prefix(40)): \(text)")
      #expect(!text.contains(" 200 "), "\(lines.prefix(40)): \(text)")
    }
  }

  @Test(arguments: [
    ("GET / HTTP/2.0", 505), ("GET / HTTP/1", 400), ("GET /", 400),
    ("GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1", 414),
  ])
  func `an invalid request line closes the connection`(_ line: String, _ status: Int)
    async throws
  {
    let text = try await answers([Array("\(line)\r\nHost: h\r\n\r\n\(FramingTests.next)".utf8)])
    #expect(text.hasPrefix("HTTP/1.1 \(status) ") && !text.contains(" 200 "), "\(text)")
  }

  @Test func `hundreds of parameters and cookies are accepted, and thousands aren't handled`()
    async throws
  {
    let server = try TestServer(
      limits: { $0.headerDeadline = .seconds(1) },
      handler: { request in
        .text(
          "\(request.target.rawQuery?.utf8.count ?? 0) \(request.fields[.cookie]?.utf8.count ?? 0)")
      })
    let client = try server.client()
    for (query, cookies) in [(300, 1), (1, 300), (150, 150)] {
      let words = (String(repeating: "a&", count: query), String(repeating: "a;", count: cookies))
      await client.send("GET /?\(words.0) HTTP/1.1\r\nHost: h\r\nCookie: \(words.1)\r\n\r\n")
      #expect(try await client.answer().text == "\(2 * query) \(2 * cookies)")
    }
    let query = String(repeating: "a&", count: 4000)
    let text = try await answers(
      [Array("GET /?\(query) HTTP/1.1\r\nHost: h\r\n\r\n\(FramingTests.next)".utf8)], of: server)
    #expect(text.hasPrefix("HTTP/1.1 431 ") || text.isEmpty, "\(text)")
  }

  @Test(arguments: [1, 2, 3, 4])
  func `bodies end where their framing says, for random input`(_ seed: UInt64) async throws {
    var random = Sequence(seed)
    for _ in 0..<60 {
      let sent = FramingTests.body(&random)
      let bytes = Array(FramingTests.head.utf8) + sent + Array(FramingTests.next.utf8)
      let text = try await answers(FramingTests.split(bytes, &random))
      let shown = String(decoding: sent, as: UTF8.self).debugDescription
      #expect(!text.contains("/next"), "\(shown): \(text)")
      if let size = FramingTests.size(sent) {
        #expect(text.hasSuffix("POST /x \(size)"), "\(shown): \(text)")
      }
    }
  }

  @Test(arguments: [5, 6, 7, 8])
  func `nothing is read after a refusal, for random input`(_ seed: UInt64) async throws {
    var random = Sequence(seed)
    let bytes = Array(
      "POST /x?q=1&r HTTP/1.1\r\nHost: h\r\nCookie: a=b; c\r\nContent-Length: 3\r\n\r\nabc".utf8)
    for _ in 0..<60 {
      var mutated = bytes
      for _ in 0...random.below(3) {
        let byte = Array("\r\n\0\t :;,?x9".utf8 + [0xFF])[random.below(12)]
        let at = random.below(mutated.count)
        if random.below(2) == 0 { mutated.insert(byte, at: at) } else { mutated[at] = byte }
      }
      let text = try await answers(
        FramingTests.split(mutated + Array(FramingTests.next.utf8), &random))
      let shown = String(decoding: mutated, as: UTF8.self).debugDescription
      let statuses = text.matches(of: /HTTP\/1\.1 (\d+)/).map(\.1)
      #expect(!statuses.drop { $0 == "200" }.contains("200"), "\(shown): \(text)")
    }
    let text = try await answers([Array(FramingTests.next.utf8)])
    #expect(text.hasSuffix("GET /next 0"), "\(text)")
  }

  // MARK: - Random input and its meaning according to the standard

  /// A deterministic sequence of random numbers (xorshift).
  private struct Sequence {
    var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }
    mutating func below(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(bound))
    }
  }

  /// Returns a chunked body with up to two bytes wrong, missing, or added.
  private static func body(_ random: inout Sequence) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<random.below(4) {
      let size = 1 + random.below(20)
      bytes += Array(String(size, radix: 16, uppercase: random.below(2) == 0).utf8)
      bytes += [13, 10]
      bytes += (0..<size).map { _ in Array("\r\n0a;:".utf8)[random.below(6)] }
      bytes += [13, 10]
    }
    bytes += Array("0\r\n".utf8)
    if random.below(3) == 0 { bytes += Array("X-T: 1\r\n".utf8) }
    bytes += [13, 10]
    for _ in 0..<random.below(3) {
      let at = random.below(bytes.count)
      let byte = Array("\r\n\0 ;:0fx".utf8)[random.below(9)]
      switch random.below(3) {
      case 0: bytes.insert(byte, at: at)
      case 1: bytes[at] = byte
      default: bytes.remove(at: at)
      }
    }
    return bytes
  }

  private static func split(_ bytes: [UInt8], _ random: inout Sequence) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = min(rest.count, random.below(3) == 0 ? 1 : 1 + random.below(60))
      parts.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return parts
  }

  /// Returns the size of a chunked body, parsed line by line with regular expressions; nil if it's
  /// malformed or incomplete.
  private static func size(_ bytes: [UInt8]) -> Int? {
    var rest = bytes[...]
    var size = 0
    while true {
      guard let text = line(&rest), text.wholeMatch(of: /[0-9a-fA-F]{1,15}/) != nil,
        let count = Int(text, radix: 16)
      else { return nil }
      if count == 0 { break }
      guard rest.dropFirst(count).prefix(2) == [13, 10] else { return nil }
      size += count
      rest = rest.dropFirst(count + 2)
    }
    while let text = line(&rest) {
      if text.isEmpty { return size }
      guard
        text.firstMatch(
          of: /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\x00-\x08\x0A-\x1F\x7F]*$/) != nil
      else { return nil }
    }
    return nil
  }

  /// Removes a line up to its CR LF; nil without one, or with a CR or LF alone.
  private static func line(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard let end = rest.firstIndex(where: { $0 == 13 || $0 == 10 }),
      rest[end...].prefix(2) == [13, 10]
    else { return nil }
    defer { rest = rest[(end + 2)...] }
    // One character per byte, so that no two bytes are combined.
    return String(String.UnicodeScalarView(rest[..<end].map { Unicode.Scalar($0) }))
  }
}
