import Testing

/// Action names are defined only in the enum.
struct AuditActionTests {
  private static let home = "Sources/Identity/Audit/AuditAction.swift"

  @Test func `no string literal names an action outside the enum`() throws {
    let names = try SourceTree.file(Self.home).lines.compactMap { line in
      line.firstMatch(of: /case \w+ = ("[a-z-]+\.[a-z-]+")/).map { String($0.1) }
    }
    #expect(names.count > 90)
    var breaches: [String] = []
    for file in try SourceTree.files(in: "Sources") where file.path != Self.home {
      for (number, line) in file.lines.enumerated() where line.contains("\"") || line.contains("'")
      {
        for name in names {
          let stored = "'" + name.dropFirst().dropLast() + "'"
          if line.contains(name) || line.contains(stored) {
            breaches.append(file.breach(number, name))
          }
        }
      }
    }
    #expect(breaches == [])
  }
}
