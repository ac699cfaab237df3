public import Host

/// An error in a template, found when it's loaded or bound, never while a page is rendered.
public struct TemplateError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of error.
  public enum Problem: Sendable, Equatable {
    /// The file or folder can't be read.
    case unreadable(SystemError)
    /// The file isn't UTF-8.
    case notUTF8
    /// A tag has no closing delimiter.
    case unclosedTag
    /// A tag is empty, has a space in its name, or, for delimiters, doesn't have exactly two.
    case malformedTag(String)
    /// A section, parent, or block isn't closed.
    case unclosedSection(String)
    /// A closing tag closes nothing, or doesn't match the last opening tag.
    case unexpectedClose(String, expected: String?)
    /// A tag other than a block is directly inside a parent.
    case strayTagInParent(String)
    /// A parent has two arguments for one block.
    case repeatedArgument(String)
    /// A page, partial, or parent with this name doesn't exist.
    case unknownTemplate(String, nearest: [String])
    /// The model has no key with this name; `known` lists its keys, the most similar first.
    case unknownName(String, model: String, known: [String])
    /// A parent has no block with this name; `known` lists its blocks, the most similar first.
    case unknownBlock(String, parent: String, known: [String])
    /// The model has two keys with the same name.
    case repeatedKey(String, model: String)
    /// The tag can't be used with the type of this name; `reason` explains why.
    case unsuitable(String, reason: String)
    /// Templates include each other endlessly.
    case endlessInclusion(String)
  }

  /// The file, relative to the library's folder; the whole path of one that can't be read.
  public let file: String
  /// The line, counted from 1; 0 for the whole file.
  public let line: Int
  /// The kind of error.
  public let problem: Problem

  init(_ problem: Problem, at place: SourceLocation) {
    file = place.file
    line = place.line
    self.problem = problem
  }

  /// Whether another attempt can succeed, although nobody changes the file.
  public var isTemporary: Bool {
    if case .unreadable(let reason) = problem { reason.isTemporary } else { false }
  }

  /// The error in one line: file, line, problem, and alternatives.
  public var description: String {
    if case .unreadable = problem { return "\(file) \(problem.sentence)" }
    return (line > 0 ? "\(file):\(line): " : "\(file): ") + problem.sentence
  }
}

extension TemplateError.Problem {
  fileprivate var sentence: String {
    switch self {
    case .unreadable(let reason): "can't be read: \(reason)"
    case .notUTF8: "the file isn't UTF-8"
    case .unclosedTag: "tag isn't closed"
    case .malformedTag(let tag): "“\(tag)” isn't a valid tag"
    case .unclosedSection(let name): "“\(name)” isn't closed"
    case .unexpectedClose(let name, let expected):
      "unexpected closing tag “\(name)”; "
        + (expected.map { "expected “\($0)”" } ?? "nothing is open")
    case .strayTagInParent(let tag): "“\(tag)” isn't allowed directly inside a parent"
    case .repeatedArgument(let name): "duplicate block “\(name)”"
    case .unknownTemplate(let name, let nearest):
      "unknown template “\(name)”" + Self.list(nearest, before: "; most similar: ")
    case .unknownName(let name, let model, let known):
      "unknown key “\(name)” in \(model)" + Self.list(known, before: "; available: ")
    case .unknownBlock(let name, let parent, let known):
      "unknown block “\(name)” in “\(parent)”" + Self.list(known, before: "; available: ")
    case .repeatedKey(let name, let model): "\(model) has duplicate keys “\(name)”"
    case .unsuitable(let name, let reason): "“\(name)” \(reason)"
    case .endlessInclusion(let name): "“\(name)” includes itself endlessly"
    }
  }

  private static func list(_ names: [String], before start: String) -> String {
    names.isEmpty ? "" : start + names.map { "“\($0)”" }.joined(separator: ", ")
  }
}

extension Sequence<String> {
  /// Returns the elements sorted by edit distance to `name`.
  func nearest(to name: String) -> [String] {
    map { (text: $0, edits: $0.edits(to: name)) }
      .sorted { ($0.edits, $0.text) < ($1.edits, $1.text) }
      .map(\.text)
  }
}

extension String {
  /// Returns the Levenshtein distance to `other`, in bytes.
  fileprivate func edits(to other: String) -> Int {
    let target = Array(other.utf8)
    var row = Array(0...target.count)
    for (index, byte) in utf8.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in target.indices {
        let replaced = diagonal + (byte == target[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(replaced, row[column] + 1, diagonal + 1)
      }
    }
    return row[target.count]
  }
}
