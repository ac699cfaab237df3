import Testing

/// Pages that act with an author alone, without an authorized request.
private let exempt: Set = [
  // The administrator's own account, whose pages ask for the current code or password.
  "AccountPage.swift",
  "CurrentCodePages.swift",
  "NewPasskeyPage.swift",
  "OwnFactorPage.swift",
  "OwnPasswordPage.swift",
  "PasskeyPages.swift",
  "PreferencesPage.swift",
  "ReauthenticationPage.swift",
  "SignOutPage.swift",
  // Count the users whom a list shows.
  "ExemptionsPage.swift",
  "FindUsersPage.swift",
  "Frames.swift",
  "ReportPage.swift",
  // Reading the log and downloads of it are audited.
  "AuditPage.swift",
  // Rechecks the permission in the transaction that stores the list.
  "NewCampaignPage.swift",
  "RemovalsPage.swift",
  // Adds the author to the request that is authorized.
  "ActionInput.swift",
]

struct AuthorizationTests {
  @Test func `no other page acts with an author alone`() throws {
    let found = try SourceTree.files(in: "Sources/Console").filter(actsWithAnAuthor)
      .compactMap { $0.path.split(separator: "/").last.map(String.init) }
    #expect(Set(found) == exempt)
  }

  @Test func `no page acts as a program, whose permission isn't checked`() throws {
    let found = try SourceTree.files(in: "Sources/Console").filter {
      !$0.code(with: ".program(").isEmpty
    }
    #expect(found.map(\.path) == [])
  }

  @Test func `a page that acts with an author alone is found`() {
    let file = SourceFile(
      path: "Sources/Console/A.swift",
      text: "try await keys.create(for: id, by: .program(signedIn.author))")
    #expect(actsWithAnAuthor(file))
  }

  private func actsWithAnAuthor(_ file: SourceFile) -> Bool {
    !file.code(with: "signedIn.author").isEmpty
  }
}
