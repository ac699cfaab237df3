/// A command of the program, such as `serve` or `admin create`.
protocol Command: Sendable {
  /// The command as typed, such as `admin create`.
  static var name: String { get }
  /// What the command does, in one line.
  static var summary: String { get }
  /// The operands shown in the help, such as `FILE`; empty for none.
  static var operands: String { get }
  static var options: [Option] { get }

  /// Runs the command and returns the exit code.
  static func run(_ arguments: Arguments) async throws -> Int32
}

extension Command {
  static var operands: String { "" }

  /// The text that `--help` prints.
  static var help: String {
    var text = "countersign \(name)"
    if !operands.isEmpty { text += " \(operands)" }
    text += ": \(summary)\n"
    if !options.isEmpty { text += "\nOptions:\n" }
    for option in options {
      text += "  --\(option.name)\(option.placeholder.map { " \($0)" } ?? "")\n"
      text += "      \(option.help)"
      text += option.variable.map { " [\($0)]" } ?? ""
      text += "\n"
    }
    return text
  }
}
