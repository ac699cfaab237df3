import Localization

/// Prints the manual page.
enum ManualCommand: Command {
  static let name = "manual"
  static let summary = Message("cli.summary-prints-the-manual-page")
  static let options: [Option] = []

  static func run(_ arguments: Arguments) async throws -> Int32 {
    Terminal.say(Manual(commands: Countersign.commands).message)
    return 0
  }
}

/// Prints the completions of a shell.
enum CompletionsCommand: Command {
  static let name = "completions"
  static let summary = Message("cli.summary-prints-the-completions-of-a-shell")
  static let operands = "SHELL"
  static let options: [Option] = []

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let word = try arguments.operand(Message("cli.a-shell"))
    guard let shell = Shell(rawValue: word) else {
      throw UsageError(Message("cli.the-shell-is-unknown", ["word": .text(word)]))
    }
    Terminal.say(Completions(commands: Countersign.commands).script(for: shell))
    return 0
  }
}
