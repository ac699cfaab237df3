import HTTP
import HTTPServer
import Testing

/// Tests for request framing, byte by byte.
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
    ("3\r\nabc\r\n0\r\n\r\n", 3), ("0\r\n\r\n", 0), ("1;a=\"b\"\r\nx\r\n0;last\r\n\r\n", 1),
    ("00a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\nX-Sum: 1\r\nX-Other:\r\n\r\n", 20),
    ("2\r\n\r\n\r\n0\r\n\r\n", 2),
  ])
  func `chunks are read, and then the next request`(_ body: String, _ size: Int) async throws {
    for inOne in [true, false] {
      let text = try await answers(FramingTests.head + body + FramingTests.next, inOne: inOne)
      #expect(text.contains("POST /x \(size)HTTP/1.1 200"), "\(text)")
      #expect(text.hasSuffix("GET /next 0"), "\(text)")
    }
  }

  @Test(arguments: [
    "3\nabc\r\n0\r\n\r\n", "3\r\nabc\n0\r\n\r\n", "3\r\nabc\r\n0\n\r\n", "3\r\nabc\r\n0\r\n\n",
    "3\rabc\r\n0\r\n\r\n", "3\r\nabc\r0\r\n\r\n", "3\r\nabc\r\n0\r\r\n", "3\r\r\nabc\r\n0\r\n\r\n",
    "3;a\nb\r\nabc\r\n0\r\n\r\n", "3;a\rb\r\nabc\r\n0\r\n\r\n", "3;\n\r\nabc\r\n0\r\n\r\n",
    "3;a\u{0}\r\nabc\r\n0\r\n\r\n", "3 \r\nabc\r\n0\r\n\r\n", "3\t;a\r\nabc\r\n0\r\n\r\n",
    "3\r\nabc\r\n0\r\nX: a\n\r\n", "3\r\nabc\r\n0\r\nX: a\rb\r\n\r\n",
    "3\r\nabc\r\n0\r\nX a\r\n\r\n",
    "3\r\nabc\r\n0\r\nX: a\r\n b\r\n\r\n", "3\r\nabc\r\n0\r\n: a\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n",
    "\r\n3\r\nabc\r\n0\r\n\r\n", ";a\r\n", "0x3\r\nabc\r\n0\r\n\r\n",
    "0000000000000003\r\nabc\r\n0\r\n\r\n", "ffffffffffffffff\r\na",
  ])
  func `malformed chunks get a 400 response`(_ body: String) async throws {
    for inOne in [true, false] {
      let text = try await answers(FramingTests.head + body + FramingTests.next, inOne: inOne)
      #expect(text.hasPrefix("HTTP/1.1 400 "), "\(body.debugDescription): \(text)")
      #expect(text.hasSuffix("refused 400 /x"), "\(body.debugDescription): \(text)")
      #expect(!text.contains("/next"), "\(body.debugDescription): \(text)")
    }
  }

  @Test func `an endless chunk extension or trailer gets a 400 response`() async throws {
    let long = String(repeating: "e", count: 200_000)
    for body in ["1;\(long)\r\nx\r\n0\r\n\r\n", "1\r\nx\r\n0\r\nX: \(long)\r\n\r\n"] {
      let client = try server.client()
      await client.send(FramingTests.head + body)
      let answer = try await client.answer()
      #expect(answer.status == 400)
      #expect(answer.text == "refused 400 /x")
    }
  }

  @Test(arguments: [
    ("Content-Length: 3, 3", 400), ("Content-Length: abc", 400), ("Content-Length: -1", 400),
    ("Content-Length: 99999999999999999999999", 413), ("no colon", 400),
    ("X: " + String(repeating: "a", count: 100_000), 431),
    ((0..<5000).map { _ in "X: a" }.joined(separator: "\r\n"), 431),
  ])
  func `requests that the engine refuses get one response from the server`(
    _ lines: String, _ status: Int
  )
    async throws
  {
    for method in ["POST", "GET"] {
      let client = try server.client()
      await client.send("\(method) /x HTTP/1.1\r\nHost: h\r\n\(lines)\r\n\r\n")
      let answer = try await client.answer()
      #expect(answer.status == status)
      #expect(answer.text == "refused \(status) /x")
      #expect(answer.all("Content-Length").count == 1)
      #expect(answer.all("Date").count == 1)
      #expect(answer.all("Connection") == ["close"])
      #expect(answer.all("X-Content-Type-Options") == ["nosniff"])
      #expect((try? await client.isAtEnd()) ?? true)
    }
  }

  @Test(arguments: [
    ("GET / HTTP/2.0", 505), ("GET / HTTP/1", 400), ("GET /", 400),
    ("GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1", 414),
  ])
  func `an invalid request line gets one response from the server`(_ line: String, _ status: Int)
    async throws
  {
    let client = try server.client()
    await client.send("\(line)\r\nHost: h\r\n\r\n")
    let answer = try await client.answer()
    #expect(answer.text == "refused \(status) ?")
    #expect(answer["X-Content-Type-Options"] == "nosniff")
  }

  @Test func `many parameters and cookies are accepted`() async throws {
    let server = try TestServer(handler: { request in
      .text(
        "\(request.target.rawQuery?.utf8.count ?? 0) \(request.fields[.cookie]?.utf8.count ?? 0)")
    })
    let client = try server.client()
    let query = String(repeating: "a&", count: 900)
    let cookies = String(repeating: "a;", count: 3000)
    for _ in 0..<3 {
      await client.send("GET /?\(query) HTTP/1.1\r\nHost: h\r\nCookie: \(cookies)\r\n\r\n")
      #expect(try await client.answer().text == "1800 6000")
    }
  }

  @Test(arguments: [1, 2, 3, 4])
  func `bodies end where their framing says, for random input`(_ seed: UInt64) async throws {
    var random = Sequence(seed)
    for _ in 0..<60 {
      let sent = FramingTests.body(&random)
      let bytes = Array(FramingTests.head.utf8) + sent + Array(FramingTests.next.utf8)
      let parts = FramingTests.split(bytes, &random)
      let text = try await answers(parts)
      let shown = String(decoding: sent, as: UTF8.self).debugDescription
      switch FramingTests.size(sent + Array(FramingTests.next.utf8)) {
      case .whole(let size):
        #expect(text.contains("POST /x \(size)HTTP/1.1 200"), "\(shown): \(text)")
        #expect(text.hasSuffix("GET /next 0"), "\(shown): \(text)")
      case .broken:
        #expect(text.hasSuffix("refused 400 /x"), "\(shown): \(text)")
        #expect(!text.contains(" 200 "), "\(shown): \(text)")
      case .unfinished:
        #expect(!text.contains(" 200 ") && !text.contains("/next"), "\(shown): \(text)")
      }
    }
  }

  @Test(arguments: [5, 6, 7, 8])
  func `every response is complete and separate, for random input`(_ seed: UInt64) async throws {
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
      let client = try server.client()
      await client.send(each: FramingTests.split(mutated, &random))
      await client.finish()
      var rest = try await client.restUntilSilence()
      while !rest.isEmpty {
        let shown = String(decoding: mutated, as: UTF8.self).debugDescription
        let answer = try #require(FramingTests.first(&rest), "\(shown)")
        #expect(
          answer.hasPrefix("refused ") || answer.contains(" /"), "\(shown): \(answer)")
      }
    }
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
      if random.below(4) == 0 { bytes += Array(";e=\"1\"".utf8) }
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

  private enum Meaning: Equatable {
    case whole(Int)
    case broken
    case unfinished
  }

  /// Returns the size of a chunked body, parsed line by line with regular expressions.
  private static func size(_ bytes: [UInt8]) -> Meaning {
    var rest = bytes[...]
    var size = 0
    while true {
      let (text, problem) = line(&rest)
      guard let text else { return problem }
      guard text.firstMatch(of: /^[0-9a-fA-F]{1,15}(?:;[^\x00-\x08\x0A-\x1F\x7F]*)?$/) != nil,
        let count = Int(text.prefix { $0 != ";" }, radix: 16)
      else { return .broken }
      if count == 0 { break }
      guard rest.count > count else { return .unfinished }
      rest = rest.dropFirst(count)
      size += count
      guard rest.first == 13 else { return .broken }
      guard let feed = rest.dropFirst().first else { return .unfinished }
      guard feed == 10 else { return .broken }
      rest = rest.dropFirst(2)
    }
    while true {
      let (text, problem) = line(&rest)
      guard let text else { return problem }
      if text.isEmpty { return .whole(size) }
      guard
        text.firstMatch(
          of: /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\x00-\x08\x0A-\x1F\x7F]*$/) != nil
      else { return .broken }
    }
  }

  /// Removes a line up to its CR LF; without one, returns the meaning of the incomplete line.
  private static func line(_ rest: inout ArraySlice<UInt8>) -> (text: String?, problem: Meaning) {
    guard let end = rest.firstIndex(where: { $0 == 13 || $0 == 10 }) else {
      // The incomplete line may already be invalid for a parser that doesn't wait for its end.
      return (nil, .unfinished)
    }
    guard rest[end] == 13 else { return (nil, .broken) }
    guard end + 1 < rest.endIndex else { return (nil, .unfinished) }
    guard rest[end + 1] == 10 else { return (nil, .broken) }
    defer { rest = rest[(end + 2)...] }
    // One character per byte, so that no two bytes are combined.
    return (String(String.UnicodeScalarView(rest[..<end].map { Unicode.Scalar($0) })), .broken)
  }

  /// Removes the first response and returns its body; nil if it isn't a response.
  private static func first(_ bytes: inout [UInt8]) -> String? {
    guard
      let end = bytes.indices.first(where: { bytes[$0...].starts(with: [13, 10, 13, 10]) })
    else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let lengths = lines.compactMap { line in
      line.hasPrefix("Content-Length: ") ? Int(line.dropFirst(16)) : nil
    }
    guard lines.first?.hasPrefix("HTTP/1.1 ") == true, lengths.count == 1,
      lines.dropFirst().allSatisfy({ !$0.hasPrefix("HTTP/") }), bytes.count >= end + 4 + lengths[0]
    else { return nil }
    let body = bytes[(end + 4)..<(end + 4 + lengths[0])]
    defer { bytes.removeFirst(end + 4 + lengths[0]) }
    return String(decoding: body, as: UTF8.self)
  }
}
