import Testing

/// Each line of the checklist in SECURITY.md names its tests, or says that it isn't met.
///
/// A test that proves a line has the line's ID in its name.
struct ChecklistTests {
  /// The number of lines under each letter.
  private static let lengths: KeyValuePairs = ["V": 15, "K": 4, "L": 7, "C": 15]

  @Test func `the checklist has every line once, in order`() throws {
    let ids = Self.lengths.flatMap { letter, count in (1...count).map { "\(letter)\($0)" } }
    let rows = Self.rows(try SourceTree.file("SECURITY.md"))
    #expect(rows.map(\.id) == ids)
  }

  @Test func `each line names exactly the tests with its ID, or says that it isn't met`() throws {
    let rows = Self.rows(try SourceTree.file("SECURITY.md"))
    let files = try SourceTree.texts().filter { $0.path.hasPrefix("Tests/") }
    let breaches = Self.breaches(rows, files.flatMap(Self.proofs))
    #expect(breaches == [])
  }

  @Test func `each violation is found`() {
    let document = SourceFile(
      path: "SECURITY.md",
      text: """
        | V0 | Before the section. | no test |
        ## Checklist
        | ID | What holds | Tests |
        |---|---|---|
        | V1 | Codes work once. | a code works once<br>test_v1_one_wins |
        | V2 | Nothing is said. | |
        | V3 | **Not met:** there's no cap. | |
        | V4 | Codes are counted. | codes are counted |
        ## Next
        | V5 | After the section. | no test |
        """)
    let swift = SourceFile(
      path: "Tests/A/A.swift",
      text: "@Test func " + "`V1, V3: a code works once`() {}\nfunc `a name without an ID`() {}")
    let python = SourceFile(
      path: "Tests/Acceptance/test_a.py", text: "def test_v1_one_wins(server):\ndef test_v(a):")
    let rows = Self.rows(document)
    #expect(rows.map(\.id) == ["V1", "V2", "V3", "V4"])
    let breaches = Self.breaches(rows, [swift, python].flatMap(Self.proofs))
    #expect(
      breaches == [
        "V2: no test and no “not met”", "V3: “a code works once” isn't listed",
        "V4: there's no test “codes are counted”",
      ])
  }

  private struct Row {
    let id: String
    let isUnmet: Bool
    let tests: [String]
  }

  /// A test with an ID in its name; one with several IDs is several proofs.
  private struct Proof: Hashable {
    let id: String
    let test: String
  }

  private static func breaches(_ rows: [Row], _ proofs: [Proof]) -> [String] {
    let ids = Set(rows.map(\.id))
    let strays = proofs.filter { !ids.contains($0.id) }.map { "\($0.id): there's no such line" }
    return rows.flatMap { row in
      let proven = proofs.filter { $0.id == row.id }.map(\.test)
      let silent = row.tests.isEmpty && !row.isUnmet ? ["no test and no “not met”"] : []
      let missing = row.tests.filter { !proven.contains($0) }.map { "there's no test “\($0)”" }
      let unlisted = proven.filter { !row.tests.contains($0) }.map { "“\($0)” isn't listed" }
      return (silent + missing + unlisted).map { "\(row.id): \($0)" }
    } + strays
  }

  private static func rows(_ file: SourceFile) -> [Row] {
    let section = file.lines.drop { $0 != "## Checklist" }.dropFirst().prefix {
      !$0.hasPrefix("## ")
    }
    let row = /\| ([VKLC]\d+) \| (.+?) \| ?(.*?) ?\|/
    return section.compactMap { line in
      guard let match = line.wholeMatch(of: row) else { return nil }
      let tests = match.3.split(separator: "<br>").map(String.init)
      return Row(
        id: String(match.1), isUnmet: match.2.lowercased().contains("not met"), tests: tests)
    }
  }

  private static func proofs(_ file: SourceFile) -> [Proof] {
    let swift = /func `([VKLC]\d+(?:, [VKLC]\d+)*): ([^`]+)`/
    let python = /def (test_([vklc]\d+)_\w+)\(/
    return file.lines.flatMap { line -> [Proof] in
      if let match = line.firstMatch(of: swift) {
        return match.1.split(separator: ", ").map {
          Proof(id: String($0), test: String(match.2))
        }
      }
      guard let match = line.prefixMatch(of: python) else { return [] }
      return [Proof(id: match.2.uppercased(), test: String(match.1))]
    }
  }
}
