import Foundation
import Testing

/// Files that may name a role: role definitions, the setup of the first owner, and text about
/// service tokens.
private let exempt: Set = [
  "Sources/Identity/Staff/Administrators/Permission.swift",
  "Sources/Identity/Staff/Administrators/Setup.swift",
  // The name of a message's argument.
  "Sources/Console/Shared/GrantText.swift",
  // The roles of service tokens.
  "Sources/Console/Shared/AuditCode.swift", "Sources/Console/Settings/SettingsView.swift",
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
    let messages = Set(try MessageTests.code.get().flatMap(\.messages).map(\.text))
    let sentence = Self.sentence
    let found = try files().filter { $0.module == "Console" }.flatMap { file in
      file.lines.enumerated()
        .filter { line in
          line.element.matches(of: sentence).contains {
            // Messages have a test of their own.
            !messages.contains(String(line.element[$0.range].dropFirst().dropLast()))
          } && !Self.isComment(line.element)
        }
        .map { file.breach($0.offset, String($0.element)) }
    }
    #expect(found == [])
  }

  /// Messages that describe a role, or a fact that no permission decides; the file, or the start.
  private static let exemptMessages = [
    "Sources/MailText/Role+Text.swift", "Sources/Console/Shared/AuditCode.swift",
    "Sources/Console/Settings/SettingsView.swift: Owner",
    "Sources/Console/Settings/SettingsView.swift: Auditor",
    "Sources/Console/Shared/AuditText.swift: owner",
    "Sources/Console/Shared/MessagesText.swift: Notice to owners: MFA policy weakened",
    "Templates/setup/setup.mustache",
    "Sources/Console/Providers/ProviderPage.swift: A provider is trusted as much as a password",
    "Sources/countersign/Log/ServerEvent+Record.swift: No owner yet.",
    // Emails to owners.
    "Sources/MailText/AlertMail+Text.swift", "Sources/MailText/ReportedChange+Text.swift",
    "Sources/MailText/WeakenedPolicyMail+Text.swift",
    "Sources/countersign/Data/OperatorText.swift: The system clock shows {shown}, ",
  ]

  @Test func `no message names a role outside the names of roles`() throws {
    let name =
      #/\b([Oo]wners?|[Pp]olicy admins?|[Aa]uditors?)\b/#.wordBoundaryKind(.simple)
    let messages = try MessageTests.templates.get() + MessageTests.code.get().flatMap(\.messages)
    let found = messages.filter { message in
      "\(message.text) \(message.plural ?? "")".replacing(/\{\w+\}/, with: "").contains(name)
    }
    .map { "\($0.file): \($0.text)" }
    let breaches = found.filter { text in !Self.exemptMessages.contains { text.hasPrefix($0) } }
    #expect(breaches == [])
    let unused = Self.exemptMessages.filter { exempt in !found.contains { $0.hasPrefix(exempt) } }
    #expect(unused == [])
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
}
