import Host
import INI
import Localization
import Text

/// The configuration file: settings named as the long options of `serve`.
struct ConfigurationFile: Sendable {
  /// The maximum size, in bytes.
  static let largest = 64 << 10

  private(set) var values: [String: [String]] = [:]
  /// The line of each of these values, such as `/etc/countersign/countersign.conf:3`; for a flag,
  /// the line that turns it on or off.
  private(set) var places: [String: [String]] = [:]
  private(set) var error: ConfigurationError?

  static let option = Option(
    "config", "FILE",
    help: Message(
      "The configuration file: settings named as these options, such as listen = 127.0.0.1:8080."))

  /// Reads a file completely, even if parts of it are invalid; `options` are all that it can set.
  init(path: String, options: [Option]) {
    let bytes: [UInt8]
    do { bytes = try Self.read(path) } catch {
      self.error = error
      return
    }
    let file = INIFile(bytes)
    var found = file.faults.map { (line: $0.line, problem: $0.fault.message) }
    for setting in file.settings {
      if let problem = add(setting, of: path, options) { found.append((setting.line, problem)) }
    }
    let problems = found.sorted { $0.line < $1.line }.map {
      Self.problem($0.problem, at: "\(path):\($0.line)")
    }
    if !problems.isEmpty { error = ConfigurationError(problems) }
  }

  static func problem(_ problem: Message, at place: String) -> Message {
    Message("{place}: {problem}", ["place": .text(place), "problem": .message(problem)])
  }

  private static func read(_ path: String) throws(ConfigurationError) -> [UInt8] {
    // A pipe or a device could block or never end.
    if let stamp = FileStamp(of: path), !stamp.isRegular {
      throw ConfigurationError(
        Message("{path} can't be read: it isn't a regular file.", ["path": .text(path)]))
    }
    let data: [UInt8]
    do { data = try ReadableFile.contents(path, atMost: largest + 1) } catch {
      throw ConfigurationError(reading: path, error)
    }
    guard data.count <= largest else {
      throw ConfigurationError(
        Message(
          "{path} is larger than {size} KiB.",
          ["path": .text(path), "size": .text("\(largest >> 10)")]))
    }
    return data
  }

  /// Adds a setting; returns what's wrong with it instead.
  private mutating func add(
    _ setting: INIFile.Setting, of path: String, _ options: [Option]
  ) -> Message? {
    let name = Message.Value.text(setting.name)
    // A file that names another file would be hard to follow.
    guard let option = options.first(where: { $0.name.isSameBytes(as: setting.name) }),
      option.name != Self.option.name
    else { return Message("{name} isn't a setting.", ["name": name]) }
    if let first = places[option.name]?.first, !option.isList {
      return Message(
        "{name} is set twice, first in {place}.", ["name": name, "place": .text(first)])
    }
    guard !setting.value.isEmpty else { return Message("{name} has no value.", ["name": name]) }
    places[option.name, default: []].append("\(path):\(setting.line)")
    if option.placeholder == nil {
      guard let isOn = Arguments.flag(setting.value) else {
        return Message(
          "{name} must be yes or no, not {text}.", ["name": name, "text": .text(setting.value)])
      }
      if isOn { values[option.name] = ["true"] }
    } else {
      values[option.name, default: []].append(setting.value)
    }
    return nil
  }
}

extension INIFile.Fault {
  fileprivate var message: Message {
    switch self {
    case .notASetting: Message("The line isn't a setting (name = value) or a comment.")
    case .section: Message("The configuration file has no sections. Remove the line.")
    case .tooLong:
      Message(
        one: "The line is longer than {count} byte.",
        other: "The line is longer than {count} bytes.", ["count": .number(INIFile.longestLine)])
    case .notText: Message("The line isn't UTF-8 text, or it contains control characters.")
    }
  }
}

/// The problems found in a configuration, each with the line of the configuration file that causes
/// it.
struct ConfigurationProblems: Sendable {
  private let arguments: Arguments
  private(set) var messages: [Message]
  /// How many of them another attempt can solve.
  private var temporary = 0

  init(_ arguments: Arguments) {
    self.arguments = arguments
    messages = arguments.fileProblems
    if arguments.fileError?.isTemporary == true { temporary = messages.count }
  }

  var error: ConfigurationError {
    ConfigurationError(messages, isTemporary: !isEmpty && temporary == count)
  }

  mutating func append(_ error: ConfigurationError, of option: String) {
    for problem in error.problems { append(problem, of: option) }
    if error.isTemporary { temporary += error.problems.count }
  }

  var count: Int { messages.count }
  var isEmpty: Bool { messages.isEmpty }

  mutating func append(_ problem: Message, of option: String? = nil) {
    append(problem, at: option.flatMap(arguments.place))
  }

  /// `place` is the line of the configuration file that causes the problem; nil if it's caused
  /// elsewhere.
  mutating func append(_ problem: Message, at place: String?) {
    messages.append(place.map { ConfigurationFile.problem(problem, at: $0) } ?? problem)
  }

  /// Reads an option that's a whole number, and adds a problem if it isn't or is out of range.
  ///
  /// - Returns: The number; nil without the option or with an invalid one.
  mutating func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
    guard let text = arguments.value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      append(
        Message(
          "--{name} must be a number from {least} to {most}, not {text}.",
          [
            "name": .text(name), "least": .text("\(range.lowerBound)"),
            "most": .text("\(range.upperBound)"), "text": .text(text),
          ]), of: name)
      return nil
    }
    return number
  }

  static func += (problems: inout ConfigurationProblems, more: [Message]) {
    problems.messages += more
  }
}
