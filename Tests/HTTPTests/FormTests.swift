import HTTP
import Testing
import Text

struct FormTests {
  @Test(
    arguments: [
      ("", []), ("&&", []), ("a", [("a", "")]), ("a=", [("a", "")]), ("=b", [("", "b")]),
      ("a=b=c", [("a", "b=c")]), ("a=1&a=2&b", [("a", "1"), ("a", "2"), ("b", "")]),
      ("a+b=c+d", [("a b", "c d")]), ("a%2Bb=%26%3D", [("a+b", "&=")]),
      ("q=%E2%82%AC", [("q", "€")]),
      ("q=%0D%0A", [("q", "\r\n")]), ("a%5B%5D=1", [("a[]", "1")]),
    ] as [(String, [(String, String)])])
  func `fields are decoded in order`(_ text: String, _ entries: [(String, String)]) throws {
    let form = try #require(Form(urlEncoded: text))
    #expect(form.entries == entries.map { Form.Entry(name: $0.0, value: $0.1) })
  }

  @Test(arguments: [
    "%", "a=%", "a=%2", "a=%zz", "a=%2%30", "%00=1", "a=%00", "a=%FF", "a=%C3", "a=%ED%A0%80",
    "a=%F5%80%80%80", "a=%C0%80", "ok=1&bad=%E0%80%80",
  ])
  func `invalid encoding is refused`(_ text: String) {
    #expect(Form(urlEncoded: text) == nil)
  }

  @Test func `raw bytes must also be UTF-8`() {
    for last in [0xFF, 0] as [UInt8] {
      #expect(throws: FormError.self) { try Form(reading: [UInt8(ascii: "a"), last].span) }
    }
    #expect(Form(urlEncoded: "a=ä")?["a"] == "ä")
  }

  @Test func `NUL is shown in one field, and refused in the others`() throws {
    let bytes = Array("a=b&list=x%00y".utf8) + [0]
    let form = try Form(reading: bytes.span, showingNULIn: "list")
    #expect(form["list"] == "x\u{2400}y\u{2400}")
    for text in ["a=%00&list=x", "%00=1&list=x", "list%00=x"] {
      #expect(throws: FormError.containsNUL) {
        try Form(reading: Array(text.utf8).span, showingNULIn: "list")
      }
    }
  }

  @Test func `at most a thousand fields are accepted`() {
    let thousand = Array(repeating: "a=1", count: 1000).joined(separator: "&")
    #expect(Form(urlEncoded: thousand)?.entries.count == 1000)
    #expect(Form(urlEncoded: thousand + "&a=1") == nil)
  }

  @Test(arguments: ["", "a b", "ä€😀", "&=+%#?/", "\r\n", "a\u{7F}"])
  func `an encoded form decodes to the same form`(_ text: String) throws {
    let form: Form = ["name": text, text: "value"]
    let written = form.urlEncoded
    #expect(written.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    #expect(Form(urlEncoded: written) == form)
  }

  @Test func `a query is appended to a path only if it isn't empty`() {
    #expect((["q": "a b", "page": "2"] as Form).query(of: "/users") == "/users?q=a%20b&page=2")
    #expect(Form().query(of: "/users") == "/users")
    #expect((["a": "1", "b": "2", "a": "3"] as Form).all("a") == ["1", "3"])
  }

  @Test(arguments: [
    ("application/x-www-form-urlencoded", true),
    ("Application/X-WWW-Form-URLEncoded; charset=UTF-8", true), ("text/plain", false),
    ("application/json", false), ("multipart/form-data; boundary=x", false), ("", false),
  ])
  func `a body is a form if its content type says so`(_ type: String, _ isForm: Bool) throws {
    let target = try #require(Target("/"))
    let request = Request(
      method: .post, target: target, fields: [.contentType: type], body: Array("a=b".utf8))
    #expect(try request.form() == (isForm ? ["a": "b"] : nil))
  }
}
