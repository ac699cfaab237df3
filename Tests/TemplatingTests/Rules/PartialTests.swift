import Templating
import Testing

struct PartialTests {
  @Test(arguments: [
    ("[{{>p}}]", "a{{n}}", "[a1]"), ("[{{> p }}]", "", "[]"), ("[{{>missing}}]", "", "[]"),
    ("| {{>p}} |", "\t|\t", "| \t|\t |"), ("x\n{{>p}}\ny", "a", "x\nay"),
    ("x\r\n{{>p}}\r\ny", "a\r\n", "x\r\na\r\ny"), ("  {{>p}}\ny", "a\nb\n", "  a\n  b\ny"),
    ("x\n  {{>p}}", "a\nb", "x\n  a\n  b"), ("  {{>p}}\n", "a\n\nb\n", "  a\n\n  b\n"),
    ("  x {{>p}}\n", "a\nb", "  x a\nb\n"), (" {{>p}}\n", "{{{lines}}}!\n", " one\ntwo!\n"),
    (" {{>p}}\n", "{{#n}}\na\n{{/n}}\n", " a\n"), (" {{>p}}\n", "{{n}}\n{{n}}\n", " 1\n 1\n"),
    (" {{>p}}\n", "{{#n}}x{{/n}} {{n}}\n", " x 1\n"), (" {{>p}}\n", "{{! }} a\n", "  a\n"),
    (" {{>p}}\n", "a\n {{>q}}\n", " a\n  q\n"), (" {{>p}}\n", "{{#n}}\na\n{{/n}} b\n", " a\n  b\n"),
  ])
  func `a partial is rendered with its tag's indentation`(
    template: String, partial: String, expected: String
  ) throws {
    let data: Value = ["n": 1, "lines": "one\ntwo"]
    #expect(try page(template, data, partials: ["p": partial, "q": "q\n"]) == expected)
  }

  @Test func `a partial can include itself while there is data`() throws {
    let data: Value = ["c": "X", "n": [["c": "Y", "n": []]]]
    let partials = ["node": "{{c}}<{{#n}}{{>node}}{{/n}}>"]
    #expect(try page("{{>node}}", data, partials: partials) == "X<Y<>>")
  }

  @Test func `endless inclusion is an error`() throws {
    #expect(throws: TemplateError.self) { try page("{{>p}}", partials: ["p": "{{>p}}"]) }
    #expect(throws: TemplateError.self) { try page("{{<p}}{{/p}}", partials: ["p": "{{>p}}"]) }
    #expect(throws: TemplateError.self) {
      try page("{{<p}}{{$b}}{{$b}}{{/b}}{{/b}}{{/p}}", partials: ["p": "{{$b}}{{/b}}"])
    }
  }
}
