import Templating
import Testing

struct SectionTests {
  @Test(
    arguments: [
      (nil, "no"), (false, "no"), ([], "no"), ("", "no"), (0, "no"),
      (.markup(Markup(trusted: "")), "no"), (true, "yes"), ("x", "yes"), (-1, "yes"),
      ([:], "yes"), ([nil], "yes"), (.markup(Markup(trusted: "<b>")), "yes"),
    ] as [(Value, String)])
  func `a section and its inversion are never both rendered`(value: Value, expected: String) throws
  {
    #expect(try page("{{#v}}yes{{/v}}{{^v}}no{{/v}}", ["v": value]) == expected)
  }

  @Test(arguments: [
    ("{{#list}}{{n}},{{/list}}", "1,2,"), ("{{#texts}}({{.}}){{/texts}}", "(a&amp;b)(c)"),
    ("{{#nested}}({{#.}}{{.}}{{/.}}){{/nested}}", "(12)(3)"),
    ("{{#list}}{{outer}}{{n}} {{/list}}", "o1 o2 "),
    ("{{#list}}{{#list}}{{n}}{{/list}};{{/list}}", "12;12;"),
    ("{{^list}}none{{/list}}", ""), ("{{^missing}}none{{/missing}}", "none"),
    ("{{#missing}}{{boom}}{{/missing}}", ""),
    ("{{# list }}{{n}}{{/ list }}", "12"),
  ])
  func `a list is rendered row by row`(template: String, expected: String) throws {
    let data: Value = [
      "list": [["n": 1], ["n": 2]], "texts": ["a&b", "c"], "nested": [[1, 2], [3]], "outer": "o",
    ]
    #expect(try page(template, data) == expected)
  }

  @Test(arguments: [
    ("a\n{{#t}}\nb\n{{/t}}\nc\n", "a\nb\nc\n"), ("a\n  {{#t}}  \nb\n\t{{/t}}\nc", "a\nb\nc"),
    ("a\r\n{{#t}}\r\nb\r\n{{/t}}\r\nc", "a\r\nb\r\nc"), ("  {{#t}}\nb{{/t}}\nc", "b\nc"),
    ("a{{#t}}\nb\n  {{/t}}", "a\nb\n"), (" {{#t}}b{{/t}}\n", " b\n"),
    ("{{#t}} {{! note }}\n {{/t}}\n", " \n"), ("a\n{{^f}}\nb\n{{/f}}\nc", "a\nb\nc"),
    ("  {{t}}\n", "  true\n"), ("  {{{t}}}\n", "  true\n"), ("{{#t}}{{/t}}\n", "\n"),
  ])
  func `a section tag on its own line leaves no line`(
    template: String, expected: String
  ) throws {
    #expect(try page(template, ["t": true, "f": false]) == expected)
  }

  @Test(arguments: [
    ("a{{! note }}b", "ab"), ("a\n{{! note }}\nb", "a\nb"),
    ("a\n  {{!\n two\n lines }}\nb", "a\nb"),
    ("a {{! note }}\nb", "a \nb"), ("  {{! note }}\nb", "b"), ("{{! {{#t}} }}x", " }}x"),
    ("{{!t}}x{{!}}", "x"), ("a\r\n{{! }}\r\nb", "a\r\nb"),
  ])
  func `a comment renders nothing`(template: String, expected: String) throws {
    #expect(try page(template, ["t": true]) == expected)
  }

  @Test(arguments: [
    ("{{=<% %>=}}<%t%> {{t}}", "x {{t}}"), ("({{=[ ]=}}[t])", "(x)"), ("|{{= | | =}}|t|", "|x"),
    ("{{=<% %>=}}<%{t}%><%&t%><%#t%>y<%/t%><%={{ }}=%>{{t}}", "xxyx"),
    ("a\n{{=@ @=}}\nb@t@", "a\nbx"), ("a\n  {{=@ @=}}\n  b", "a\n  b"), ("| {{=@ @=}}\n|", "| \n|"),
    ("{{=@   @  =}}@t@", "x"), ("{{>p}}{{=| |=}}|>p|", "xx"), ("{{>q}}{{t}}", "xx"),
  ])
  func `delimiters can be set for the rest of their template`(
    template: String, expected: String
  ) throws {
    let partials = ["p": "{{t}}", "q": "{{=| |=}}|t|"]
    #expect(try page(template, ["t": "x"], partials: partials) == expected)
  }
}
