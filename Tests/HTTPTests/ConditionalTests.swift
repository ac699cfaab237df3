import HTTP
import Testing

struct ConditionalTests {
  private let tag = EntityTag("v1")

  private func answer(
    _ method: HTTP.Method, _ field: String?, status: Status = .ok
  ) throws -> Response {
    let target = try #require(Target("/"))
    var request = Request(method: method, target: target)
    request.fields[.ifNoneMatch] = field
    var response = Response.text("hello", status: status)
    response.fields[.cacheControl] = "no-cache"
    return response.conditional(on: tag, for: request)
  }

  @Test(arguments: [
    "\"v1\"", "W/\"v1\"", "*", "\"v0\", \"v1\"", "\"v0\",W/\"v1\"", "  \"v1\"  ", "\"a,\\\",\"v1\"",
  ])
  func `a matching entity tag gets a 304 response`(_ field: String) throws {
    for method in [HTTP.Method.get, .head] {
      let response = try answer(method, field)
      #expect(response.status == .notModified)
      #expect(response.body.count == 0)
      #expect(response.fields[.eTag] == "\"v1\"")
      #expect(response.fields[.cacheControl] == "no-cache")
      #expect(response.fields[.contentType] == nil)
      #expect(response.fields[.contentLength] == "5")
    }
  }

  @Test(arguments: [nil, "", "v1", "\"v2\"", "\"v11\"", "\"v\"", "\"v1", "W/\"V1\""])
  func `a different or invalid entity tag gets the full response`(_ field: String?) throws {
    let response = try answer(.get, field)
    #expect(response.status == .ok)
    #expect(response.body.count == 5)
    #expect(response.fields[.eTag] == "\"v1\"")
  }

  @Test func `only a successful GET or HEAD can become a 304 response`() throws {
    #expect(try answer(.post, "*").status == .ok)
    #expect(try answer(.get, "*", status: .notFound).status == .notFound)
  }
}
