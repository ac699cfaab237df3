import Localization
import Templating
import Testing

/// A model whose texts are messages.
private struct Greeting: ViewModel {
  var name = "<Ada>"
  var text = Message("Hello, {name}!", ["name": .text("<Ada>")])
  var none: Message?
  var lines = [Message("Plain & simple"), .verbatim("&")]
  var chip = Markup(joining: [
    Markup(trusted: "<b>"), Markup(escaping: Message("<i>{name}</i>", ["name": .text("x")])),
    Markup(trusted: "</b>"),
  ])

  var users = 1_234

  static let keys: Keys<Self> = [
    .number("count") { $0.users },
    .text("name") { $0.name },
    .text("text") { $0.text },
    .text("none") { $0.none },
    .texts("lines") { $0.lines },
    .markup("chip") { $0.chip },
    .markup("html") { Message("<i>{name}</i>", ["name": .text($0.name)]) },
  ]
}

@Suite struct MessageTests {
  private func rendered(
    _ page: String, _ greeting: Greeting = Greeting(), in catalog: Catalog = .english
  ) throws -> String {
    let library = try TemplateLibrary(sources: ["page": page], catalog: catalog)
    return String(
      decoding: try library.template("page", for: Greeting.self).render(greeting), as: UTF8.self)
  }

  @Test(arguments: [
    ("<p>{{%}}Plain & simple{{/%}}</p>", "<p>Plain & simple</p>"),
    ("{{%}}Hello, {name}!{{/%}}", "Hello, &lt;Ada&gt;!"),
    ("{{%}}<i>{name}</i>{{/%}}", "<i>&lt;Ada&gt;</i>"),
    ("{{%}}{{{{{name}}}}}{{/%}}", "{{&lt;Ada&gt;}}"),
    ("  {{%}}Plain{{/%}}\n", "  Plain\n"),
    (
      "<p>{{%}}Two\n    lines <b>of\n    text</b>\n  {{/%}}</p>\n",
      "<p>Two lines <b>of text</b></p>\n"
    ),
    ("{{#name}}{{%}}Hello, {name}!{{/%}}{{/name}}", "Hello, &lt;Ada&gt;!"),
    ("{{%}}{count} user{{%other}}{count} users{{/%}}", "1,234 users"),
    ("{{%menu}}Open{{/%}}", "Open"),
    ("{{text}}", "Hello, &lt;Ada&gt;!"),
    ("{{#text}}[{{.}}]{{/text}}{{#none}}no{{/none}}", "[Hello, &lt;Ada&gt;!]"),
    ("{{#lines}}<{{.}}>{{/lines}}", "<Plain &amp; simple><&amp;>"),
    ("{{chip}}", "<b>&lt;i&gt;x&lt;/i&gt;</b>"),
    ("{{html}}", "<i>&lt;Ada&gt;</i>"),
  ])
  func `messages are rendered`(page: String, expected: String) throws {
    #expect(try rendered(page) == expected)
  }

  @Test func `the number chooses the form`() throws {
    let page = "{{%}}{count} user{{%other}}{count} users{{/%}}."
    #expect(try rendered(page, Greeting(users: 1)) == "1 user.")
    #expect(try rendered(page, Greeting(users: 0)) == "0 users.")
    #expect(try rendered(page, Greeting(users: 1), in: .pseudo()) == "⟦1 ûûšééŕ⟧.")
  }

  @Test(arguments: [
    ("\n{{%}}{name", "page:2: “%” isn't closed"),
    ("\n{{%}}{name{{/%}}", "page:2: “{name” has a brace outside an argument"),
    ("{{%}}a{{%other}}b{{%other}}c{{/%}}", "page:1: “{{%}}a{{%other}}b{{%other}}c{{/%}}” isn't"),
  ])
  func `a malformed message fails the load`(page: String, expected: String) throws {
    let fault = #expect(throws: TemplateError.self) {
      try TemplateLibrary(sources: ["page": page])
    }
    #expect(fault?.description.hasPrefix(expected) == true, "\(fault?.description ?? "")")
  }

  @Test func `only a number chooses a form`() throws {
    let page = "{{%}}{count} user{{%other}}{count} users{{/%}}"
    struct Texts: ViewModel {
      static let keys: Keys<Self> = [.text("count") { _ in "2" }]
    }
    let library = try TemplateLibrary(sources: ["page": page])
    #expect(throws: TemplateError.self) { try library.template("page", for: Texts.self) }
  }

  @Test func `the messages of a library have their file and line`() throws {
    let library = try TemplateLibrary(sources: [
      "b": "{{%menu}}Open{{/%}}", "a": "\n{{%}}{count} user{{%other}}{count} users{{/%}}",
    ])
    #expect(library.messages.map(\.file) == ["a", "b"])
    #expect(library.messages.map(\.line) == [2, 1])
    #expect(library.messages.map(\.context) == [nil, "menu"])
    #expect(library.messages.map(\.text) == ["{count} user", "Open"])
    #expect(library.messages.map(\.plural) == ["{count} users", nil])
  }

  @Test func `an argument must be a key of the model`() throws {
    struct Nothing: ViewModel { static let keys: Keys<Self> = [] }
    let library = try TemplateLibrary(sources: ["page": "{{%}}Hello, {name}!{{/%}}"])
    #expect(throws: TemplateError.self) { try library.template("page", for: Nothing.self) }
  }
}
