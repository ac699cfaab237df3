import Foundation
import Localization
import Templating
import Testing

/// A model whose texts are messages.
private struct Greeting: ViewModel {
  var name = "<Ada>"
  var text = Message("page.hello", ["name": .text("<Ada>")])
  var none: Message?
  var lines = [Message("page.plain"), .verbatim("&")]
  var chip = Markup(joining: [
    Markup(trusted: "<b>"), Markup(escaping: Message("page.bold", ["name": .text("x")])),
    Markup(trusted: "</b>"),
  ])

  static let keys: Keys<Self> = [
    .text("name") { $0.name },
    .text("text") { $0.text },
    .text("none") { $0.none },
    .texts("lines") { $0.lines },
    .markup("chip") { $0.chip },
    .markup("html") { Message("page.bold", ["name": .text($0.name)]) },
  ]
}

@Suite struct MessageTests {
  private static let messages = """
    msgid ""
    msgstr ""
    "Language: en\\n"
    "Plural-Forms: nplurals=2; plural=(n != 1);\\n"

    msgctxt "page.plain"
    msgid "Plain & simple"
    msgstr ""

    msgctxt "page.hello"
    msgid "Hello, {name}!"
    msgstr ""

    msgctxt "page.bold"
    msgid "<i>{name}</i>"
    msgstr ""

    msgctxt "page.braces"
    msgid "{{{{{name}}}}}"
    msgstr ""

    msgctxt "page.count"
    msgid "{count} user"
    msgid_plural "{count} users"
    msgstr[0] ""
    msgstr[1] ""

    """

  private func catalog() throws -> Catalog {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let page = folder.appending(path: "page")
    try FileManager.default.createDirectory(at: page, withIntermediateDirectories: true)
    try Data(Self.messages.utf8).write(to: page.appending(path: "messages.po"))
    return try Catalog(folder: folder.path)
  }

  private func rendered(_ page: String) throws -> String {
    let library = try TemplateLibrary(sources: ["page": page], catalog: try catalog())
    return String(
      decoding: try library.template("page", for: Greeting.self).render(Greeting()), as: UTF8.self)
  }

  @Test(arguments: [
    ("<p>{{%page.plain}}</p>", "<p>Plain & simple</p>"),
    ("{{% page.hello }}", "Hello, &lt;Ada&gt;!"),
    ("{{%page.bold}}", "<i>&lt;Ada&gt;</i>"),
    ("{{%page.braces}}", "{{&lt;Ada&gt;}}"),
    ("  {{%page.plain}}\n", "  Plain & simple\n"),
    ("{{#name}}{{%page.hello}}{{/name}}", "Hello, &lt;Ada&gt;!"),
    ("{{text}}", "Hello, &lt;Ada&gt;!"),
    ("{{#text}}[{{.}}]{{/text}}{{#none}}no{{/none}}", "[Hello, &lt;Ada&gt;!]"),
    ("{{#lines}}<{{.}}>{{/lines}}", "<Plain &amp; simple><&amp;>"),
    ("{{chip}}", "<b>&lt;i&gt;x&lt;/i&gt;</b>"),
    ("{{html}}", "<i>&lt;Ada&gt;</i>"),
  ])
  func `messages are rendered`(page: String, expected: String) throws {
    #expect(try rendered(page) == expected)
  }

  @Test(arguments: [
    ("\n{{%page.plan}}", "page:2: unknown message “page.plan”; most similar: “page.plain”"),
    ("{{%page.count}}", "page:1: “page.count” has plural forms"),
  ])
  func `an unknown message fails the load`(page: String, expected: String) throws {
    let catalog = try catalog()
    let fault = #expect(throws: TemplateError.self) {
      try TemplateLibrary(sources: ["page": page], catalog: catalog)
    }
    #expect(fault?.description.hasPrefix(expected) == true, "\(fault?.description ?? "")")
  }

  @Test func `an argument must be a key of the model`() throws {
    struct Nothing: ViewModel { static let keys: Keys<Self> = [] }
    let library = try TemplateLibrary(sources: ["page": "{{%page.hello}}"], catalog: try catalog())
    #expect(throws: TemplateError.self) { try library.template("page", for: Nothing.self) }
  }

  @Test func `without a catalog, the tag is a name`() throws {
    let library = try TemplateLibrary(sources: ["page": "{{%x}}"])
    #expect(throws: TemplateError.self) { try library.template("page", for: Greeting.self) }
  }
}
