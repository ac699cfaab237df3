import Markdown
import Testing

struct SafetyTests {
  @Test(arguments: [
    "<script>alert(1)</script>", "a <b onclick=x>b</b>", "<!-- a -->", "a <!-- a -->",
    "<div>\n*a*\n</div>", "<?php ?>", "<![CDATA[<b>]]>", "<svg/onload=alert(1)>", "<!DOCTYPE html>",
    "# a <img src=x onerror=alert(1)>", "- <b>", "[<b>](a)", "![<b>](a)", "<script\n>a</script\n>",
  ])
  func `C9: raw HTML is dropped`(markdown: String) throws {
    let html = try renderHTML(markdown: markdown).html.lowercased()
    for mark in ["<script", "<b", "onclick=x", "<!", "<?", "<div", "<svg", "onerror", "omitted"] {
      #expect(!html.contains(mark), "\(html)")
    }
  }

  @Test(arguments: [
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "&#106;avascript:alert(1)",
    "javascript&colon;alert(1)", "javascript&#58;alert(1)", "vbscript:x", "file:///etc/passwd",
    "data:text/html;base64,PHNjcmlwdD4=", "data:image/png;base64,AA==", "data:image/svg+xml,<svg>",
    "&#1;javascript:alert(1)", "java&#10;script:alert(1)", "java&#9;script:alert(1)", "ftp://a/",
    "tel:123", "blob:x", "view-source:x", "://a", "java\\script:x", "x&#127;y", "https&#10;://a",
    "\u{FEFF}javascript:alert(1)", "\u{3000}javascript:alert(1)", "j\u{301}avascript:x",
  ])
  func `C9: a link or image with a forbidden URL is replaced by its text`(address: String) throws {
    for link in [
      "[*text*](\(address))", "![*text*](\(address))", "[*text*]\n\n[*text*]: \(address)",
    ] {
      let html = try renderHTML(markdown: link).html
      #expect(html == "<p><em>text</em></p>\n")
    }
  }

  @Test(arguments: [
    ("https://a.example/?a=1&b='", "https://a.example/?a=1&amp;b=&#39;", true),
    ("HTTP://a.example", "HTTP://a.example", true), ("//a.example", "//a.example", true),
    ("mailto:a@b.example", "mailto:a@b.example", false), ("#part", "#part", false),
    ("a/b.html", "a/b.html", false), ("../a:b", "../a:b", false), ("?a=b:c", "?a=b:c", false),
    ("/a%20b", "/a%20b", false), ("</a b>", "/a%20b", false), ("ü", "%C3%BC", false),
    ("https://a.example/\\\\\"", "https://a.example/%5C%22", true), ("", "", false),
    ("/\\\\a.example", "/%5Ca.example", true),
  ])
  func `other links are preserved, and links to other hosts send no referrer`(
    address: String, href: String, leadsElsewhere: Bool
  ) throws {
    let html = try renderHTML(markdown: "[a](\(address))").html
    let rel = leadsElsewhere ? " rel=\"noreferrer\"" : ""
    let expected = "<p><a href=\"\(href)\"\(rel)>a</a></p>\n"
    #expect(html.replacing("&#x27;", with: "&#39;") == expected)
  }

  @Test func `images with allowed URLs are preserved`() throws {
    let html = try renderHTML(markdown: "![a *b* [c](https://d)](/e.png \"f\")").html
    #expect(html == "<p><img src=\"/e.png\" alt=\"a b c\" title=\"f\" /></p>\n")
  }

  @Test(arguments: [
    "\"", "'", "\"\u{301}", "'\u{301}", "<\u{301}", "><script>", "&quot; onclick=x ",
  ])
  func `nothing breaks out of an attribute`(text: String) throws {
    let markdown = """
      [a](https://b.example '\(text.replacing("'", with: "\\'"))') [a](</\(text)>) # \(text)

      # x\(text)
      """
    let html = try renderHTML(markdown: markdown).html
    for tag in html.split(separator: "<").dropFirst() {
      let inside = tag.utf8.prefix { $0 != UInt8(ascii: ">") }
      #expect(inside.count { $0 == UInt8(ascii: "\"") } % 2 == 0, "\(html)")
      #expect(!tag.utf8.starts(with: "script".utf8))
    }
    #expect(
      !html.utf8.split(separator: UInt8(ascii: "\"")).contains { $0.starts(with: " onclick".utf8) })
  }

  @Test func `autolinks follow the same rules as other links`() throws {
    #expect(
      try renderHTML(markdown: "<https://a.example> <javascript:alert(1)> <a@b.example>").html
        == """
        <p><a href="https://a.example" rel="noreferrer">https://a.example</a> javascript:alert(1) \
        <a href="mailto:a@b.example">a@b.example</a></p>

        """)
  }
}
