import Templating
import Testing

@Suite(
  .enabled(
    if: SpecificationCase.isPresent,
    "The Mustache specification is not here; set MUSTACHE_SPEC to the folder of its JSON files"))
struct SpecificationTests {
  @Test(arguments: SpecificationCase.all)
  func `an example renders as the specification expects`(_ example: SpecificationCase) throws {
    var sources = example.partials
    sources["template under test"] = example.template
    let library = try TemplateLibrary(sources: sources)
    let page = try library.render("template under test", with: example.data)
    #expect(String(decoding: page, as: UTF8.self) == example.expected)
  }

  @Test func `the specification is complete`() {
    #expect(SpecificationCase.all.count >= 163)
  }
}
