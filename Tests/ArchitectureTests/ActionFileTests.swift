import Testing

/// A new action takes few files: its row, its use case, and its form.
struct ActionFileTests {
  @Test(arguments: [
    (action: "clearClockOffset", sources: 3, tests: 1),
    (action: "revokeAPIKey", sources: 3, tests: 2),
  ])
  func `an action is named in few files`(
    _ limit: (action: String, sources: Int, tests: Int)
  ) throws {
    func files(_ folder: String) throws -> [String] {
      try SourceTree.files(in: folder).filter { file in
        file.text.split { !$0.isLetter }.contains { $0 == limit.action }
      }.map(\.path).filter { !$0.hasPrefix("Tests/ArchitectureTests/") }
    }
    let (sources, tests) = (try files("Sources"), try files("Tests"))
    #expect(sources.count <= limit.sources, "\(sources)")
    #expect(tests.count <= limit.tests, "\(tests)")
    // Otherwise the action has another name.
    #expect(sources.count >= 3 && !tests.isEmpty)
  }
}
