import HTTP
import HTTPServer
import Testing

/// Tests for responses as sent.
struct ResponseTests {
  private func answer(_ response: Response) async throws -> Client.Answer {
    let server = try TestServer { _ in
    } handler: { _ in
      response
    }
    let client = try server.client()
    await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
    let first = try await client.answer()
    #expect(try await client.answer().status == first.status)
    return first
  }

  @Test func `header fields are sent in order, including repeated ones`() async throws {
    var response = Response.redirect(to: "/next?a=b")
    response.fields.add(.setCookie, Cookie(name: "a", value: "1", secure: true).description)
    response.fields.add(.setCookie, Cookie(name: "b", value: "2", secure: true).description)
    let answer = try await answer(response)
    #expect(answer.status == 303)
    #expect(answer["Location"] == "/next?a=b")
    #expect(answer.all("Set-Cookie").map { $0.prefix(3) } == ["a=1", "b=2"])
    #expect(answer["Content-Length"] == "0")
  }

  @Test func `a handler can't set the server's own header fields`() async throws {
    let answer = try await answer(
      Response(
        fields: [
          .contentLength: "99", .transferEncoding: "chunked", .connection: "close",
          .date: "yesterday", "X-Own": "1",
        ], body: .bytes(Array("abc".utf8))))
    #expect(answer.text == "abc")
    #expect(answer.all("Content-Length") == ["3"])
    #expect(answer["Transfer-Encoding"] == nil)
    #expect(answer["Connection"] != "close")
    #expect(answer.all("Date").count == 1)
    #expect(answer["X-Own"] == "1")
  }

  @Test(arguments: [Status.noContent, .notModified])
  func `204 and 304 responses have no body`(_ status: Status) async throws {
    let answer = try await answer(Response(status: status, fields: [.eTag: "\"x\""]))
    #expect(answer.status == status.code)
    #expect(answer["ETag"] == "\"x\"")
  }

  @Test(arguments: [0, 1, 8192, 5 << 20])
  func `a body is sent completely`(_ count: Int) async throws {
    let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
    #expect(try await answer(Response(body: .bytes(body))).body == body)
  }

  @Test(arguments: [200, 201, 303, 400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 503])
  func `a status is sent unchanged`(_ code: Int) async throws {
    #expect(try await answer(.text("x", status: Status(code))).status == code)
  }
}
