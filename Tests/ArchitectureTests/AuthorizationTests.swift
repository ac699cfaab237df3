import Testing

/// Pages of the console that act with an author alone, which is no authorization.
private let exempt: Set = [
  // One's own account, whose pages ask for the present code or password.
  "AccountPage.swift",
  "CurrentCodePages.swift",
  "OwnFactorPage.swift",
  "OwnPasswordPage.swift",
  "PreferencesPage.swift",
  // Who reads the log is recorded.
  "AuditPage.swift",
  // Rereads the permission in the write that keeps the list.
  "RemovalsPage.swift",
  // Puts the author into the request that is authorized.
  "ActionInput.swift",
]

struct AuthorizationTests {
  @Test func `no other page acts with an author alone`() throws {
    let found = try SourceTree.files(in: "Sources/Console").filter(actsWithAnAuthor)
      .compactMap { $0.path.split(separator: "/").last.map(String.init) }
    #expect(Set(found) == exempt)
  }

  @Test func `a page that acts with an author alone is found`() {
    let file = SourceFile(
      path: "Sources/Console/A.swift", text: "try await keys.create(for: id, by: signedIn.author)")
    #expect(actsWithAnAuthor(file))
  }

  private func actsWithAnAuthor(_ file: SourceFile) -> Bool {
    !file.code(with: "signedIn.author").isEmpty
  }
}
