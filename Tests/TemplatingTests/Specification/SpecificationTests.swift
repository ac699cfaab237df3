import Testing

@testable import Templating

@Suite(
  .enabled(
    if: SpecificationCase.isPresent,
    "The Mustache specification isn't present; set MUSTACHE_SPEC to the folder of its JSON files"))
struct SpecificationTests {
  @Test(arguments: SpecificationCase.all)
  func `an example renders as the specification expects`(_ example: SpecificationCase) throws {
    let page = try example.library().render(SpecificationCase.page, with: example.data)
    #expect(String(decoding: page, as: UTF8.self) == example.expected)
  }

  @Test func `the specification is complete`() {
    #expect(SpecificationCase.all.count >= 163)
  }

  @Test func `an example whose names all resolve renders the same when bound`() throws {
    var bound = 0
    for example in SpecificationCase.all {
      guard let rows = ValueRows(example.data), rows.count > 0,
        let program = try? Compiler.compile(
          SpecificationCase.page, from: example.library(), for: rows.ownShape)
      else { continue }
      bound += 1
      let page = String(decoding: program.render(rows), as: UTF8.self)
      #expect(page == example.expected, "\(example.testDescription)")
    }
    #expect(bound >= 120)
  }
}
