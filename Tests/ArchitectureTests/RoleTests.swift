import Foundation
import Testing

/// Files that may name a role: role definitions, the setup of the first owner, and text for
/// specific roles that a new role doesn't need.
private let exempt: Set = [
  "Sources/Identity/Administrators/Permission.swift",
  "Sources/Identity/Administrators/Setup.swift",
  "Sources/Console/Administrators/GrantWords.swift",
  // The roles of service tokens.
  "Sources/Console/Audit/AuditCode.swift", "Sources/Console/Settings/SettingsView.swift",
]

/// Adding a role takes a case and its permissions, because no other code or text names roles.
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
  func `code that names a role is found`(line: String) {
    #expect(line.contains(Self.code))
  }

  @Test func `a sentence that names a role is found`() {
    #expect(#""Only an owner can do this.""#.contains(Self.sentence))
  }

  private static func isComment(_ line: Substring) -> Bool {
    line.drop { $0 == " " }.hasPrefix("//")
  }

  /// Whether a line has the purpose of a message to owners, which names its recipients.
  private static func isPurpose(_ line: Substring) -> Bool {
    line.contains(#""notice-policy-weakened""#)
  }
}
