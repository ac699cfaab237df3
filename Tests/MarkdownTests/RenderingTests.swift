@testable import Markdown
import Testing

struct RenderingTests {
  @Test(arguments: [
    ("", ""), ("a *b* **c** `d`", "<p>a <em>b</em> <strong>c</strong> <code>d</code></p>\n"),
    ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
    (
      "```swift\nlet a = \"<\"\n```",
      "<pre><code class=\"language-swift\">let a = &quot;&lt;&quot;\n</code></pre>\n"
    ),
    ("> a\n\n---", "<blockquote>\n<p>a</p>\n</blockquote>\n<hr />\n"),
    ("a & b < c", "<p>a &amp; b &lt; c</p>\n"), ("über 日本 🙂", "<p>über 日本 🙂</p>\n"),
    ("a\u{0}b", "<p>a\u{FFFD}b</p>\n"),
  ])
  func `CommonMark becomes HTML`(markdown: String, html: String) throws {
    #expect(try renderHTML(markdown: markdown).html == html)
  }

  @Test func `headings have IDs and are listed`() throws {
    let document = try renderHTML(
      markdown: """
        # Enrollment *patterns*
        ## Über `code` & more!
        ## Enrollment patterns
        > ### In a
        > quote
        > ===

        #
        """)
    #expect(
      document.headings == [
        .init(level: 1, id: "enrollment-patterns", text: "Enrollment patterns"),
        .init(level: 2, id: "über-code-more", text: "Über code & more!"),
        .init(level: 2, id: "enrollment-patterns-2", text: "Enrollment patterns"),
        .init(level: 3, id: "in-a", text: "In a"),
        .init(level: 1, id: "quote", text: "quote"),
        .init(level: 1, id: "section", text: ""),
      ])
    #expect(
      document.html.hasPrefix(
        "<h1 id=\"enrollment-patterns\">\nEnrollment <em>patterns</em>\n</h1>\n<h2 id=\"über-code-more\">"
      ))
  }

  @Test func `heading IDs are unique`() throws {
    let markdown = ["a", "a-2", "a", "a", "A!", "a-2", "?", "!", "section"]
      .map { "# \($0)\n" }.joined()
    let ids = try renderHTML(markdown: markdown).headings.map(\.id)
    #expect(Set(ids).count == 9)
  }
}
