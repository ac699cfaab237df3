import Localization

/// The problems found in a configuration, each with the line of the configuration file that causes
/// it.
struct ConfigurationProblems: Sendable {
  private let arguments: Arguments
  private(set) var messages: [Message]
  /// How many of them another attempt can solve.
  private var temporary = 0

  /// Begins with the problems of the configuration file itself.
  init(_ arguments: Arguments) {
    self.arguments = arguments
    messages = arguments.fileProblems
    if arguments.fileError?.isTemporary == true { temporary = messages.count }
  }

  /// The error with all problems; temporary if another attempt can solve each.
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
