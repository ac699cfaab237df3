import Localization

/// The manual page, in the macros of `man(7)`.
struct Manual {
  let commands: [any Command.Type]

  var message: Message {
    Message(
      "cli.manual",
      [
        "version": .text(Self.escaped(Countersign.version)),
        "commands": .text(commands.map(section).joined()),
      ])
  }

  private func section(_ command: any Command.Type) -> String {
    let operands = command.operands.isEmpty ? "" : " \\fI\(Self.escaped(command.operands))\\fR"
    let options = command.options.map { option in
      let placeholder = option.placeholder.map { " \\fI\(Self.escaped($0))\\fR" } ?? ""
      let variable = option.variable.map { " [\\fB\(Self.escaped($0))\\fR]" } ?? ""
      return """
        .TP
        \\fB\(Self.escaped("--\(option.name)"))\\fR\(placeholder)
        \(Self.escaped(OperatorText.string(option.help)))\(variable)

        """
    }
    return """
      .SS \(Self.escaped(command.name))\(operands)
      \(Self.escaped(OperatorText.string(command.summary)))

      """ + options.joined()
  }

  /// Returns text as one line in which no character is a command of the formatter.
  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "\n": result += " "
      default: result.append(character)
      }
    }
    return result.hasPrefix(".") || result.hasPrefix("'") ? "\\&\(result)" : result
  }
}
