import Testing

/// Values from outside reach the terminal in messages and columns, whose values are escaped.
///
/// Documents aren't: each is listed with why its line feeds are the program's own.
struct TerminalOutputTests {
  private static let documents: [String: (count: Int, why: String)] = [
    "CommandLine/Terminal.swift": (5, "messages and columns that are escaped already"),
    "Log/Log.swift": (2, "lines of escaped messages, or of JSON"),
    "Countersign.swift": (5, "help, and the version"),
    "CommandLine/Manual.swift": (1, "the manual page"),
    "Commands/PolicyCommands.swift": (1, "the JSON schema"),
    "Commands/TokenCommands.swift": (1, "a new token"),
    "Commands/MasterKeyCommand.swift": (1, "a new key"),
    "Commands/DoctorCommand.swift": (1, "JSON"),
    "Commands/EvidenceCommands.swift": (1, "PEM of a key that was parsed"),
    "Commands/AuditCommands.swift": (1, "JSON"),
    "Commands/ConnectionCheckCommand.swift": (1, "JSON"),
    "Commands/ConnectionCommands.swift": (1, "JSON"),
  ]

  /// Files that write to a standard stream without `Terminal`.
  private static let streams: [String: String] = [
    "Countersign.swift": "opens missing streams",
    "CommandLine/Terminal.swift": "the one place; asks whether it's a terminal",
    "CommandLine/PasswordPrompt.swift": "the streams of stty",
    "Commands/BackupCommand.swift": "an archive, which a terminal doesn't get",
    "Commands/PolicyCommands.swift": "JSON with escapes, without a further line feed",
    "Serve/AuditFileWriter.swift": "lines of JSON for a collector",
    "Serve/MonitoringConfiguration.swift": "asks whether it's a terminal",
    "Serve/ServeCommand.swift": "the access log",
  ]

  @Test func `only the listed documents are printed without escaping each value`() throws {
    var found: [String: Int] = [:]
    for file in try SourceTree.files(in: "Sources/countersign") {
      let calls = file.lines.reduce(0) {
        $0 + $1.matches(of: /(?:say|complain)\(document:/).count
      }
      if calls > 0 { found[Self.name(file)] = calls }
    }
    // The declarations of the two functions count too.
    #expect(found == Self.documents.mapValues(\.count))
  }

  @Test func `only the listed files write to a standard stream`() throws {
    let words = [
      "StandardStream.", "standardOutput", "standardError", "STDOUT_FILENO", "STDERR_FILENO",
      "print(", "fputs(", "Terminal.write(",
    ]
    let found = try SourceTree.files(in: "Sources/countersign").filter { file in
      words.contains { !file.code(with: $0).isEmpty }
    }
    #expect(Set(found.map(Self.name)) == Set(Self.streams.keys))
  }

  private static func name(_ file: SourceFile) -> String {
    String(file.path.dropFirst("Sources/countersign/".count))
  }
}
