import FoundationEssentials
import Glibc
import HTTP
import Testing

@testable import HTTPServer

/// Tests for the access log.
struct AccessLogTests {
  private struct Line: Decodable {
    let time: String
    let level: String
    let event: String
    let id: String
    let proxy_id: String?
    let peer: String
    let method: String
    let path: String
    let status: Int
    let bytes: Int
    let ms: Double
    let cut: Bool?
  }

  private let folder: TemporaryFolder
  private let file: String
  private let log: AccessLog

  init() throws {
    folder = try TemporaryFolder()
    file = folder.path + "/access.log"
    log = try AccessLog(
      fileDescriptor: unsafe open(file, O_WRONLY | O_CREAT | O_APPEND, 0o600))
  }

  private func text() -> String {
    log.writer.flush()
    return String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
  }

  private func lines() throws -> [Line] {
    try text().split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
  }

  private func lines(after requests: [String]) async throws -> [Line] {
    let server = try TestServer(log: log)
    for request in requests {
      let client = try server.client()
      await client.send(request)
      _ = try await client.rest()
    }
    let isEmpty = await eventually { server.server.connectionCount == 0 }
    #expect(isEmpty)
    return try lines()
  }

  @Test func `a request logs one line`() async throws {
    let lines = try await lines(after: [
      "GET /a%20b/c HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
      "HEAD /later HTTP/1.0\r\n\r\n",
    ])
    try #require(lines.count == 2)
    #expect(lines[0].path == "/a%20b/c")
    #expect(lines[0].method == "GET")
    #expect(lines[0].level == "info" && lines[0].event == "request")
    #expect(lines[0].peer == "127.0.0.1")
    #expect(lines[0].status == 200)
    #expect(lines[0].bytes == "GET /a%20b/c 0".utf8.count)
    #expect(lines[0].ms >= 0 && lines[0].ms < 10_000)
    #expect(lines[0].id.utf8.count == 12)
    #expect(lines[0].time.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    #expect(lines[0].cut == nil)
    #expect(lines[1].method == "HEAD")
    #expect(lines[1].bytes == 0)
    #expect(lines[0].id != lines[1].id)
  }

