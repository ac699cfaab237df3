import Localization

/// A shell whose completions can be generated.
enum Shell: String, CaseIterable {
  case bash, zsh, fish
}

/// The completions of a shell for all commands and their options.
struct Completions {
  let commands: [any Command.Type]

  /// Returns the script that a shell loads.
  func script(for shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  /// A first word of the command line, and the second words that can follow.
  private struct Group {
    let name: String
    var members: [any Command.Type]

    /// Whether the first word is the whole command.
    var isCommand: Bool { members.count == 1 && members[0].name == name }
    var words: [String] { members.map { String($0.name.dropFirst(name.count + 1)) } }
    var summary: String {
      isCommand ? OperatorText.string(members[0].summary) : words.joined(separator: ", ")
    }
  }

  private var groups: [Group] {
    var groups: [Group] = []
    for command in commands {
      let name = String(command.name.prefix { $0 != " " })
      if let index = groups.firstIndex(where: { $0.name == name }) {
        groups[index].members.append(command)
      } else {
        groups.append(Group(name: name, members: [command]))
      }
    }
    return groups
  }

  private func names(_ placeholder: (String?) -> Bool) -> [String] {
    let options = commands.flatMap { $0.options }.filter { placeholder($0.placeholder) }
    return Set(options.map { "--\($0.name)" }).sorted()
  }

  // MARK: bash

  private var bash: String {
    let groups = groups
    let seconds = groups.filter { !$0.isCommand }.map { group in
      "    '2 \(group.name)') words='\(group.words.joined(separator: " "))' ;;"
    }
    let options = groups.flatMap { group in
      group.members.map { member in
        let words = member.options.map { "--\($0.name)" }.joined(separator: " ")
        return "      '\(member.name)\(group.isCommand ? " '*" : "'")) words='\(words)' ;;"
      }
    }
    let shellScript = """
      _countersign() {
        local current=${COMP_WORDS[COMP_CWORD]} words=
        COMPREPLY=()
        case ${COMP_WORDS[COMP_CWORD - 1]} in
          \(names { $0 == "DIR" }.joined(separator: " | ")))
            mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
          \(names { $0 != nil && $0 != "DIR" }.joined(separator: " | "))) return ;;
        esac
        case "$COMP_CWORD ${COMP_WORDS[1]}" in
          '1 '*) words='\(groups.map(\.name).joined(separator: " "))' ;;
      \(seconds.joined(separator: "\n"))
          *) case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
      \(options.joined(separator: "\n"))
          esac ;;
        esac
        [[ $words == --* && $current != -* ]] && return
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
      }
      complete -o default -F _countersign countersign
      """
    return shellScript
  }

  // MARK: zsh

  private var zsh: String {
    let groups = groups
    func described(_ names: [(String, String)]) -> String {
      names.map { "    \(Self.quoted("\($0):\($1)"))" }.joined(separator: "\n")
    }
    let seconds = groups.filter { !$0.isCommand }.map { group in
      let summaries = group.members.map { OperatorText.string($0.summary) }
      return """
          '3 \(group.name)') found=(
        \(described(Array(zip(group.words, summaries))))
          ) ;;
        """
    }
    let options = groups.flatMap { group in
      group.members.map { member in
        let (pattern, count) = group.isCommand ? ("'\(member.name) '*", 1) : ("'\(member.name)'", 2)
        let options = member.options.map { " \\\n    \(Self.zsh($0))" }.joined()
        return """
            \(pattern)) shift \(count) words; (( CURRENT -= \(count) ))
              _arguments\(options) '*:file:_files' ;;
          """
      }
    }
    let shellScript = """
      #compdef countersign
      local -a found
      case "$CURRENT $words[2]" in
        '2 '*) found=(
      \(described(groups.map { ($0.name, $0.summary) }))
        ) ;;
      \(seconds.joined(separator: "\n"))
      esac
      if (( $#found )); then _describe command found; return; fi
      case "$words[2] $words[3]" in
      \(options.joined(separator: "\n"))
      esac
      """
    return shellScript
  }

  private static func zsh(_ option: Option) -> String {
    let help = OperatorText.string(option.help).map { character in
      "[]:\\".contains(character) ? "\\\(character)" : "\(character)"
    }
    let value = option.placeholder.map { name in
      ":\(name):\(name == "DIR" ? "_files -/" : name == "FILE" ? "_files" : "")"
    }
    return quoted("*--\(option.name)[\(help.joined())]\(value ?? "")")
  }

  // MARK: fish

  private var fish: String {
    var lines: [String] = []
    func add(_ words: String) {
      let shellScript = "complete -c countersign \(words)"
      lines.append(shellScript)
    }
    func add(_ condition: String, _ words: String, _ help: String) {
      add("-n \(Self.fish(condition)) \(words) -d \(Self.fish(help))")
    }
    add("-f")
    for group in groups {
      add("__fish_use_subcommand", "-a \(group.name)", group.summary)
      let isGroup = "__fish_seen_subcommand_from \(group.name)"
      let words = group.words.joined(separator: " ")
      for (word, member) in zip(group.words, group.members) {
        let isMember = group.isCommand ? "" : "; and __fish_seen_subcommand_from \(word)"
        if !group.isCommand {
          let isOpen = "\(isGroup); and not __fish_seen_subcommand_from \(words)"
          add(isOpen, "-a \(word)", OperatorText.string(member.summary))
        }
        for option in member.options {
          let value = option.placeholder.map { ["DIR", "FILE"].contains($0) ? " -rF" : " -x" }
          add(
            isGroup + isMember, "-l \(option.name)\(value ?? "")", OperatorText.string(option.help))
        }
        if !member.operands.isEmpty {
          add("-n \(Self.fish(isGroup + isMember)) -F")
        }
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Quotes text for a POSIX shell.
  private static func quoted(_ text: String) -> String {
    "'\(text.map { $0 == "'" ? "'\\''" : "\($0)" }.joined())'"
  }

  /// Quotes text for fish.
  private static func fish(_ text: String) -> String {
    "'\(text.map { "'\\".contains($0) ? "\\\($0)" : "\($0)" }.joined())'"
  }
}
