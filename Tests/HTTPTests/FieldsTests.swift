import HTTP
import Testing
import Text

struct FieldsTests {
  @Test func `names are case-insensitive`() {
    var fields: Fields = ["content-TYPE": "a", "X-One": "1", "x-ONE": "2"]
    #expect(fields[.contentType] == "a")
    #expect(fields.all("X-one") == ["1", "2"])
    #expect(Set<FieldName>(["SET-cookie", .setCookie]).count == 1)
    fields["x-one"] = "3"
    #expect(fields.map(\.value) == ["a", "3"])
    fields["x-one"] = nil
    #expect(fields == ["content-TYPE": "a"])
    fields[.eTag] = "\"x\""
    #expect(fields.map(\.name.text) == ["content-TYPE", "ETag"])
  }

  @Test func `values are compared by bytes`() {
    let (one, other): (Fields, Fields) = (["X": "e\u{301}"], ["X": "\u{E9}"])
    #expect(one == one && one != other)
    #expect(Fields(dictionaryLiteral: ("x", "a")) == ["X": "a"])
  }

  @Test(arguments: [
    ("text/html; charset=utf-8", "text/html"), ("Application / JSON", "application/json"),
    // A Greek question mark is canonically equivalent to a semicolon, but doesn't end the media
    // type.
    ("text/html\u{37E}x", "text/html\u{37E}x"), ("", ""),
  ])
  func `the media type is the part before the semicolon`(_ field: String, _ type: String) throws {
    let target = try #require(Target("/"))
    let request = Request(method: .post, target: target, fields: [.contentType: field])
    #expect(request.mediaType?.isSameBytes(as: type) == true)
  }

  @Test(arguments: [
    "a\r\nSet-Cookie: b=c", "a\nb", "a\rb", "a\u{0}b", "\u{1}", "a\u{7F}", "\u{B}",
    "a\r\n\r\n<html>",
  ])
  func `a value with control characters isn't stored`(_ value: String) {
    var fields: Fields = [.location: "/old"]
    let isStored = fields.add(.setCookie, value)
    #expect(!isStored)
    fields[.location] = value
    #expect(fields == Fields())
    #expect(Fields(dictionaryLiteral: (.vary, value)) == Fields())
  }

  @Test(arguments: ["", " ", "a b:c", "ä", "a:", "a\r", "(a)", "a/b", "[a]", "a,b", "a\u{0}"])
  func `a name that isn't a token is refused`(_ name: String) {
    #expect(FieldName(name) == nil)
  }

  @Test(arguments: ["a", "\t", "ä€", "", "a, b; c=\"d\""])
  func `other values are stored unchanged`(_ value: String) {
    var fields = Fields()
    let isStored = fields.add(.vary, value)
    #expect(isStored)
    #expect(fields[.vary] == value)
  }

  @Test(arguments: [
    ("/a?b=c", "/a?b=c"), ("/a b", "/a%20b"), ("/\r\nSet-Cookie: a=b", "/%0D%0ASet-Cookie:%20a=b"),
    ("/%2F", "/%2F"), ("/ä", "/%C3%A4"), ("https://e.com/x#y", "https://e.com/x#y"),
    ("/\u{0}", "/%00"),
  ])
  func `a redirect location is encoded on a single line`(_ location: String, _ written: String) {
    let response = Response.redirect(to: location)
    #expect(response.status == .seeOther)
    #expect(response.fields[.location] == written)
  }
}
