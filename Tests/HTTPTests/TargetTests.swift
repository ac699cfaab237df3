import HTTP
import Testing
import Text

struct TargetTests {
  @Test(
    arguments: [
      ("/", []), ("/a", ["a"]), ("/a/", ["a", ""]), ("//", ["", ""]), ("/a//b", ["a", "", "b"]),
      ("/./../a", [".", "..", "a"]), ("/a%2Fb/c", ["a/b", "c"]), ("/%2e%2e/x", ["..", "x"]),
      ("/a+b", ["a+b"]), ("/%E2%82%AC", ["€"]), ("/a;b=c", ["a;b=c"]), ("/?q", []), ("?q", nil),
      ("http://h", []), ("http://h?x=1", []), ("HTTPS://h:1/a/b", ["a", "b"]), ("http:///a", nil),
    ] as [(String, [String]?)])
  func `segments are split before they are decoded`(_ text: String, _ segments: [String]?) {
    #expect(Target(text)?.segments.map(\.text) == segments)
  }

  @Test(arguments: [
    "", "a", "*", "a/b", "/%", "/%2", "/%G0", "/%0g", "/%00", "/a%00b", "/%FF", "/%C0%AF",
    "/%ED%A0%80",
    "/a b", "/a\tb", "/a\r\nb", "/\u{0}", "/ä", "/a#b", "/\u{7F}", "/?a=%", "/?a=%00", "/?%FF=1",
    "ftp://h/a", "http://", "https://h h/",
  ])
  func `an invalid target is refused`(_ text: String) {
    #expect(Target(text) == nil)
  }

  @Test(
    arguments: [
      ("/a/b%2Fc/d?q=%20", 1, "/b%2Fc/d?q=%20"), ("/a/b/c", 2, "/c"), ("/a/", 1, "/"),
      ("/a//", 1, "//"), ("/a//b", 1, "//b"), ("/a", 1, nil), ("/a?q", 1, nil), ("/a/b", 3, nil),
      ("http://h/a/b?x=1", 1, "/b?x=1"),
    ] as [(String, Int, String?)])
  func `a target without its first segments is that of the rest`(
    _ text: String, _ count: Int, _ rest: String?
  ) throws {
    let target = try #require(Target(text))
    #expect(target.droppingFirst(count) == rest.flatMap { Target($0) })
  }

  @Test func `path and query are preserved as sent`() throws {
    let target = try #require(Target("/a%20b/?q=x%20y&z=1?2/3"))
    #expect(target.rawPath == "/a%20b/")
    #expect(target.rawQuery == "q=x%20y&z=1?2/3")
    #expect(target.query["q"] == "x y")
    #expect(target.query["z"] == "1?2/3")
    let absolute = try #require(Target("http://example.com:80/a?b=c"))
    #expect(absolute.rawPath == "/a")
    #expect(absolute.query["b"] == "c")
    #expect(Target("http://example.com")?.rawPath == "/")
    #expect(Target("/a")?.rawQuery == nil)
    #expect(Target("/a?")?.rawQuery == "")
  }

  @Test(arguments: [
    ("/v1/%00", "/v1"), ("/v2/a/%FF/b?key=%zz", "/v2/a"), ("/%zz", "/"), ("/v1/x?a=%00", "/v1/x"),
    ("/v1/a b", "/v1"),
  ])
  func `the readable start of an invalid target is available`(
    text: String, path: String
  ) {
    #expect(Target(text) == nil)
    #expect(Target.beginning(of: text)?.rawPath == path)
  }
}
