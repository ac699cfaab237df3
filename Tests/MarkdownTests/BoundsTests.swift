import Markdown
import Testing

struct BoundsTests {
  private static let size = 256 * 1024

  private static func repeated(_ unit: String, of size: Int = size) -> String {
    String(repeating: unit, count: size / unit.utf8.count)
  }

  @Test func `a text is at most 256 KiB long`() throws {
    _ = try renderHTML(markdown: Self.repeated("a"))
    #expect(throws: MarkdownError.tooLong(bytes: Self.size + 1)) {
      try renderHTML(markdown: Self.repeated("a") + "a")
    }
  }

  @Test(arguments: [
    String(repeating: ">", count: 101), String(repeating: "> ", count: 101) + "a",
    String(repeating: "- ", count: 101), String(repeating: "*\t", count: 101),
    String(repeating: "1. ", count: 101) + "a", String(repeating: "12) ", count: 101),
    String(repeating: " ", count: 202) + "- a", String(repeating: "\t", count: 51) + "- a",
    String(repeating: "> - ", count: 51) + "a",
  ])
  func `a line can be nested at most a hundred levels`(line: String) {
    for end in ["\n", "\r\n", "\r"] {
      #expect(throws: MarkdownError.tooDeep(line: 3)) {
        try renderHTML(markdown: "a" + end + end + line + end + "b")
      }
    }
  }

  @Test(arguments: [
    String(repeating: "-", count: 500), String(repeating: "*", count: 500),
    "1.1." + repeated("1.", of: 500),
    String(repeating: "- ", count: 100) + "a", String(repeating: ">", count: 100) + "a",
    String(repeating: " ", count: 200) + "a", "a" + repeated("> - ", of: 1000),
    "12345" + String(repeating: ".", count: 500), "a\n" + String(repeating: "=", count: 500),
  ])
  func `a line with less nesting is rendered`(line: String) throws {
    #expect(try !renderHTML(markdown: line).html.isEmpty)
  }

  @Test func `a text has at most a thousand images`() throws {
    _ = try renderHTML(markdown: Self.repeated("![a](b) ", of: 8000))
    #expect(throws: MarkdownError.tooManyImages) {
      try renderHTML(markdown: Self.repeated("![a](b)\n", of: 8008))
    }
  }

  /// Texts that stress libcmark or the rendered page.
  static let bombs = [
    repeated("["), repeated("[]("), repeated("[a]("), repeated("[]()"), repeated("*a _"),
    repeated("*_"), repeated("**x*"),
    repeated("<"), repeated("<?"), repeated("<!A "), repeated("<a "), repeated("`a``"),
    repeated("*", of: size / 2) + "a" + repeated("*", of: size / 3), repeated("\n"), repeated("\\"),
    repeated("[", of: size / 2) + repeated("]", of: size / 2), repeated("&#x"), repeated("# a\n"),
    repeated("- ", of: 200) + "a\n" + repeated("\n", of: size - 300),
    repeated("![", of: 2000) + repeated("[]()", of: size - 2000),
    repeated(String(repeating: ">", count: 100) + "a\n\n"),
    repeated(String(repeating: "- ", count: 100) + "a\n"),
    "[a]: /" + repeated("x", of: size / 4) + "\n\n" + repeated("[a]", of: size / 2),
    repeated("[a](javascript:b)"), repeated("[a](//b)"), repeated("\u{0}"), repeated("\""),
  ]

  @Test(.serialized, .timeLimit(.minutes(1)), arguments: bombs)
  func `a hostile text is rendered in time`(text: String) throws {
    let html = try renderHTML(markdown: text).html
    #expect(html.utf8.count < 40 * Self.size)
  }
}
