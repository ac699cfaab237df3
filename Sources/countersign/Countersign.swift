import Foundation
import Glibc

/// The program: finds the command, runs it, and tells what went wrong in a sentence.
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
    KeysRetireCommand.self, KeysRotateMasterCommand.self, ClockConfirmCommand.self,
    BackupCommand.self,
    RestoreCommand.self, ImportCommand.self, ExportCommand.self, DemoCommand.self,
  ]

  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    exit(await run(words, environment: ProcessInfo.processInfo.environment))
  }

  /// Runs a command line and returns the exit code.
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
      Terminal.complain("There is no command \(words[0]). See countersign --help.")
      return 64
    }
    if rest.contains("--help") || rest.contains("-h") {
      Terminal.say(command.help)
      return 0
    }
    do {
      let arguments = try Arguments(rest, options: command.options, environment: environment)
      if command.operands.isEmpty, let extra = arguments.operands.first {
        throw UsageError(message: "it does not take \(extra)")
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

  /// Lists the commands of a group, such as `token`, when its name stands alone or with a word that
  /// none of them has; nil for what is no group.
  private static func explainGroup(_ words: [String]) -> Int32? {
    let group = commands.filter { $0.name.hasPrefix("\(words[0]) ") }
    guard !group.isEmpty else { return nil }
    var text = "Commands of countersign \(words[0]):\n\n"
    for command in group { text += "  \(command.name)\n      \(command.summary)\n" }
    text += "\ncountersign COMMAND --help lists the options of each."
    if words.count == 1 || ["--help", "-h", "help"].contains(words[1]) {
      Terminal.say(text)
      return words.count == 1 ? 64 : 0
    }
    Terminal.complain("There is no command \(words[0]) \(words[1]).\n\(text)")
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
    return text + "\ncountersign COMMAND --help tells the options of each."
  }
}

/// What the program says to whoever started it.
enum Terminal {
  /// Prints a line at once, also where the output is a pipe.
  static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// Prints a line of trouble.
  static func complain(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
