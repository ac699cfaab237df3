import Templating
import Testing

struct FaultTests {
  @Test(arguments: [
    ("a\n{{b", "page:2: this tag is never closed"),
    ("{{{b}}", "page:1: this tag is never closed"),
    ("{{! b", "page:1: this tag is never closed"),
    ("{{}}", "page:1: “{{}}” is not a tag"),
    ("{{ }}", "page:1: “{{ }}” is not a tag"),
    ("{{# }}", "page:1: “{{# }}” is not a tag"),
    ("{{a b}}", "page:1: “{{a b}}” is not a tag"),
    ("{{=<%=}}", "page:1: “{{=<%=}}” is not a tag"),
    ("{{=a b c=}}", "page:1: “{{=a b c=}}” is not a tag"),
    ("{{= = = =}}", "page:1: “{{= = = =}}” is not a tag"),
    ("\n\n{{#a}}\n", "page:3: “a” is opened here and never closed"),
    ("{{#a}}{{#b}}{{/b}}", "page:1: “a” is opened here and never closed"),
    ("{{<a}}", "page:1: “a” is opened here and never closed"),
    ("{{#a}}\n{{/b}}", "page:2: “b” is closed here, but “a” is open"),
    ("{{#a}}{{#b}}{{/a}}{{/b}}", "page:1: “a” is closed here, but “b” is open"),
    ("{{/a}}", "page:1: “a” is closed here, but nothing is open"),
    ("{{<p}}\n{{x}}\n{{/p}}", "page:2: “{{x}}” stands in a parent, where only blocks count"),
    ("{{<p}}{{#x}}{{/x}}{{/p}}", "page:1: “{{#x}}” stands in a parent, where only blocks count"),
    ("{{<p}}{{$x}}{{/x}}\n{{$x}}{{/x}}{{/p}}", "page:2: block “x” is given twice"),
  ])
  func `a syntax error is reported with its line`(template: String, expected: String) {
    let fault = #expect(throws: TemplateError.self) {
      try TemplateLibrary(sources: ["page": template])
    }
    #expect(fault?.description == expected)
  }

  @Test(
    arguments: [
      (["page": "a\n{{titel}}"], "page:2: there is no “titel” in TeamPage"),
      (
        ["page": "{{#members}}\n{{nam}}{{/members}}"],
        "page:2: there is no “nam” in Member, nor in TeamPage; it has “name”"
      ),
      (["page": "{{frame.headin}}"], "page:1: there is no “headin” in Frame; it has “heading”"),
      (["page": "{{name}}"], "page:1: there is no “name” in TeamPage"),
      (
        ["page": "{{^title}}{{.}}{{/title}}"],
        "page:1: “.” is a TeamPage here; name one of its keys"
      ),
      (["page": "{{{title}}}"], "page:1: “title” is a text, which cannot go in unescaped"),
      (
        ["page": "{{#lines}}{{&.}}{{/lines}}"],
        "page:1: “.” is a text, which cannot go in unescaped"
      ),
      (["page": "{{members}}"], "page:1: “members” is a list, which only a section can show"),
      (["page": "{{frame}}"], "page:1: “frame” is an object, which only a section can show"),
      (
        ["page": "{{members.name}}"], "page:1: “members.name” goes into a list, which has no “name”"
      ),
      (["page": "{{title.length}}"], "page:1: “title.length” goes into a text"),
      (
        ["page": "\n{{>rwo}}", "row": ""], "page:2: there is no template “rwo”; the nearest: “row”"
      ),
      (["page": "{{<lay}}{{/lay}}", "layout": ""], "page:1: there is no template “lay”"),
      (["page": "{{>row}}", "row": "\n\n{{nam}}"], "row:3: there is no “nam” in TeamPage"),
      (
        ["page": "{{<l}}\n{{$mian}}{{/mian}}{{/l}}", "l": "{{$main}}{{/main}}"],
        "page:2: “l” has no block “mian”; it has “main”"
      ),
      (
        [
          "page": "{{<l}}{{$main}}{{nam}}{{/main}}{{/l}}",
          "l": "{{#members}}{{$main}}{{/main}}{{/members}}",
        ], "page:1: there is no “nam” in Member"
      ),
      (["page": "{{>page}}"], "page:1: “page” includes itself without end"),
      (["other": ""], "page: there is no template “page”; the nearest: “other”"),
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
