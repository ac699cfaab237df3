import Localization

struct Manual {
  let commands: [any Command.Type]

  var message: Message {
    Message(
      """
      .TH COUNTERSIGN 1 "" "Countersign {version}" "Countersign"
      .SH NAME
      countersign \\- admin console for TOTP multi\\-factor authentication
      .SH SYNOPSIS
      .B countersign
      .I COMMAND
      .RI [ OPTIONS ]
      .SH DESCRIPTION
      Countersign is a self\\-hosted admin console for TOTP multi\\-factor authentication across \
      many
      tenants, and the Identity Toolkit server behind it.
      .PP
      Each option can also be set by the environment variable in brackets.
      The command line takes precedence.
      .SH COMMANDS
      {commands}.SH FILES
      .TP
      .I /etc/countersign/countersign.conf
      The configuration of the service.
      .TP
      .I /var/lib/countersign
      The data folder: the database and the master key.
      .TP
      .I /var/backups/countersign
      The newest 14 backups.
      .SH EXIT STATUS
      0 for success, 1 for a failure, 64 for invalid usage, 75 for a temporary failure, and
      78 for an invalid configuration.
      The commands doctor, policy diff, and evidence verify have other codes, which their help \
      lists.
      .SH SEE ALSO
      .BR systemctl (1),
      .BR journalctl (1),
      .I /usr/share/doc/countersign/docs/operations.md

      """,
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

enum ManualCommand: Command {
  static let name = "manual"
  static let summary = Message("prints the manual page in man format")
  static let options: [Option] = []

  static func run(_ arguments: Arguments) async throws -> Int32 {
    Terminal.say(document: OperatorText.page(Manual(commands: Countersign.commands).message))
    return 0
  }
}
