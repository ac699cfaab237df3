import Testing

/// A new action takes few files: its row, its use case, its form, and its audit action with the text.
struct ActionFileTests {
  @Test(arguments: [
    (action: "clearClockOffset", audit: "factorClearOffset", sources: 5, tests: 3),
    (action: "revokeAPIKey", audit: "apiKeyRevoke", sources: 5, tests: 4),
  ])
  func `an action is named in few files`(
    _ limit: (action: String, audit: String, sources: Int, tests: Int)
  ) throws {
    func files(_ folder: String) throws -> [String] {
      try SourceTree.files(in: folder).filter { file in
        file.text.split { !$0.isLetter }.contains { $0 == limit.action || $0 == limit.audit }
      }.map(\.path).filter { !$0.hasPrefix("Tests/ArchitectureTests/") }
    }
    let (sources, tests) = (try files("Sources"), try files("Tests"))
    #expect(sources.count <= limit.sources, "\(sources)")
    #expect(tests.count <= limit.tests, "\(tests)")
    // Otherwise the action has another name.
    #expect(sources.count >= 3 && !tests.isEmpty)
  }
}
