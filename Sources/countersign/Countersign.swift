import Foundation
import Glibc
import Host
import Identity
import Localization

@main
struct Countersign {
  static let version = "\(ProgramVersion.current)"

  static let commands: [any Command.Type] =
    [
      ServeCommand.self, InitCommand.self, AdminCreateCommand.self, AdminListCommand.self,
      AdminResetPasswordCommand.self, AdminResetTOTPCommand.self,
      AdminPasskeysOptionalCommand.self, AdminPasswordsOnCommand.self, AdminUnblockCommand.self,
      ProjectCreateCommand.self, ProjectListCommand.self, TenantCreateCommand.self,
      TenantListCommand.self, TokenCreateCommand.self,
      TokenListCommand.self, TokenRevokeCommand.self, TrustedTokenKeyAddCommand.self,
      TrustedTokenKeyListCommand.self, TrustedTokenKeyRevokeCommand.self,
      ConnectionCheckCommand.self, ConnectionAddCommand.self, ConnectionListCommand.self,
      ConnectionRemoveCommand.self, KeysListCommand.self, KeysRotateCommand.self,
      KeysRetireCommand.self, KeysRotateMasterCommand.self, EvidenceKeyCommand.self,
      EvidenceVerifyCommand.self, PolicyExportCommand.self, PolicyDiffCommand.self,
      PolicyApplyCommand.self, PolicySchemaCommand.self, AuditHeadsCommand.self,
      AuditVerifyCommand.self, ClockConfirmCommand.self, BackupCommand.self, RestoreCommand.self,
      RestoredCommand.self, MigrateCommand.self,
    ] + ServerAddress.commands + [
      CheckConfigCommand.self, DoctorCommand.self, ImportCommand.self, ExportCommand.self,
      UserExportCommand.self, UserEraseCommand.self,
      DemoCommand.self, ManualCommand.self,
    ]

  static func main() async {
    ProcessMemory.protect()
    StandardStream.openMissing()
    let words = Array(CommandLine.arguments.dropFirst())
    let code = await run(words, environment: ProcessInfo.processInfo.environment)
    exit(code == 0 ? Terminal.reportLoss() : code)
  }

  /// - Returns: The exit code: 0, 1 for a failure, 64 (`EX_USAGE`), or that of a
  ///   ``ConfigurationError``.
  static func run(_ words: [String], environment: [String: String]) async -> Int32 {
    // Swift replaces other bytes, so the argument would name another file.
    if let word = words.first(where: { $0.unicodeScalars.contains("\u{FFFD}") }) {
      Terminal.complain(Message("The argument {word} isn't UTF-8 text.", ["word": .text(word)]))
      return 64
    }
    // What the commands of token-key were called before, which scripts may still do.
    if words.first == "signer" {
      return await run(["token-key"] + words.dropFirst(), environment: environment)
    }
    if words.isEmpty || ["--help", "-h"].contains(words[0]) || words == ["help"] {
      Terminal.say(document: OperatorText.page(help()))
      return words.isEmpty ? 64 : 0
    }
    if words[0] == "help" {
      return await run(Array(words.dropFirst()) + ["--help"], environment: [:])
    }
    if words[0] == "--version" {
      Terminal.say(document: "countersign \(version)")
      return 0
    }
    guard let (command, rest) = find(words) else {
      if let code = explainGroup(words) { return code }
      Terminal.complain(
        Message("Unknown command: {command}. See countersign --help.", ["command": .text(words[0])])
      )
      return 64
    }
    if Arguments.askForHelp(rest, options: command.options) {
      Terminal.say(document: OperatorText.page(command.help))
      return 0
    }
    do {
      let arguments = try Arguments(rest, options: command.options, environment: environment)
      if command.operands.isEmpty, let extra = arguments.operands.first {
        throw UsageError(Message("unexpected argument {argument}", ["argument": .text(extra)]))
      }
      return try await command.run(arguments)
    } catch {
      let failure = CommandFailure(error, of: command.name)
      for problem in failure.problems { Terminal.complain(problem) }
      return failure.exitCode
    }
  }

  /// Prints the commands of a group, such as `token`, when no command in it matches.
  ///
  /// - Returns: The exit code; nil when there's no such group.
  private static func explainGroup(_ words: [String]) -> Int32? {
    let group = commands.filter { $0.name.hasPrefix("\(words[0]) ") }
    guard !group.isEmpty else { return nil }
    let page = OperatorText.page(
      Message(
        """
        Commands of countersign {group}:

        {commands}
        Run countersign COMMAND --help for a command's options.
        """,
        ["group": .text(words[0]), "commands": .text(list(group))]))
    if words.count == 1 || ["--help", "-h", "help"].contains(words[1]) {
      Terminal.say(document: page)
      return words.count == 1 ? 64 : 0
    }
    Terminal.complain(
      Message(
        "Unknown command: {group} {command}.",
        ["group": .text(words[0]), "command": .text(words[1])]))
    Terminal.complain(document: page)
    return 64
  }

  private static func find(_ words: [String]) -> (any Command.Type, [String])? {
    for command in commands {
      let name = command.name.split(separator: " ").map(String.init)
      if Array(words.prefix(name.count)) == name {
        return (command, Array(words.dropFirst(name.count)))
      }
    }
    return nil
  }

  private static func help() -> Message {
    Message(
      """
      Countersign {version}: an admin console for TOTP multi-factor authentication, and the
      Identity Toolkit server behind it.

      Commands:

      {commands}
      Run countersign COMMAND --help for a command's options.
      """,
      ["version": .text(version), "commands": .text(list(commands))])
  }

  private static func list(_ commands: [any Command.Type]) -> String {
    commands.map { "  \($0.name)\n      \(OperatorText.string($0.summary))\n" }.joined()
  }
}
