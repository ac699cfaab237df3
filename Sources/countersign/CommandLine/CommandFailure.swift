import Localization

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
    } else if let error = ConfigurationError(database: error) {
      (problems, exitCode) = (error.problems, error.isTemporary ? error.exitCode : 1)
    } else {
      (problems, exitCode) = ([.verbatim("countersign \(command): \(error)")], 1)
    }
  }
}
