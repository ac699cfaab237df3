import Foundation
import Testing

/// Files that may name a role: where roles are defined, the first owner, the demo, and wording that
/// a role can do without.
private let exempt: Set = [
  "Sources/Identity/Administrators/Permission.swift",
  "Sources/Identity/Administrators/Setup.swift",
  "Sources/Console/Administrators/GrantWords.swift",
  // The roles of service tokens.
  "Sources/Console/Audit/AuditCode.swift", "Sources/Console/Settings/SettingsView.swift",
]

/// A new role is a case and its permissions: no other code names roles, and no sentence does.
struct RoleTests {
  private static var code: some RegexComponent {
    #/\bRole\.(owner|policy|support|auditor)\b|\brole(:| ==| !=) \.[a-z]+|roles?: \[\./#
      .wordBoundaryKind(.simple)
  }
  private static var sentence: some RegexComponent {
    #/"[^"]*\b([Oo]wners?|[Pp]olicy admins?|[Aa]uditors?)\b[^"]*"/#.wordBoundaryKind(.simple)
  }

  private func files() throws -> [SourceFile] {
    try SourceTree.files(in: "Sources/Identity", "Sources/Console")
      .filter { !exempt.contains($0.path) && !$0.path.contains("/Demo/") }
  }

  @Test func `no code names a role`() throws {
    let found = try files().flatMap { file in
      file.lines.enumerated().filter { $1.contains(Self.code) && !Self.isComment($1) }
        .map { file.breach($0.offset, String($0.element)) }
    }
    #expect(found == [])
  }

  @Test func `no sentence of the console names a role`() throws {
    let found = try files().filter { $0.module == "Console" }.flatMap { file in
      file.lines.enumerated()
        .filter { $1.contains(Self.sentence) && !Self.isComment($1) && !Self.isPurpose($1) }
        .map { file.breach($0.offset, String($0.element)) }
    }
    #expect(found == [])
  }

  @Test(arguments: [
    "guard grant.role == .owner else { return }", "Grant(role: .support)", "let all = Role.policy",
  ])
  func `code that does is seen`(line: String) {
    #expect(line.contains(Self.code))
  }

  @Test func `a sentence that does is seen`() {
    #expect(#""Only an owner can do this.""#.contains(Self.sentence))
  }

  private static func isComment(_ line: Substring) -> Bool {
    line.drop { $0 == " " }.hasPrefix("//")
  }

  /// The subject of a message to owners, which names those it went to.
  private static func isPurpose(_ line: Substring) -> Bool {
    line.contains(#""notice-policy-weakened""#)
  }
}