  @Test(arguments: [
    (["127.0.0.0/8"], "7f3a-9q\"k\\2", true),
    (["127.0.0.0/8"], String(repeating: "a", count: 128), true),
    (["127.0.0.0/8"], String(repeating: "a", count: 129), false), (["127.0.0.0/8"], "a b", false),
    (["127.0.0.0/8"], "ä", false), (["127.0.0.0/8"], "a\u{1B}", false),
    (["127.0.0.0/8"], "", false),
    ([], "7f3a", false), (["192.0.2.0/24"], "7f3a", false),
  ])
  func `C8: only a trusted proxy's ID of a request is logged, next to the server's`(
    _ proxies: [String], _ id: String, _ isLogged: Bool
  ) async throws {
    let server = try TestServer(log: log, trustedProxies: proxies)
    let client = try server.client()
    await client.send(
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-Request-ID: \(id)\r\n\r\n")
    _ = try await client.rest()
    let isEmpty = await eventually { server.server.connectionCount == 0 }
    #expect(isEmpty)
    let line = try #require(try lines().first)
    #expect(line.proxy_id == (isLogged ? id : nil))
    #expect(line.id.utf8.count == 12 && line.id != id)
  }

  @Test func `entries have the current time`() async throws {
    let lines = try await lines(after: ["GET / HTTP/1.0\r\n\r\n"])
    let parsed = try Date(
      try #require(lines.first).time,
      strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    #expect(abs(parsed.timeIntervalSinceNow) < 60)
  }

  @Test func `C11: a query isn't logged`() async throws {
    _ = try await lines(after: [
      "GET /a?key=hush-hush HTTP/1.0\r\n\r\n", "GET /%zz?key=hush-hush HTTP/1.0\r\n\r\n",
      "GET http://h/a?key=hush-hush HTTP/1.0\r\n\r\n",
    ])
    #expect(!text().contains("hush"))
    #expect(try lines().map(\.path) == ["/a", "/%zz", "http://h/a"])
  }

  @Test(arguments: [
    "/a\"b", "/a\\b", "/a\",\"status\":999,\"x\":\"", "/\u{1B}[31mred", "/ä€", "/a\u{7F}", "/a\tb",
    "/a\u{8}",
    "/\"}\\n{\"forged\":1}",
  ])
  func `C12: a hostile path is escaped`(_ path: String) async throws {
    let lines = try await lines(after: ["GET \(path) HTTP/1.0\r\n\r\n"])
    try #require(lines.count == 1)
    #expect(lines[0].status != 999)
    #expect(text().utf8.allSatisfy { $0 == 10 || $0 >= 0x20 && $0 < 0x7F })
    let bytes = lines[0].path.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    #expect(String(decoding: bytes, as: UTF8.self) == path)
  }

  @Test func `a long path is truncated`() async throws {
    let lines = try await lines(after: [
      "GET /\(String(repeating: "a", count: 5000)) HTTP/1.0\r\n\r\n"
    ])
    #expect(lines.first?.path.utf8.count == 1024)
  }

  @Test func `refused requests are logged too`() async throws {
    let lines = try await lines(after: [
      "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n",
      "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 900000000\r\n\r\n",
    ])
    #expect(lines.map(\.status) == [400, 413])
    #expect(lines.map(\.path) == ["/%zz", "/x"])
  }

  @Test func `an aborted request is marked`() async throws {
    let server = try TestServer(log: log)
    let client = try server.client()
    await client.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\na")
    let isThere = await eventually { server.server.connectionCount == 1 }
    #expect(isThere)
    try await Task.sleep(for: .milliseconds(50))
    await client.close()
    let isGone = await eventually { server.server.connectionCount == 0 }
    #expect(isGone)
    let lines = try lines()
    #expect(lines.map(\.cut) == [true])
    #expect(lines.map(\.status) == [0])
  }

  @Test func `a moved log is created again on reopening, and nothing is overwritten`() async throws
  {
    let path = folder.path + "/named.log"
    try Data("kept\n".utf8).write(to: URL(filePath: path))
    let log = try AccessLog(path: path)
    let server = try TestServer(log: log)
    func ask(_ path: String) async throws {
      let client = try server.client()
      await client.send("GET \(path) HTTP/1.0\r\n\r\n")
      _ = try await client.rest()
      _ = await eventually { server.server.connectionCount == 0 }
    }
    try await ask("/first")
    try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
    try await ask("/second")
    try log.reopen()
    try await ask("/third")
    log.writer.flush()
    func lines(_ path: String) -> [String] {
      String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        .split(separator: "\n").map(String.init)
    }
    let former = lines(path + ".1")
    #expect(former.count == 3 && former[0] == "kept")
    #expect(former[1].contains("/first") && former[2].contains("/second"))
    let newer = lines(path)
    #expect(newer.count == 1 && newer[0].contains("/third"))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode.map { $0 & 0o007 } == 0)
    log.close()
  }

  @Test func `lines lost to a full disk are counted and reported`() async throws {
    let path = folder.path + "/full.log"
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: "/dev/full")
    let log = try AccessLog(path: path)
    let server = try TestServer(log: log)
    for _ in 0..<3 {
      let client = try server.client()
      await client.send("GET / HTTP/1.0\r\n\r\n")
      _ = try await client.rest()
    }
    let isOver = await eventually { server.server.connectionCount == 0 }
    #expect(isOver)
    log.writer.flush()
    #expect(log.droppedLines == 3)
    try FileManager.default.removeItem(atPath: path)
    try log.reopen()
    log.writer.flush()
    let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    #expect(text == "{\"dropped\":3}\n")
    log.close()
  }

  @Test func `lines are written automatically, and all of them on closing`() async throws {
    let server = try TestServer(log: log)
    let client = try server.client()
    await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    _ = try await client.answer()
    let isWritten = await eventually {
      FileManager.default.contents(atPath: file)?.isEmpty == false
    }
    #expect(isWritten)
    for _ in 0..<100 {
      await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      _ = try await client.answer()
    }
    await server.server.stop(grace: .seconds(1))
    log.close()
    #expect(try lines().count == 101)
    log.close()
  }
}
