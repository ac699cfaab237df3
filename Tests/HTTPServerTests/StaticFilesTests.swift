import FoundationEssentials
import HTTP
import HTTPServer
import Testing

/// Tests for static files held in memory.
struct StaticFilesTests {
  private let folder: TemporaryFolder
  private let files: StaticFiles
  private let style = Array(String(repeating: "body { color: black }\n", count: 400).utf8)

  init() throws {
    folder = try TemporaryFolder()
    try folder.write("console.css", style)
    try folder.write("pictures/logo 1.png", [1, 2, 3])
    try folder.write("empty.txt", [])
    try folder.write(".secret", [9])
    try folder.write(".git/config", [9])
    files = try StaticFiles(
      folder: folder.path, prefix: "/static/", fields: [.xContentTypeOptions: "nosniff"])
  }

  private func response(
    _ text: String, _ method: HTTP.Method = .get, _ fields: Fields = Fields()
  ) throws -> Response? {
    let target = try #require(Target(text))
    return files.response(to: Request(method: method, target: target, fields: fields))
  }

  @Test func `a file is served with its type and entity tag`() throws {
    let response = try #require(try response("/static/console.css"))
    #expect(response.status == .ok)
    #expect(response.body.bytes == style)
    #expect(response.fields[.contentType] == "text/css; charset=utf-8")
    #expect(response.fields[.xContentTypeOptions] == "nosniff")
    #expect(response.fields[.cacheControl] == "no-cache")
    #expect(response.fields[.vary] == "Accept-Encoding")
    #expect(response.fields[.contentEncoding] == nil)
    #expect(response.fields[.eTag] != nil)
  }

  @Test func `a link with the content hash is cached as immutable`() throws {
    let link = try #require(files.link("console.css"))
    #expect(link.hasPrefix("/static/console.css?v="))
    #expect(
      try response(link)?.fields[.cacheControl] == "public, max-age=31536000, immutable")
    #expect(try response("/static/console.css?v=old")?.fields[.cacheControl] == "no-cache")
    #expect(files.link("none.css") == nil)
  }

  @Test func `the hash depends on the content`() throws {
    let before = try #require(files.link("console.css"))
    try folder.write("console.css", style + [10])
    let files = try StaticFiles(folder: folder.path, prefix: "/static/")
    #expect(files.link("console.css") != before)
  }

  @Test(arguments: [
    ("gzip", true), ("gzip, deflate, br", true), ("br;q=1, GZIP;q=0.5", true), ("x-gzip", true),
    ("gzip;q=0", false), ("gzip; q=0.000", false), ("identity", false), ("", false),
    ("gzipped", false),
    ("br", false), ("gzip;q=x", false),
  ])
  func `gzip is used if the client accepts it`(_ codings: String, _ isCompressed: Bool) throws {
    let response = try #require(
      try response("/static/console.css", .get, [.acceptEncoding: codings]))
    #expect((response.fields[.contentEncoding] == "gzip") == isCompressed)
    #expect((response.body.bytes.prefix(2) == [0x1F, 0x8B]) == isCompressed)
    #expect((response.body.count < 1000) == isCompressed)
  }

  @Test func `each encoding has its own entity tag`() throws {
    let plain = try #require(try response("/static/console.css")?.fields[.eTag])
    let gzip: Fields = [.acceptEncoding: "gzip"]
    let compressed = try #require(try response("/static/console.css", .get, gzip)?.fields[.eTag])
    #expect(plain != compressed)
    let same = try #require(try response("/static/console.css", .get, [.ifNoneMatch: plain]))
    #expect(same.status == .notModified)
    #expect(same.body.count == 0)
    #expect(same.fields[.eTag] == plain)
    #expect(same.fields[.cacheControl] == "no-cache")
    #expect(try response("/static/console.css", .get, [.ifNoneMatch: compressed])?.status == .ok)
  }

  @Test func `other types and names work`() throws {
    #expect(try response("/static/empty.txt")?.body.count == 0)
    let picture = try #require(try response("/static/pictures/logo%201.png"))
    #expect(picture.fields[.contentType] == "image/png")
    #expect(picture.fields[.vary] == nil)
  }

  @Test(arguments: [
    "/static/", "/static", "/static/none", "/static/.secret", "/static/.git/config", "/console.css",
    "/static/../static/console.css", "/static/%2e%2e/console.css", "/static//console.css", "/",
    "/static/console.css/", "/static/pictures", "/static/pictures%2Flogo%201.png",
  ])
  func `paths that aren't files are left to other handlers`(_ text: String) throws {
    #expect(try response(text) == nil)
  }

  @Test func `files accept only GET and HEAD`() throws {
    let refusal = try #require(try response("/static/console.css", .post))
    #expect(refusal.status == .methodNotAllowed)
    #expect(refusal.fields[.allow] == "GET, HEAD")
  }

  @Test func `a missing folder is reported`() {
    let fault = #expect(throws: ServerError.self) {
      try StaticFiles(folder: "/nowhere/at/all", prefix: "/static/")
    }
    #expect(fault?.description == "Cannot read /nowhere/at/all: No such file or directory.")
  }

  @Test func `files are sent through the server unchanged`() async throws {
    let files = files
    let server = try TestServer(handler: { request in
      var response = files.response(to: request) ?? .text("none", status: .notFound)
      if request.target.query["extra"] != nil { response.fields["X-Extra"] = "1" }
      return response
    })
    let client = try server.client()
    for text in ["/static/console.css", "/static/console.css?extra=1"] {
      await client.send("GET \(text) HTTP/1.1\r\nHost: h\r\n\r\n")
      let answer = try await client.answer()
      #expect(answer.body == style)
      #expect(answer["ETag"] != nil)
      #expect((answer["X-Extra"] != nil) == text.contains("extra"))
    }
    await client.send("HEAD /static/console.css HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await client.answer(toHead: true)["Content-Length"] == String(style.count))
    await client.send(
      "GET /static/console.css HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n")
    let compressed = try await client.answer()
    #expect(compressed["Content-Encoding"] == "gzip")
    await client.send("GET /static/console.css HTTP/1.1\r\nHost: h\r\nIf-None-Match: *\r\n\r\n")
    let unchanged = try await client.answer()
    #expect(unchanged.status == 304)
    #expect(unchanged.all("Content-Length") == [String(style.count)])
    await client.send("GET /static/empty.txt HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await client.answer()["Content-Length"] == "0")
  }
}
