import Foundation
import Identity
import Localization

/// An option of a command: `--name VALUE`, or a flag when it has no placeholder.
struct Option: Sendable {
  let name: String
  let placeholder: String?
  let help: Message
  /// The environment variable used when the option isn't on the command line; nil for none.
  let variable: String?
  /// Whether the option can be repeated, or have values separated by commas.
  let isList: Bool
  /// Whether the value is the path of a file or folder.
  ///
  /// An empty one, as from a variable that isn't set, would lead to the root of the file system.
  var isPath: Bool { placeholder == "FILE" || placeholder == "DIR" }

  init(
    _ name: String, _ placeholder: String? = nil, variable: Bool = true, isList: Bool = false,
    help: Message
  ) {
    self.name = name
    self.placeholder = placeholder
    self.isList = isList
    self.help = help
    let words = name.uppercased().split(separator: "-").joined(separator: "_")
    self.variable = variable ? "COUNTERSIGN_\(words)" : nil
  }
}

/// An error in the command line; the exit code is 64 (`EX_USAGE`).
struct UsageError: Error {
  let message: Message

  init(_ message: Message) { self.message = message }
}

struct ConfigurationError: Error {
  var problems: [Message]
  /// The exit code: 78 (`EX_CONFIG`), or 75 (`EX_TEMPFAIL`) for what another attempt can solve.
  var exitCode: Int32 = 78

  var isTemporary: Bool { exitCode == Self.temporaryExitCode }

  private static let temporaryExitCode: Int32 = 75

  init(_ problems: [Message]) { self.problems = problems }
  init(_ problem: Message) { problems = [problem] }

  init(_ problem: Message, isTemporary: Bool) {
    self.init([problem], isTemporary: isTemporary)
  }

  init(_ problems: [Message], isTemporary: Bool) {
    self.init(problems)
    if isTemporary { exitCode = Self.temporaryExitCode }
  }

  /// An error that ends by itself, such as that another program uses the data folder.
  static func temporary(_ problem: Message) -> Self { Self(problem, isTemporary: true) }
}

/// The options and operands from the command line, the environment, and the configuration file.
struct Arguments: Sendable {
  private var values: [String: [String]] = [:]
  private var file: ConfigurationFile?
  private var fromFile: Set<String> = []
  private(set) var operands: [String] = []

