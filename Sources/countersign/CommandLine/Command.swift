import Identity
import Localization
import MailText

protocol Command: Sendable {
  static var name: String { get }
  static var summary: Message { get }
  /// The operands shown in the help, such as `FILE`; empty for none.
  static var operands: String { get }
  static var options: [Option] { get }

  static func run(_ arguments: Arguments) async throws -> Int32
}

extension Command {
  static var operands: String { "" }

  static var help: Message {
    let command = operands.isEmpty ? name : "\(name) \(operands)"
    guard !options.isEmpty else {
      return Message(
        "countersign {command}: {summary}\n",
        ["command": .text(command), "summary": .message(summary)])
    }
    let list = options.map { option in
      let placeholder = option.placeholder.map { " \($0)" } ?? ""
      let variable = option.variable.map { " [\($0)]" } ?? ""
      return
        "  --\(option.name)\(placeholder)\n      \(OperatorText.string(option.help))\(variable)\n"
    }
    return Message(
      """
      countersign {command}: {summary}

      Options:
      {options}
      """,
      ["command": .text(command), "summary": .message(summary), "options": .text(list.joined())])
  }
}

struct CommandFailure {
  let problems: [Message]
  /// 1 for a failure, 64 (`EX_USAGE`), or that of a ``ConfigurationError``.
  let exitCode: Int32

  init(_ error: any Error, of command: String) {
    if let error = error as? UsageError {
      problems = [
        Message(
          "countersign {command}: {problem}. See --help.",
          ["command": .text(command), "problem": .message(error.message)])
      ]
      exitCode = 64
    } else if let error = error as? ConfigurationError {
      (problems, exitCode) = (error.problems, error.exitCode)
    } else if case ActionDenial.notOffered(let capability) = error {
      (problems, exitCode) = ([capability.refusal], 1)
    } else if let error = ConfigurationError(database: error) {
      (problems, exitCode) = (error.problems, error.isTemporary ? error.exitCode : 1)
    } else {
      (problems, exitCode) = ([.verbatim("countersign \(command): \(error)")], 1)
    }
  }
}
