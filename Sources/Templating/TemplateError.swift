/// A fault in the templates, found when they are loaded or bound, never while a page is rendered.
public struct TemplateError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: Sendable, Equatable {
    /// The file or folder cannot be read, or is not UTF-8.
    case unreadable
    /// A tag has no closing delimiter.
    case unclosedTag
    /// A tag is empty, has spaces inside its name or, for delimiters, has other than two of them.
    case malformedTag(String)
    /// A section, parent or block is not closed.
    case unclosedSection(String)
    /// A closing tag closes nothing, or something else than was opened last.
    case unexpectedClose(String, expected: String?)
    /// A tag other than a block stands directly in a parent.
    case strayTagInParent(String)
    /// One parent names one block twice.
    case repeatedArgument(String)
    /// A page, partial or parent of this name does not exist.
    case unknownTemplate(String, nearest: [String])
    /// The model has no key of this name; `known` is what there is, the nearest first.
    case unknownName(String, model: String, known: [String])
    /// A parent has no block of this name; `known` is what there is, the nearest first.
    case unknownBlock(String, parent: String, known: [String])
    /// The model has two keys of one name.
    case repeatedKey(String, model: String)
    /// The name stands for something that this tag cannot use; `reason` says why.
    case unsuitable(String, reason: String)
    /// Templates include one another without end.
    case endlessInclusion(String)
  }

  /// The file, below the folder the library was read from.
  public let file: String
  /// The line, counted from one; zero where the whole file is meant.
  public let line: Int
  /// What is wrong.
  public let problem: Problem

  init(_ problem: Problem, at place: Place) {
    file = place.file
    line = place.line
    self.problem = problem
  }

  /// The fault in one line: file, line, what is wrong, and what is there instead.
  public var description: String {
    (line > 0 ? "\(file):\(line): " : "\(file): ") + problem.sentence
  }
}

extension TemplateError.Problem {
  fileprivate var sentence: String {
    switch self {
    case .unreadable: "cannot be read as UTF-8"
    case .unclosedTag: "this tag is never closed"
    case .malformedTag(let tag): "“\(tag)” is not a tag"
    case .unclosedSection(let name): "“\(name)” is opened here and never closed"
    case .unexpectedClose(let name, let expected):
      "“\(name)” is closed here, but " + (expected.map { "“\($0)” is open" } ?? "nothing is open")
    case .strayTagInParent(let tag): "“\(tag)” stands in a parent, where only blocks count"
    case .repeatedArgument(let name): "block “\(name)” is given twice"
    case .unknownTemplate(let name, let nearest):
      "there is no template “\(name)”" + Self.list(nearest, before: "; the nearest: ")
    case .unknownName(let name, let model, let known):
      "there is no “\(name)” in \(model)" + Self.list(known, before: "; it has ")
    case .unknownBlock(let name, let parent, let known):
      "“\(parent)” has no block “\(name)”" + Self.list(known, before: "; it has ")
    case .repeatedKey(let name, let model): "\(model) has two keys “\(name)”"
    case .unsuitable(let name, let reason): "“\(name)” \(reason)"
    case .endlessInclusion(let name): "“\(name)” includes itself without end"
    }
  }

  private static func list(_ names: [String], before start: String) -> String {
    names.isEmpty ? "" : start + names.map { "“\($0)”" }.joined(separator: ", ")
  }
}
