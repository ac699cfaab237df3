import Testing

@testable import HTTPClient

struct ClientURLTests {
  @Test(arguments: [
    ("https://hooks.example.com/a?b=c", "hooks.example.com"),
    ("https://example.com", "example.com"),
    ("HTTPS://Example.com:8443/", "Example.com"), ("https://[2001:db8::1]:8443/x", "2001:db8::1"),
    ("http://127.0.0.1:9000/x", "127.0.0.1"), ("http://[::1]/", "::1"),
    ("http://localhost:1", "localhost"),
  ])
  func `a URL has a host`(_ text: String, _ host: String) throws {
    #expect(try ClientURL(text).host == host)
  }

  @Test(arguments: [
    ("ftp://example.com", ClientURLError.noScheme), ("example.com", .noScheme),
    ("//example.com", .noScheme), ("https://", .invalid), ("https:///x", .invalid),
    ("https://sam@example.com", .invalid), ("https://sam:x@example.com", .invalid),
    ("https://example.com#x", .invalid), ("https://example.com\\@127.0.0.1/", .invalid),
    ("https://example.com:0/", .invalid), ("https://example.com:65536/", .invalid),
    ("https://example.com:/", .invalid), ("https://example.com:8x/", .invalid),
    ("https://exa mple.com", .invalid), ("https://ex\r\nample.com", .invalid),
    ("https://exämple.com", .invalid), ("https://[::1", .invalid), ("https://[x]/", .invalid),
    ("https://[::1]x/", .invalid), ("http://example.com/", .notEncrypted),
    ("http://10.0.0.1/", .notEncrypted), ("http://127.0.0.1.example.com/", .notEncrypted),
    ("http://127.a.example.com/", .notEncrypted),
  ])
  func `another URL is refused`(_ text: String, _ error: ClientURLError) {
    #expect(throws: error) { try ClientURL(text) }
  }

  @Test func `a very long URL is refused`() {
    #expect(throws: ClientURLError.invalid) {
      try ClientURL("https://example.com/" + String(repeating: "x", count: 2_048))
    }
  }

  @Test(arguments: [
    ("X-A", "b\r\nX-B: c"), ("X-A", "b\n"), ("X A", "b"), ("X-A:", "b"), ("", "b"), ("X-A", ""),
    ("X-A", "é"), ("X-A", "\u{0}"),
  ])
  func `a field can't end itself`(_ name: String, _ value: String) {
    #expect(ClientRequest.Field(name, value) == nil)
  }
}
