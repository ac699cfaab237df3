import Templating
import Testing

struct BoundTests {
  @Test(arguments: [
    ("{{title}}", "The &lt;A&gt; Team"),
    ("[{{note}}]", "[]"),
    ("{{count}} {{{count}}}", "2 2"),
    ("{{isOpen}}", "true"),
    ("{{strip}}{{{strip}}}{{&strip}}", "<svg/><svg/><svg/>"),
    ("{{#lines}}({{.}}){{/lines}}", "(one &amp; two)(three)"),
    ("{{#members}}{{name}},{{/members}}", "Ada,Grace,"),
    ("{{#frame}}{{heading}}{{/frame}}", "Console"),
    ("{{frame.heading}} {{frame.inner.text}}", "Console framed"),
    ("[{{notice.text}}]", "[]"),
  ])
  func `each kind of key is rendered`(page: String, expected: String) throws {
    #expect(try render(TeamPage(), page) == expected)
  }

  @Test(arguments: [
    ("{{#title}}<{{.}}>{{/title}}", "<The &lt;A&gt; Team>"),
    ("{{#note}}yes{{/note}}{{^note}}no{{/note}}", "no"),
    ("{{#count}}{{.}}{{/count}}{{^count}}none{{/count}}", "2"),
    ("{{#isOpen}}open{{/isOpen}}{{^isOpen}}shut{{/isOpen}}", "open"),
    ("{{#strip}}{{.}}{{/strip}}", "<svg/>"),
    ("{{^lines}}none{{/lines}}", ""),
    ("{{#hasLines}}[{{#lines}}{{.}};{{/lines}}]{{/hasLines}}", "[one &amp; two;three;]"),
    (
      "{{#hasMembers}}{{title}}{{/hasMembers}}{{^hasMembers}}none{{/hasMembers}}",
      "The &lt;A&gt; Team"
    ),
    ("{{#notice}}{{text}}{{/notice}}{{^notice}}quiet{{/notice}}", "quiet"),
    ("{{#frame.inner}}{{text}} in {{title}}{{/frame.inner}}", "framed in The &lt;A&gt; Team"),
    ("{{^notice.text}}quiet{{/notice.text}}", "quiet"),
  ])
  func `a section is rendered if its value is present`(page: String, expected: String) throws {
    #expect(try render(TeamPage(), page) == expected)
  }

  @Test func `a name can't end the isolation by the element around it`() throws {
    var page = TeamPage()
    page.note = "Ada\u{2066}\u{202E}"
    #expect(try render(page, "<bdi>{{note}}</bdi>") == "<bdi>Ada</bdi>")
    #expect(try render(page, "<bdi>{{#note}}{{.}}{{/note}}</bdi>") == "<bdi>Ada</bdi>")
    #expect(try render(page, "<i>{{note}}</i>") == "<i>Ada\u{2066}\u{202E}</i>")
  }

  @Test func `zero and empty values don't render sections`() throws {
    var page = TeamPage()
    page.count = 0
    page.title = ""
    page.members = []
    page.strip = Markup(trusted: "")
    let template = """
      {{#count}}a{{/count}}{{#title}}b{{/title}}{{#members}}c{{/members}}{{#strip}}d{{/strip}}
      """
    #expect(try render(page, template) == "")
    #expect(try render(page, "{{#hasMembers}}e{{/hasMembers}}") == "")
  }

  @Test func `a name is looked up in the enclosing sections`() throws {
    let page = "{{#members}}{{#lines}}{{name}}/{{.}}/{{count}} {{/lines}}{{/members}}"
    #expect(
      try render(TeamPage(), page)
        == "Ada/one &amp; two/2 Ada/three/2 Grace/one &amp; two/2 Grace/three/2 ")
  }

  @Test func `a row's missing text is empty, and other names come from the page`() throws {
    var page = TeamPage()
    page.note = "outer"
    #expect(
      try render(page, "{{#members}}{{name}}:{{team}}{{note}} {{/members}}")
        == "Ada:outer Grace:Navyouter ")
  }

  @Test func `a model can hold a list of its own type`() throws {
    var page = TeamPage()
    page.members = [Member(name: "Ada", reports: [Member(name: "Bob")])]
    #expect(
      try render(page, "{{#members}}{{name}}<{{#reports}}{{name}}{{/reports}}>{{/members}}")
        == "Ada<Bob>")
  }

  @Test func `partials, parents, and blocks are rendered in place`() throws {
    let sources = [
      "page": """
      {{<layout}}
      {{$main}}
      <ul>
        {{#members}}
          {{>row}}
        {{/members}}
      </ul>
      {{/main}}
      {{$title}}Team of {{count}}{{/title}}
      {{/layout}}
      """,
      "layout": """
      <title>{{$title}}Untitled{{/title}}</title>
      <main>
        {{$main}}
        {{/main}}
      </main>

      """,
      "row": "<li>{{name}}</li>\n",
    ]
    #expect(
      try render(TeamPage(), sources) == """
        <title>Team of 2</title>
        <main>
          <ul>
              <li>Ada</li>
              <li>Grace</li>
          </ul>
        </main>

        """)
  }
}
