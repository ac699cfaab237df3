import Templating
import Testing

struct VariableTests {
  static let data: Value = [
    "who": "Ada", "n": 85, "nothing": nil, "yes": true, "html": .markup(Markup(trusted: "<b>")),
    "list": [1, 2], "a": ["b": ["c": "deep", "d": nil]], "b": ["c": "shallow"],
  ]

  @Test(
    arguments: [
      ("{{who}}", "Ada"), ("|{{ who }}|{{{ who }}}|{{& who }}|", "|Ada|Ada|Ada|"),
      ("{{n}} {{{n}}}", "85 85"), ("[{{nothing}}{{{nothing}}}{{&nothing}}]", "[]"),
      ("{{yes}}", "true"), ("{{html}}{{{html}}}", "<b><b>"), ("[{{list}}{{a}}]", "[]"),
      ("[{{missing}}{{{missing}}}]", "[]"), ("{Mustache} { {{who}} } }}", "{Mustache} { Ada } }}"),
    ] as [(String, String)])
  func `a variable is replaced by its value`(template: String, expected: String) throws {
    #expect(try page(template, Self.data) == expected)
  }

  @Test(arguments: [
    ("{{a.b.c}}", "deep"), ("[{{a.x.c}}]", "[]"), ("[{{a.b.c.who}}]", "[]"),
    ("{{#a}}{{b.c}}{{/a}}", "deep"), ("[{{#a}}{{b.missing}}{{/a}}]", "[]"),
    ("{{#a.b}}{{c}} {{who}}{{/a.b}}", "deep Ada"),
  ])
  func `a dotted name starts in the innermost context that has its first part`(
    template: String, expected: String
  ) throws {
    #expect(try page(template, Self.data) == expected)
  }

  @Test func `a dotted name is never a single key`() throws {
    #expect(try page("[{{a.b}}]", ["a.b": "c"]) == "[]")
  }

  @Test func `a value is not a template`() throws {
    #expect(try page("{{t}}", ["t": "{{x}}", "x": "y"]) == "{{x}}")
  }

  @Test func `a dot is the context itself`() throws {
    #expect(try page("{{.}}|{{{.}}}", "a&b") == "a&amp;b|a&b")
    #expect(try page("{{#.}}({{v}}){{/.}}", [["v": 1], ["v": 2]]) == "(1)(2)")
  }

  @Test(arguments: [
    ("& < > \" '", "&amp; &lt; &gt; &quot; &#39;"), ("&amp;", "&amp;amp;"), ("", ""),
    ("<", "&lt;"), ("a<", "a&lt;"), ("<a", "&lt;a"), ("`={}/\\", "`={}/\\"),
    ("é<ß>日本🙂", "é&lt;ß&gt;日本🙂"), ("\u{0}\u{7F}", "\u{0}\u{7F}"),
    (String(repeating: "x", count: 300), String(repeating: "x", count: 300)),
    (
      String(repeating: "x", count: 100) + "'" + String(repeating: "y", count: 100),
      String(repeating: "x", count: 100) + "&#39;" + String(repeating: "y", count: 100)
    ),
  ])
  func `only five characters are escaped`(text: String, expected: String) throws {
    #expect(try page("{{t}}", ["t": .text(text)]) == expected)
    #expect(try page("{{{t}}}{{&t}}", ["t": .text(text)]) == text + text)
    #expect(try render(Notice(text: text), "{{text}}") == expected)
  }
}
