import Templating
import Testing

struct IndentationTests {
  @Test(
    "lines of parents and blocks are indented like their tag",
    arguments: [
      Example("a parent on one line", "x\n  {{<p}}{{/p}}\ny", "one\ntwo\n", "x\n  one\n  two\ny"),
      Example("a parent on many lines", " {{<p}}\n{{/p}}\ny", "one\ntwo\n", " one\n two\ny"),
      Example("a parent within a line", "x {{<p}}{{/p}}\ny", "one\ntwo", "x one\ntwo\ny"),
      Example("text after a parent", "  {{<p}}{{/p}} x {{n}}\n", "one\ntwo", "  one\ntwo x 1\n"),
      Example("an inline block", "{{<p}}{{$b}}x{{/b}}{{/p}}", "a\n  {{$b}}{{/b}}\n", "a\n  x\n"),
      Example(
        "lines for an inline block", "{{<p}}{{$b}}\nx\ny{{/b}}{{/p}}", "  {{$b}}{{/b}}\n",
        "  x\n  y\n"),
      Example(
        "lines for a block within a line", "{{<p}}{{$b}}x\n  y{{/b}}{{/p}}", "a {{$b}}{{/b}}\n",
        "a x\n  y\n"),
      Example(
        "lines lose the indentation of the argument", "{{<p}}{{$b}}\n    x\n      y\n{{/b}}{{/p}}",
        "a\n  {{$b}}\n  {{/b}}\nz", "a\n  x\n    y\nz"),
      Example(
        "the default's indentation applies", "{{<p}}{{$b}}\nx\ny\n{{/b}}{{/p}}",
        "{{$b}}\n  default\n{{/b}}\n", "  x\n  y\n"),
      Example(
        "the default keeps its own lines", "{{<p}}{{/p}}", "{{$b}}\n  a\n    b\n\n c\n{{/b}}\n",
        "  a\n    b\n\n  c\n"),
      Example(
        "inline content for a block on lines", "{{<p}}{{$b}}x{{/b}}{{/p}}",
        "{{$b}}\n  default\n{{/b}}\n", "  x"),
      Example(
        "no content for a block on lines", "{{<p}}{{$b}}{{/b}}{{/p}}",
        "a\n{{$b}}\n  default\n{{/b}}\nb\n", "a\nb\n"),
      Example(
        "an argument that starts with a section",
        "{{<p}}\n  {{$b}}\n    {{#n}}\n    <p>{{n}}</p>\n    {{/n}}\n  {{/b}}\n{{/p}}",
        "<b>\n  {{$b}}\n  {{/b}}\n</b>\n", "<b>\n  <p>1</p>\n</b>\n"),
      Example(
        "an argument that starts with a variable",
        "{{<p}}{{$b}}\n    {{n}}\n    {{n}}\n{{/b}}{{/p}}",
        "  {{$b}}\n  {{/b}}\n", "  1\n  1\n"),
      Example(
        "a variable as inline argument", "{{<p}}\n  {{$b}}{{n}}{{/b}}\n{{/p}}",
        " <{{$b}}{{/b}}>\n", " <1>\n"),
      Example(
        "partials in an argument", "{{<p}}{{$b}}\n    {{>q}}\n      {{>q}}\n{{/b}}{{/p}}",
        " {{$b}}\n {{/b}}\n", " q\n r\n   q\n   r\n"),
      Example(
        "blank lines stay blank", "{{<p}}{{$b}}\n\n  x\n\n  y\n{{/b}}{{/p}}",
        "  {{$b}}\n  {{/b}}\n", "\n  x\n\n  y\n"),
      Example(
        "lines with less indentation than the first", "{{<p}}{{$b}}\n  x\n y\nz\n{{/b}}{{/p}}",
        "{{$b}}\n{{/b}}", "x\ny\nz\n"),
      Example(
        "Windows line endings", "{{<p}}\r\n{{$b}}\r\n  x\r\n{{/b}}\r\n{{/p}}\r\n",
        "a\r\n{{$b}}\r\n{{/b}}\r\nb\r\n", "a\r\nx\r\nb\r\n"),
      Example(
        "blocks in blocks", "{{<r}}{{$inner}}\nthree\n{{/inner}}{{/r}}\n", "{{$b}}default{{/b}}",
        "one\n  three\n"),
    ])
  func placed(_ example: Example) throws {
    let partials = [
      "p": example.parent, "q": "q\nr\n",
      "r": "{{<p}}{{$b}}\n  one\n  {{$inner}}\n    two\n  {{/inner}}\n{{/b}}{{/p}}\n",
    ]
    #expect(try page(example.template, ["n": 1], partials: partials) == example.expected)
  }

  struct Example: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let template: String
    let parent: String
    let expected: String

    init(_ description: String, _ template: String, _ parent: String, _ expected: String) {
      testDescription = description
      self.template = template
      self.parent = parent
      self.expected = expected
    }
  }
}
