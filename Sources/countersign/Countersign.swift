import Foundation
import Glibc

/// The entry point: finds the command, runs it, and reports errors.
@main
struct Countersign {
  static let version = "0.1.0"

  static let commands: [any Command.Type] = [
    ServeCommand.self, InitCommand.self, AdminCreateCommand.self, AdminListCommand.self,
    AdminResetPasswordCommand.self, AdminResetTOTPCommand.self,
    AdminReleaseCommand.self, TokenCreateCommand.self,
    TokenListCommand.self, TokenRevokeCommand.self, TrustedTokenKeyAddCommand.self,
    TrustedTokenKeyListCommand.self, TrustedTokenKeyRevokeCommand.self, KeysListCommand.self,
    KeysRotateCommand.self,
    KeysRetireCommand.self, KeysRotateMasterCommand.self, PolicyExportCommand.self,
    PolicyDiffCommand.self, PolicyApplyCommand.self, PolicySchemaCommand.self,
    ClockConfirmCommand.self,
    BackupCommand.self,
    RestoreCommand.self, ImportCommand.self, ExportCommand.self, DemoCommand.self,
  ]

  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    exit(await run(words, environment: ProcessInfo.processInfo.environment))
  }

  /// Runs a command line.
  ///
  /// - Parameters:
  ///   - words: The arguments, without the name of the program.
  ///   - environment: The environment variables.
  /// - Returns: The exit code: 0, 1 for a failure, 64 (`EX_USAGE`) or 78 (`EX_CONFIG`).
  static func run(_ words: [String], environment: [String: String]) async -> Int32 {
    if words.isEmpty || ["--help", "-h", "help"].contains(words[0]) {
      Terminal.say(help)
      return words.isEmpty ? 64 : 0
    }
    if words[0] == "--version" {
      Terminal.say("countersign \(version)")
      return 0
    }
    guard let (command, rest) = find(words) else {
      if let code = explainGroup(words) { return code }
      Terminal.complain("Unknown command: \(words[0]). See countersign --help.")
      return 64
    }
    if rest.contains("--help") || rest.contains("-h") {
      Terminal.say(command.help)
      return 0
    }
    do {
      let arguments = try Arguments(rest, options: command.options, environment: environment)
      if command.operands.isEmpty, let extra = arguments.operands.first {
        throw UsageError(message: "unexpected argument \(extra)")
      }
      return try await command.run(arguments)
    } catch let error as UsageError {
      Terminal.complain("countersign \(command.name): \(error.message). See --help.")
      return 64
    } catch let error as ConfigurationError {
      for problem in error.problems { Terminal.complain(problem) }
      return 78
    } catch {
      Terminal.complain("countersign \(command.name): \(error)")
      return 1
    }
  }

  /// Prints the commands of a group, such as `token`, when no command in it matches.
  ///
  /// - Returns: The exit code; nil when there's no such group.
  private static func explainGroup(_ words: [String]) -> Int32? {
    let group = commands.filter { $0.name.hasPrefix("\(words[0]) ") }
    guard !group.isEmpty else { return nil }
    var text = "Commands of countersign \(words[0]):\n\n"
    for command in group { text += "  \(command.name)\n      \(command.summary)\n" }
    text += "\nRun countersign COMMAND --help for a command's options."
    if words.count == 1 || ["--help", "-h", "help"].contains(words[1]) {
      Terminal.say(text)
      return words.count == 1 ? 64 : 0
    }
    Terminal.complain("Unknown command: \(words[0]) \(words[1]).\n\(text)")
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

  private static var help: String {
    var text = """
      Countersign \(version): an admin console for TOTP multi-factor authentication, and the
      Identity Toolkit server behind it.

      Commands:

      """
    for command in commands { text += "  \(command.name)\n      \(command.summary)\n" }
    return text + "\nRun countersign COMMAND --help for a command's options."
  }
}

/// The program's output.
enum Terminal {
  /// Prints a line to standard output, unbuffered even when it's a pipe.
  static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// Prints a line to standard error.
  static func complain(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
