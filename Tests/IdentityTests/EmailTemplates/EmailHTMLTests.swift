import Testing

@testable import Identity

/// The HTML that emails may have.
struct EmailHTMLTests {
  @Test(
    arguments: [
      ("<p>a<b>b</b></p>", "<p>a<b>b</b></p>"),
      ("<P Class=x>a", "<p>a</p>"),
      ("a & b &amp; c &lt;i&gt; &#65; &#x42;", "a &amp; b &amp; c &lt;i&gt; A B"),
      ("<script>alert(1)</script>after", "after"),
      ("<SCRIPT >alert('</b>')</ScRiPt\n>after", "after"),
      ("<style>p{}</style><title>t</title>x", "x"),
      ("<!doctype html><html><head></head><body onload=x><p>a</p></body></html>", "<p>a</p>"),
      ("<!-- <script> -->a<!--", "a"), ("<? php ?>a", "a"),
      ("<img src=x onerror=alert(1)>a", "a"), ("<svg><script>x</script></svg>a", "a"),
      (
        "<a href=\"https://a.example/?x=1&amp;y\">a</a>",
        "<a href=\"https://a.example/?x=1&amp;y\">a</a>"
      ),
      ("<a href='javascript:alert(1)'>a</a>", "<a>a</a>"),
      ("<a href=' JaVaScRiPt:alert(1)'>a</a>", "<a>a</a>"),
      ("<a href='java&#9;script:alert(1)'>a</a>", "<a>a</a>"),
      ("<a href='data:text/html,x'>a</a><a href=//evil.example>b</a>", "<a>a</a><a>b</a>"),
      (
        "<a href=\"https://a.example/\" style=\"x\" href=\"https://b.example/\">a</a>",
        "<a href=\"https://a.example/\">a</a>"
      ),
      (
        "<a href='https://a.example/\"><script>'>a</a>",
        "<a href=\"https://a.example/&quot;&gt;&lt;script&gt;\">a</a>"
      ),
      ("<b><i>a</b>b</i>", "<b><i>a</i></b>b"), ("</p>a<p>b", "a<p>b</p>"),
      ("1 < 2 <3 </ 4 <", "1 &lt; 2 &lt;3 &lt;/ 4 &lt;"), ("<p", "<p></p>"), ("<p a='", "<p></p>"),
      ("<br/><hr />", "<br><hr>"), ("<p/x>a", "<p>a</p>"), ("<p =a>b", "<p>b</p>"),
    ])
  func `only harmless elements are left`(html: String, rest: String) {
    #expect(EmailHTML(parsing: html).html == rest)
    // What's left is left again.
    #expect(EmailHTML(parsing: rest).html == rest)
  }

  @Test func `deep nesting is cut, and the text is kept`() {
    let html = EmailHTML(parsing: String(repeating: "<b>", count: 5_000) + "x").html
    #expect(html.contains("x") && html.utf8.count < 1_000)
  }

  @Test func `the text has lines for blocks, marks for lists, and addresses for links`() {
    let html = """
      <h1>Hello,  <b>you</b></h1>
      <p>One<br>two &ndash; <a href="https://a.example/">here</a>, <a href="mailto:b@c.example">b@c.example</a></p>
      <ul><li>a</li><li>b</li></ul><ol><li>c<li>d</ol>
      <table><tr><td>e</td><td>f</td></tr></table>
      <pre>g
        h</pre>
      """
    #expect(
      EmailHTML(parsing: html).plainText == """
        Hello, you

        One
        two – here: https://a.example/, b@c.example

        • a
        • b

        1. c
        2. d

        e f

        g
          h

        """)
  }

  @Test func `mail programs are asked not to link numbers`() {
    let document = MessageText(subject: "s", body: "b", html: "<p>b</p>").document(in: "en")
    #expect(document.contains(#"<meta name="format-detection" content="telephone=no">"#))
  }
}