  /// Parses arguments against a command's options.
  ///
  /// `--name=VALUE` is the same as `--name VALUE`, in which the value can't begin with `--`. The
  /// command line overrides the environment, which overrides the configuration file; problems in
  /// the file are in ``fileProblems``.
  init(
    _ words: [String], options: [Option], environment: [String: String] = [:]
  ) throws(UsageError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      guard word.hasPrefix("--") else {
        if word.hasPrefix("-"), word.count > 1 {
          throw UsageError(Message("unknown option {word}", ["word": .text(word)]))
        }
        operands.append(word)
        continue
      }
      let parts = word.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = options.first(where: { $0.name == name }) else {
        throw UsageError(Message("unknown option --{name}", ["name": .text(name)]))
      }
      guard let placeholder = option.placeholder else {
        guard parts.count == 1 else {
          throw UsageError(Message("--{name} doesn't take a value", ["name": .text(name)]))
        }
        values[name] = ["true"]
        continue
      }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(),
        !value.isEmpty || !option.isPath
      else {
        throw UsageError(
          Message(
            "--{name} requires {placeholder}",
            ["name": .text(name), "placeholder": .text(placeholder)]))
      }
      // Otherwise, `--reason --dry-run` would apply what was only to be shown.
      guard parts.count == 2 || !value.hasPrefix("--") else {
        throw UsageError(
          Message(
            "--{name} requires {placeholder}; for the value {text}, type --{name}={text}",
            ["name": .text(name), "placeholder": .text(placeholder), "text": .text(value)]))
      }
      values[name, default: []].append(value)
    }
    var turnedOff: Set<String> = []
    for option in options where values[option.name] == nil {
      guard let variable = option.variable, let value = environment[variable] else { continue }
      if option.placeholder == nil {
        guard !value.isEmpty else { continue }
        guard let isOn = Self.flag(value) else {
          throw UsageError(
            Message(
              "{name} must be yes or no, not {text}",
              ["name": .text(variable), "text": .text(value)]))
        }
        if isOn { values[option.name] = ["true"] } else { turnedOff.insert(option.name) }
      } else if !value.isEmpty {
        values[option.name] = [value]
      }
    }
    guard options.contains(where: { $0.name == ConfigurationFile.option.name }),
      let path = value(ConfigurationFile.option.name)
    else { return }
    let file = ConfigurationFile(path: path, options: ServeConfiguration.options)
    for option in options where values[option.name] == nil && !turnedOff.contains(option.name) {
      guard let value = file.values[option.name] else { continue }
      values[option.name] = value
      fromFile.insert(option.name)
    }
    self.file = file
  }

  /// Returns whether the words ask for help: with `--help` or `-h` before a lone `--`, except where
  /// an option requires a value.
  static func askForHelp(_ words: [String], options: [Option]) -> Bool {
    let words = words.prefix { $0 != "--" }
    return words.indices.contains { index in
      guard ["--help", "-h"].contains(words[index]) else { return false }
      let previous = index > 0 ? words[index - 1] : ""
      return !options.contains { $0.placeholder != nil && previous == "--\($0.name)" }
    }
  }

  var fileProblems: [Message] { fileError?.problems ?? [] }
  var fileError: ConfigurationError? { file?.error }

  /// Returns the line of the configuration file that an option's first value is from; nil if it's
  /// from elsewhere.
  func place(of name: String) -> String? { places(of: name)?.first }

  private func places(of name: String) -> [String]? {
    fromFile.contains(name) ? file?.places[name] : nil
  }

  /// Returns whether a text turns a flag on or off; nil if it does neither.
  static func flag(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "1", "true", "yes", "on": true
    case "0", "false", "no", "off": false
    default: nil
    }
  }

  func has(_ name: String) -> Bool { values[name] != nil }

  /// Returns the reason for an action, as the audit log will have it; nil if it's missing or empty.
  func reason() throws(UsageError) -> String? {
    guard let reason = value("reason")?.trimmingCharacters(in: .whitespacesAndNewlines),
      !reason.isEmpty
    else { return nil }
    guard reason.count <= ActionRequest.longestNote,
      !reason.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw UsageError(
        Message(
          """
          --reason must be at most {longest} characters long, without line breaks or other \
          control characters
          """, ["longest": .number(ActionRequest.longestNote)]))
    }
    return reason
  }

  /// Returns the only operand.
  ///
  /// - Throws: `UsageError` when there isn't exactly one operand, or when it's empty.
  func operand(_ what: Message) throws(UsageError) -> String {
    guard operands.count == 1, !operands[0].isEmpty else {
      throw UsageError(Message("expected: {what}", ["what": .message(what)]))
    }
    return operands[0]
  }

  /// Returns the only operand, a file to create; throws `UsageError` when there isn't exactly one
  /// operand, or when it's empty or `-`, which for other programs means standard output.
  func fileToCreate() throws(UsageError) -> String {
    let path = try operand(Message("the file to create"))
    guard path != "-" else {
      throw UsageError(Message("only backup can write to standard output (-); name a file"))
    }
    return path
  }

  func value(_ name: String) -> String? { values[name]?.last }

  /// Returns all values of an option, split at commas, each with its line of the configuration
  /// file; nil if it's from elsewhere.
  func all(_ name: String) -> [(text: String, place: String?)] {
    let places = places(of: name)
    return (values[name] ?? []).enumerated().flatMap { index, value in
      value.split(separator: ",").map { (String($0), places?[index]) }
    }
  }

  func required(_ name: String) throws(UsageError) -> String {
    guard let value = value(name) else {
      throw UsageError(Message("--{name} is required", ["name": .text(name)]))
    }
    return value
  }
}
