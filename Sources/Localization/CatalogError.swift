public import Host

/// An error in a catalog's files, found when it's loaded.
public struct CatalogError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of error.
  public enum Problem: Error, Sendable, Equatable {
    /// The file or folder can't be read.
    case unreadable(SystemError)
    /// The file isn't UTF-8.
    case notUTF8
    /// The line isn't a part of the PO format.
    case syntax(String)
    /// The file has no header with a language and plural forms.
    case missingHeader(String)
    /// The header's plural expression is invalid.
    case malformedPlural(String)
    /// The message has no key.
    case missingKey(String)
    /// The key doesn't begin with the name of the folder.
    case foreignKey(String, folder: String)
    /// Two messages have the same key.
    case repeatedKey(String)
    /// A brace in the text doesn't belong to an argument.
    case malformedArgument(String)
    /// The number of plural forms differs from the header.
    case formCount(String)
    /// The English catalog has no message with this key.
    case unknownKey(String)
    /// The translation's English text isn't that of the catalog.
    case outdated(String)
    /// The translation's arguments or tags differ from the English text.
    case differs(String)
  }

  /// The path of the file, relative to the catalog's folder; the whole path of one that can't be
  /// read.
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

  /// Whether another attempt can succeed, although nobody changes the file.
  public var isTemporary: Bool {
    if case .unreadable(let reason) = problem { reason.isTemporary } else { false }
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
    case .missingKey(let text): "“\(text)” has no msgctxt"
    case .foreignKey(let key, let folder): "“\(key)” doesn’t begin with “\(folder).”"
    case .repeatedKey(let key): "“\(key)” is defined twice"
    case .malformedArgument(let text): "“\(text)” has a brace outside an argument"
    case .formCount(let key): "“\(key)” doesn’t have one text for each plural form"
    case .unknownKey(let key): "there is no “\(key)” in the English catalog"
    case .outdated(let key): "the English text of “\(key)” has changed"
    case .differs(let key): "“\(key)” doesn’t have the arguments and tags of the English text"
    }
  }
}
