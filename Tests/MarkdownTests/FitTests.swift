import Markdown
import Testing

struct FitTests {
  @Test(arguments: [(1, ["h1", "h2", "h6"]), (2, ["h2", "h3", "h6"]), (5, ["h5", "h6", "h6"])])
  func `headings start at the given level`(level: Int, names: [String]) throws {
    let fit = MarkdownFit(headingLevel: level)
    let document = try renderHTML(markdown: "# a\n\n## b\n\n###### c\n", fit: fit)
    for (name, text) in zip(names, ["a", "b", "c"]) {
      #expect(document.html.contains("<\(name) id=\"\(text)\">"))
    }
    #expect(document.headings.map { "h\($0.level)" } == names)
  }

  @Test func `heading IDs get a prefix, and links to them are updated`() throws {
    let text = "[up](#main) [out](/a#main) [[x]](#<)\n\n# Main\n\n# Main\n"
    let document = try renderHTML(markdown: text, fit: MarkdownFit(idPrefix: "text-"))
    #expect(document.html.contains("<a href=\"#text-main\">up</a> <a href=\"/a#main\">"))
    #expect(document.headings.map(\.id) == ["text-main", "text-main-2"])
  }

  @Test func `hidden images are replaced by their description`() throws {
    let fit = MarkdownFit(showsImages: false)
    let html = try renderHTML(markdown: "![*a* plan](https://x.example/a.png \"t\")", fit: fit).html
    #expect(html == "<p><em>a</em> plan</p>\n")
  }
}
