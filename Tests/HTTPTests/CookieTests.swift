import HTTP
import Testing
import Text

struct CookieTests {
  @Test func `a cookie is written with its attributes`() {
    var cookie = Cookie(name: "__Host-session", value: "abc-_.~", secure: true)
    #expect(
      cookie.description
        == "__Host-session=abc-_.~; Path=/; Secure; HttpOnly; SameSite=Lax")
    cookie.secure = false
    cookie.httpOnly = false
    cookie.sameSite = .strict
    cookie.maxAge = 0
    #expect(
      cookie.description == "__Host-session=abc-_.~; Path=/; Max-Age=0; SameSite=Strict")
  }

  @Test(arguments: [
    "", "a", "a b", "a;b", "a; Domain=evil.example", "a,b", "\"q\"", "\\", "100%", "%41", "ä😀",
    "\r\nSet-Cookie: x=y", "a=b==", "eyJ.eyJ.sig_-", "\u{0}x", "+/",
  ])
  func `a value is read as it was written`(_ value: String) throws {
    let cookie = Cookie(name: "c", value: value, secure: false)
    let written = cookie.description
    #expect(written.split(separator: ";").count == 4)
    #expect(Fields.allows(written))
    let pair = try #require(written.split(separator: ";").first)
    let cookies = Cookies([.cookie: "before=1; \(pair); after=2"])
    // A field can't contain NUL, so such a value is returned encoded.
    #expect(cookies["c"]?.text == (value.contains("\u{0}") ? "%00x" : value))
    #expect(cookies["after"] == "2")
  }

  @Test func `the first of several values is used, in one field or several`() {
    var fields: Fields = [.cookie: "a=1; a=2;b=3"]
    fields.add(.cookie, "b=4; c=5")
    let cookies = Cookies(fields)
    #expect(cookies["a"] == "1")
    #expect(cookies["b"] == "3")
    #expect(cookies["c"] == "5")
    #expect(cookies["d"] == nil)
  }

  @Test(arguments: [
    ("a=\"q\"", "q"), ("a = 1 ", "1"), (";;a=1;", "1"), ("b; a=1", "1"), ("a=", ""),
    ("a b=2; a=1", "1"),
    ("=x; a=1", "1"), ("a=%zz", "%zz"), ("a=%FF", "%FF"), ("a=\"", "\""), ("a=1=2", "1=2"),
  ])
  func `invalid pairs are ignored`(_ line: String, _ value: String) {
    #expect(Cookies([.cookie: line])["a"]?.text == value)
  }
}
