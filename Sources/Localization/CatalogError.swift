public import Host

/// An error in the file of a translation, or in the English text of a message.
public struct CatalogError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of error.
  public enum Problem: Error, Sendable, Equatable {
    /// The file or folder can't be read.
    case unreadable(SystemError)
    /// The file isn't UTF-8.
    case notUTF8
    /// The line isn't a part of the PO format.
    case syntax(String)
    /// The file has no header with plural forms.
    case missingHeader(String)
    /// The header's plural expression is invalid.
    case malformedPlural(String)
    /// A brace in the text doesn't belong to an argument.
    case malformedArgument(String)
  }

  /// The path of the file.
  public let file: String
  /// The line, counted from 1; 0 for the whole file.
  public let line: Int
  /// The kind of error.
  public let problem: Problem

  init(_ problem: Problem, file: String, line: Int) {
    self.file = file
    self.line = line
    self.problem = problem
  }

  /// The error in one line: file, line, and problem.
  public var description: String {
    if case .unreadable = problem { return "\(file) \(problem.sentence)" }
    return (line > 0 ? "\(file):\(line): " : "\(file): ") + problem.sentence
  }
}

extension CatalogError.Problem {
  fileprivate var sentence: String {
    switch self {
    case .unreadable(let reason): "can't be read: \(reason)"
    case .notUTF8: "the file isn't UTF-8"
    case .syntax(let text): "“\(text)” isn’t valid here"
    case .missingHeader(let field): "the header has no valid “\(field)”"
    case .malformedPlural(let text): "“\(text)” is not a plural expression"
    case .malformedArgument(let text): "“\(text)” has a brace outside an argument"
    }
  }
}
