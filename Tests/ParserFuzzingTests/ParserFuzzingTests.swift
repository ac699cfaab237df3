import Foundation
import ParserFuzzing
import Testing

@Suite struct ParserFuzzingTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Corpus")

  private static func corpus(of parser: FuzzedParser) throws -> [[UInt8]] {
    let folder = folder.appending(path: parser.rawValue)
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return try files.sorted { $0.path < $1.path }.map { Array(try Data(contentsOf: $0)) }
  }

  @Test(arguments: FuzzedParser.allCases)
  func `every file of the corpus is parsed without a flaw`(parser: FuzzedParser) throws {
    let corpus = try Self.corpus(of: parser)
    #expect(!corpus.isEmpty, "\(parser) has no samples")
    for bytes in corpus { #expect(parser.flaw(in: bytes) == nil, "\(bytes)") }
  }

  @Test(arguments: FuzzedParser.allCases)
  func `two thousand changed samples are parsed without a flaw`(parser: FuzzedParser) throws {
    var mutator = Mutator(try Self.corpus(of: parser), seed: 20_260_101)
    for _ in 0..<2_000 {
      let bytes = mutator.next()
      let flaw = parser.flaw(in: bytes)
      guard flaw == nil else {
        Issue.record("\(flaw ?? ""): \(bytes)")
        return
      }
    }
  }

  @Test func `the corpus has a folder for each parser and no other`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(folders) == Set(FuzzedParser.allCases.map(\.rawValue)))
  }

  @Test func `a mutator returns the same inputs for the same seed`() {
    var one = Mutator([[1, 2, 3]], seed: 7)
    var other = Mutator([[1, 2, 3]], seed: 7)
    let inputs = (0..<100).map { _ in one.next() }
    #expect(inputs == (0..<100).map { _ in other.next() })
    #expect(Set(inputs).count > 50)
  }
}
