import Testing

/// The size of the product; a commit that raises a budget says what for.
struct BudgetTests {
  private static let budgets = [
    "lines of Swift": 145_800,
    "Swift files": 856,
    "public error types": 46,
    "console actions": 85,
    "audit actions": 151,
    "tables": 86,
    "options of the command line": 113,
    "commands": 49,
    "upward references in Identity": 78,
    "source files of clearClockOffset": 3,
    "tests of clearClockOffset": 1,
    "source files of revokeAPIKey": 3,
    "tests of revokeAPIKey": 2,
  ]

  @Test func `the product keeps to its size`() throws {
    let sizes = try Self.sizes()
    #expect(sizes.keys.sorted() == Self.budgets.keys.sorted())
    for (what, budget) in Self.budgets {
      let size = sizes[what, default: 0]
      #expect(size <= budget, "\(size) \(what)")
      // Otherwise the budget is left from before something was removed.
      #expect(size * 10 > budget * 9, "\(size) \(what)")
    }
  }

  private static func sizes() throws -> [String: Int] {
    let sources = try SourceTree.files(in: "Sources")
    let identity = sources.filter { $0.module == "Identity" }
    let program = sources.filter { $0.module == "countersign" }
    let tests = try SourceTree.files(in: "Tests").filter {
      !$0.path.hasPrefix("Tests/ArchitectureTests/")
    }
    let schema = try SourceTree.file("docs/reference/schema.md")
    return [
      "lines of Swift": sources.map { $0.lines.count - 1 }.reduce(0, +),
      "Swift files": sources.count,
      "public error types": identity.flatMap(ErrorTests.types).count,
      "console actions": try cases(of: "ConsoleAction", in: identity),
      "audit actions": try cases(of: "AuditAction", in: identity),
      "tables": schema.lines.count { $0.hasPrefix("## ") },
      "options of the command line": program.map {
        $0.text.matches(of: /\bOption\(\s*"/).count
      }.reduce(0, +),
      "commands": program.map { $0.text.matches(of: #/\benum \w+Command: /#).count }.reduce(0, +),
      "upward references in Identity": FloorTests.listed.count,
      // A new action on a user, and another one, take few files.
      "source files of clearClockOffset": count("clearClockOffset", in: sources),
      "tests of clearClockOffset": count("clearClockOffset", in: tests),
      "source files of revokeAPIKey": count("revokeAPIKey", in: sources),
      "tests of revokeAPIKey": count("revokeAPIKey", in: tests),
    ]
  }

  private static func count(_ action: String, in files: [SourceFile]) -> Int {
    files.count { $0.text.split { !$0.isLetter }.contains { $0 == action } }
  }

  /// The number of an enumeration's cases before its first property.
  private static func cases(of type: String, in files: [SourceFile]) throws -> Int {
    let start = "public enum \(type): "
    let file = try #require(files.first { $0.text.contains(start) })
    let lines = file.lines.drop { !$0.hasPrefix(start) }.dropFirst()
      .prefix { !$0.contains(" var ") }.filter { !$0.contains("//") }
    return lines.joined(separator: "\n").matches(of: /(?:\bcase|,)\s+\w/).count
  }
}
