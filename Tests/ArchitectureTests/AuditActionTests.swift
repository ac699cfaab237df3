import Testing

/// Action names are defined only in the enum.
struct AuditActionTests {
  private static let home = "Sources/Identity/Staff/Audit/AuditAction.swift"

  @Test func `no string literal names an action outside the enum`() throws {
    let definition = /case \w+ = "([a-z-]+\.[a-z-]+)"/
    let names = try Set(
      SourceTree.file(Self.home).lines.compactMap { $0.firstMatch(of: definition)?.1 })
    #expect(names.count > 90)
    var breaches: [String] = []
    for file in try SourceTree.files(in: "Sources") where file.path != Self.home {
      for (number, line) in file.lines.enumerated() where line.utf8.contains(where: Self.isQuote) {
        let literals = line.split { $0 == "\"" || $0 == "'" }
        breaches += literals.filter(names.contains).map { file.breach(number, String($0)) }
      }
    }
    #expect(breaches == [])
  }

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }
}
