import Templating
import Testing

struct FaultTests {
  @Test(arguments: [
    ("a\n{{b", "page:2: tag isn't closed"),
    ("{{{b}}", "page:1: tag isn't closed"),
    ("{{! b", "page:1: tag isn't closed"),
    ("{{}}", "page:1: “{{}}” isn't a valid tag"),
    ("{{ }}", "page:1: “{{ }}” isn't a valid tag"),
    ("{{# }}", "page:1: “{{# }}” isn't a valid tag"),
    ("{{a b}}", "page:1: “{{a b}}” isn't a valid tag"),
    ("{{=<%=}}", "page:1: “{{=<%=}}” isn't a valid tag"),
    ("{{=a b c=}}", "page:1: “{{=a b c=}}” isn't a valid tag"),
    ("{{= = = =}}", "page:1: “{{= = = =}}” isn't a valid tag"),
    ("\n\n{{#a}}\n", "page:3: “a” isn't closed"),
    ("{{#a}}{{#b}}{{/b}}", "page:1: “a” isn't closed"),
    ("{{<a}}", "page:1: “a” isn't closed"),
    ("{{#a}}\n{{/b}}", "page:2: unexpected closing tag “b”; expected “a”"),
    ("{{#a}}{{#b}}{{/a}}{{/b}}", "page:1: unexpected closing tag “a”; expected “b”"),
    ("{{/a}}", "page:1: unexpected closing tag “a”; nothing is open"),
    ("{{<p}}\n{{x}}\n{{/p}}", "page:2: “{{x}}” isn't allowed directly inside a parent"),
    ("{{<p}}{{#x}}{{/x}}{{/p}}", "page:1: “{{#x}}” isn't allowed directly inside a parent"),
    ("{{<p}}{{$x}}{{/x}}\n{{$x}}{{/x}}{{/p}}", "page:2: duplicate block “x”"),
  ])
  func `a syntax error is reported with its line`(template: String, expected: String) {
    let fault = #expect(throws: TemplateError.self) {
      try TemplateLibrary(sources: ["page": template])
    }
    #expect(fault?.description == expected)
  }

  @Test(
    arguments: [
      (["page": "a\n{{titel}}"], "page:2: unknown key “titel” in TeamPage"),
      (
        ["page": "{{#members}}\n{{nam}}{{/members}}"],
        "page:2: unknown key “nam” in Member or TeamPage; available: “name”"
      ),
      (["page": "{{frame.headin}}"], "page:1: unknown key “headin” in Frame; available: “heading”"),
      (["page": "{{name}}"], "page:1: unknown key “name” in TeamPage"),
      (
        ["page": "{{^title}}{{.}}{{/title}}"],
        "page:1: “.” is a TeamPage; use one of its keys"
      ),
      (["page": "{{{title}}}"], "page:1: “title” is text, which can't be inserted unescaped"),
      (
        ["page": "{{#lines}}{{&.}}{{/lines}}"],
        "page:1: “.” is text, which can't be inserted unescaped"
      ),
      (["page": "{{members}}"], "page:1: “members” is a list, which can be used only in a section"),
      (["page": "{{frame}}"], "page:1: “frame” is an object, which can be used only in a section"),
      (
        ["page": "{{members.name}}"], "page:1: “members.name” is invalid: a list has no key “name”"
      ),
      (["page": "{{title.length}}"], "page:1: “title.length” is invalid: text"),
      (
        ["page": "\n{{>rwo}}", "row": ""], "page:2: unknown template “rwo”; most similar: “row”"
      ),
      (["page": "{{<lay}}{{/lay}}", "layout": ""], "page:1: unknown template “lay”"),
      (["page": "{{>row}}", "row": "\n\n{{nam}}"], "row:3: unknown key “nam” in TeamPage"),
      (
        ["page": "{{<l}}\n{{$mian}}{{/mian}}{{/l}}", "l": "{{$main}}{{/main}}"],
        "page:2: unknown block “mian” in “l”; available: “main”"
      ),
      (
        [
          "page": "{{<l}}{{$main}}{{nam}}{{/main}}{{/l}}",
          "l": "{{#members}}{{$main}}{{/main}}{{/members}}",
        ], "page:1: unknown key “nam” in Member"
      ),
      (["page": "{{>page}}"], "page:1: “page” includes itself endlessly"),
      (["other": ""], "page: unknown template “page”; most similar: “other”"),
    ] as [([String: String], String)])
  func `an unknown name fails the load`(
    sources: [String: String], expected: String
  ) throws {
    let library = try TemplateLibrary(sources: sources)
    let fault = #expect(throws: TemplateError.self) {
      try library.template("page", for: TeamPage.self)
    }
    #expect(fault?.description.hasPrefix(expected) == true, "\(fault?.description ?? "")")
  }

  @Test func `names that rendering would never reach are checked too`() throws {
    let library = try TemplateLibrary(sources: [
      "page": "{{#notice}}{{^title}}{{x}}{{/title}}{{/notice}}"
    ])
    #expect(throws: TemplateError.self) { try library.template("page", for: TeamPage.self) }
  }

  @Test func `an argument for a block of an outer parent is valid`() throws {
    let library = try TemplateLibrary(sources: [
      "page": "{{<middle}}{{$main}}own{{/main}}{{/middle}}",
      "middle": "{{<outer}}{{/outer}}", "outer": "{{#isOpen}}{{$main}}{{/main}}{{/isOpen}}",
    ])
    let page = try library.template("page", for: TeamPage.self).render(TeamPage())
    #expect(String(decoding: page, as: UTF8.self) == "own")
  }

  @Test func `two keys with the same name are an error`() throws {
    struct Twice: ViewModel {
      static let keys: Keys<Self> = [.text("a") { _ in "" }, .flag("a") { _ in true }]
    }
    let library = try TemplateLibrary(sources: ["page": ""])
    let fault = #expect(throws: TemplateError.self) {
      try library.template("page", for: Twice.self)
    }
    #expect(fault?.problem == .repeatedKey("a", model: "Twice"))
  }
}
