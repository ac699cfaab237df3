import Testing

/// A stored property of a view model is declared once: its key is a key path, not its name again.
struct ViewModelKeyTests {
  @Test func `no key repeats the name of a stored property`() throws {
    let breaches = try SourceTree.files(in: "Sources/Console").flatMap { file in
      Self.repetitions(in: file.lines).map { file.breach($0.line, $0.key) }
    }
    #expect(breaches == [])
  }

  @Test(arguments: [
    ("let name: String", 1), ("private let name: String?", 1), ("var name = \"\"", 1),
    ("var name: String { other }", 0), ("var name: String {", 0), ("let other: String", 0),
  ])
  func `a repetition is found`(property: String, count: Int) {
    let lines = """
      struct A: ViewModel {
        \(property)

        static let keys: Keys<Self> = [
          .text("name") { $0.name },
        ]
      }
      """.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(Self.repetitions(in: lines).count == count)
  }

  private static func repetitions(in lines: [Substring]) -> [(line: Int, key: String)] {
    var stored: [String: Set<Substring>] = [:]
    var keys: [(line: Int, key: String, name: Substring, owner: String)] = []
    // The types around a line, by their indentation.
    var owners: [(indentation: Int, name: String)] = []
    let type = /^ *(?:private |fileprivate )?(?:struct|extension|enum) (\w+)/
    let property = /^ *(?:private |fileprivate )?(?:let|var) (\w+)(?:: [^{]*| = [^{]*)$/
    let key = /^ *\.(?:text|flag|number|markup|list|object|optional)\("(\w+)"\) \{ \$0\.(\w+) \}/
    for (number, line) in lines.enumerated() {
      let indentation = line.prefix { $0 == " " }.count
      if let found = line.firstMatch(of: type) {
        owners.removeAll { $0.indentation >= indentation }
        owners.append((indentation, String(found.1)))
      }
      if let found = line.firstMatch(of: property),
        let owner = owners.last(where: { $0.indentation == indentation - 2 })
      {
        stored[owner.name, default: []].insert(found.1)
      }
      if let found = line.firstMatch(of: key), found.1 == found.2,
        let owner = owners.last(where: { $0.indentation == indentation - 4 })
      {
        keys.append((number, String(found.0), found.1, owner.name))
      }
    }
    return keys.filter { stored[$0.owner]?.contains($0.name) ?? false }.map { ($0.line, $0.key) }
  }
}
