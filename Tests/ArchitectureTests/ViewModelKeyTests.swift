import Testing

/// View models declare each key once, with a key path for a stored property, and only for templates.
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

  @Test func `every key is a variable of a template or of a message`() throws {
    let texts = try SourceTree.texts().filter { $0.path.hasPrefix("Templates/") }
    let used = texts.reduce(into: Set<Substring>()) { $0.formUnion(Self.variables(in: $1)) }
    let keys = try SourceTree.files(in: "Sources/Console").flatMap { file in
      Self.declarations(in: file.lines).map { (file, $0.line, $0.key) }
    }
    #expect(keys.count > 1_000)
    #expect(keys.filter { !used.contains($0.2) }.map { $0.0.breach($0.1, "\($0.2)") } == [])
  }

  @Test func `keys and variables are found`() {
    let code = SourceFile(
      path: "Sources/Console/A.swift",
      text:
        "    .flag(\"hasOne\") { !$0.all.isEmpty },\n    .list(\\.two),\n  let other = A.text(\"b\")"
    )
    #expect(Self.declarations(in: code.lines).map(\.key) == ["hasOne", "two"])
    let template = SourceFile(
      path: "Templates/a/a.mustache",
      text: "{{#one}}{{two.name}}{{{three}}}{{/one}}{{%}}A {four} {five.six}{{/%}}{{>a/b}}")
    #expect(
      Self.variables(in: template) == ["one", "two", "name", "three", "four", "five", "six"])
  }

  private static func declarations(in lines: [Substring]) -> [(line: Int, key: Substring)] {
    let key =
      /^ *\.(?:text|texts|flag|number|markup|list|object|optional)\((?:"(\w+)"|\\\.(\w+))/
    return lines.enumerated().compactMap { line, text in
      text.firstMatch(of: key).flatMap { $0.1 ?? $0.2 }.map { (line, $0) }
    }
  }

  private static func variables(in file: SourceFile) -> Set<Substring> {
    let names =
      file.path.hasSuffix(".mustache")
      ? file.text.matches(of: /\{[#^\/&{]? *([A-Za-z][\w.]*)/).map(\.1) : []
    return Set(names.flatMap { $0.split(separator: ".") })
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
