/// A command of the program, such as `serve` or `admin create`.
protocol Command: Sendable {
  /// Its words, as typed.
  static var name: String { get }
  /// What it does, in one line.
  static var summary: String { get }
  /// What follows the options, for the help; empty for nothing.
  static var operands: String { get }
  static var options: [Option] { get }

  /// Does it, and returns the exit code.
  static func run(_ arguments: Arguments) async throws -> Int32
}

extension Command {
  static var operands: String { "" }

  /// What `--help` prints.
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
