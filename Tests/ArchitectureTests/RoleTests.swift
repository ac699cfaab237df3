import Foundation
import Testing

/// Files that may name a role: role definitions, the setup of the first owner, and text about
/// service tokens.
private let exempt: Set = [
  "Sources/Identity/Administrators/Permission.swift",
  "Sources/Identity/Administrators/Setup.swift",
  // The name of a message's argument.
  "Sources/Console/Administrators/GrantText.swift",
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
    let code = Self.code
    let found = try files().flatMap { file in
      file.lines.enumerated().filter { $1.contains(code) && !Self.isComment($1) }
        .map { file.breach($0.offset, String($0.element)) }
    }
    #expect(found == [])
  }

  @Test func `no sentence of the console names a role`() throws {
    let key = /Message\("[^"]*"/
    let sentence = Self.sentence
    let found = try files().filter { $0.module == "Console" }.flatMap { file in
      file.lines.enumerated()
        .filter { line in
          // The key of a message isn't a sentence.
          let text = line.element.replacing(key, with: "Message(")
          return text.contains(sentence) && !Self.isComment(line.element)
            && !Self.isPurpose(line.element)
        }
        .map { file.breach($0.offset, String($0.element)) }
    }
    #expect(found == [])
  }

  /// Messages that describe a role, or a fact that no permission decides.
  private static let exemptMessages: Set<Substring> = [
    "audit.token-role-owner", "audit.token-role-auditor", "audit.actor-emulator",
    "audit.actors-emulator-owner", "audit.emulator-owner",
    "messages.purpose-notice-policy-weakened",
    "settings.token-owner", "settings.token-auditor", "setup.creates-the-first-owner-owners",
    "setup.create-owner", "providers.a-provider-is-trusted-as", "cli.no-owner-yet-open-setup-and",
    "cli.the-clock-shows-before-the-newest", "cli.the-clock-shows-long-after-the",
  ]

  @Test func `no message names a role outside the names of roles`() throws {
    let files = try SourceTree.texts().filter {
      $0.path.hasSuffix("/messages.po") && $0.path != "Templates/common/messages.po"
    }
    let name = /^msgctxt "(.*)"$/
    let sentence = Self.sentence
    let found = files.flatMap { file in
      zip(file.lines, file.lines.dropFirst()).compactMap { key, text -> String? in
        guard text.hasPrefix("msgid "), text.contains(sentence),
          let key = key.firstMatch(of: name), !Self.exemptMessages.contains(key.1)
        else { return nil }
        return "\(key.1): \(text)"
      }
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
