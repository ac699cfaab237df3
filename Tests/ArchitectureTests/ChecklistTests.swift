import Foundation
import Testing

/// `docs/reference/checklist.md` lists the tests of each requirement, or says that it isn't met.
///
/// A test that proves a requirement has its ID in front of its name. The text of a requirement is
/// written by hand; `COUNTERSIGN_RECORD_SNAPSHOTS=1` renews the list of tests below it.
struct ChecklistTests {
  private static let path = "docs/reference/checklist.md"
  /// The number of requirements under each letter.
  private static let lengths: KeyValuePairs = ["V": 15, "K": 4, "L": 7, "C": 15]

  @Test func `the checklist has every requirement once, in order`() throws {
    let ids = Self.lengths.flatMap { letter, count in (1...count).map { "\(letter)\($0)" } }
    #expect(Self.requirements(try SourceTree.file(Self.path)).map(\.id) == ids)
  }

  @Test func `each requirement lists exactly the tests with its ID`() throws {
    let page = try SourceTree.file(Self.path)
    let proofs = try SourceTree.texts().filter { $0.path.hasPrefix("Tests/") }
      .flatMap(Self.proofs)
    let text = Self.recorded(page, proofs)
    if ProcessInfo.processInfo.environment["COUNTERSIGN_RECORD_SNAPSHOTS"] == "1" {
      try text.write(
        to: SourceTree.root.appending(path: Self.path), atomically: true, encoding: .utf8)
      Issue.record("recorded \(Self.path); run again without COUNTERSIGN_RECORD_SNAPSHOTS")
      return
    }
    #expect(page.text == text, "COUNTERSIGN_RECORD_SNAPSHOTS=1 updates it")
    #expect(Self.breaches(page, proofs) == [])
  }

  @Test func `tests are listed by name below the requirement, once each`() {
    let page = SourceFile(
      path: Self.path,
      text: """
        # Checklist

        ### V1

        Codes work once.

        * an old test

        ### V2

        **Not met:** there's no cap.

        ## Next
        """)
    let swift = SourceFile(
      path: "Tests/A/A.swift",
      text: "@Test func " + "`V1, V3: a code works once`() {}\nfunc `a name without an ID`() {}")
    let python = SourceFile(
      path: "Tests/Acceptance/test_a.py", text: "def test_v1_one_wins(server):\ndef test_v(a):")
    let proofs = [python, swift, swift].flatMap(Self.proofs)
    #expect(
      Self.recorded(page, proofs) == """
        # Checklist

        ### V1

        Codes work once.

        * a code works once
        * test_v1_one_wins

        ### V2

        **Not met:** there's no cap.

        ## Next
        """)
    #expect(Self.breaches(page, proofs) == ["V3: there's no such requirement"])
    #expect(Self.breaches(page, []) == ["V1: no test and no “not met”"])
  }

  private struct Requirement {
    let id: String
    var text = ""
  }

  /// A test with an ID in its name; one with several IDs is several proofs.
  private struct Proof: Hashable {
    let id: String
    let test: String
  }

  /// Returns the page with the tests of each requirement below its text.
  private static func recorded(_ page: SourceFile, _ proofs: [Proof]) -> String {
    var lines: [String] = []
    var id: String?
    func finish() {
      let tests = Set(proofs.filter { $0.id == id }.map(\.test)).sorted()
      if !tests.isEmpty { lines += tests.map { "* \($0)" } + [""] }
      id = nil
    }
    for line in page.lines {
      if line.hasPrefix("#") {
        finish()
        id = Self.id(line)
      }
      if id == nil || !line.hasPrefix("* ") { lines.append(String(line)) }
      // One empty line is left of those around the former tests.
      if id != nil, lines.suffix(2) == ["", ""] { lines.removeLast() }
    }
    finish()
    return lines.joined(separator: "\n")
  }

  private static func breaches(_ page: SourceFile, _ proofs: [Proof]) -> [String] {
    let requirements = requirements(page)
    let ids = Set(requirements.map(\.id))
    let strays = Set(proofs.map(\.id)).subtracting(ids).sorted()
    let silent = requirements.filter { requirement in
      !requirement.text.lowercased().contains("not met")
        && !proofs.contains { $0.id == requirement.id }
    }
    return silent.map { "\($0.id): no test and no “not met”" }
      + strays.map { "\($0): there's no such requirement" }
  }

  private static func requirements(_ page: SourceFile) -> [Requirement] {
    var found: [Requirement] = []
    var isInside = false
    for line in page.lines {
      if line.hasPrefix("#") {
        let id = Self.id(line)
        isInside = id != nil
        if let id { found.append(Requirement(id: id)) }
      } else if isInside {
        found[found.count - 1].text += "\(line)\n"
      }
    }
    return found
  }

  /// Returns the ID of a requirement's heading.
  private static func id(_ line: Substring) -> String? {
    line.wholeMatch(of: /### ([VKLC]\d+)/).map { String($0.1) }
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
