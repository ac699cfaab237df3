import Localization

struct SourceLocation: Sendable, Equatable {
  /// The file, as shown to users.
  let file: String
  /// The line, counted from 1.
  let line: Int
}

/// A dotted name of a variable or section; empty for `.`.
struct Name: Sendable {
  let path: [String]
  let place: SourceLocation

  var text: String { path.isEmpty ? "." : path.joined(separator: ".") }
}

indirect enum Node: Sendable {
  /// Literal bytes, at most up to the end of their line.
  case text([UInt8])
  /// The point in a line where the indentation of an including tag is inserted.
  case lineStart
  case variable(Name, escaped: Bool)
  /// The number of a message with plural forms.
  case count(Name)
  /// A message with plural forms, and the content of each.
  case plural(Name, MessageForms, [[Node]])
  case section(Name, inverted: Bool, [Node])
  /// A partial (without arguments) or a parent (with arguments).
  case include(Inclusion)
  case block(Block)
}

/// A tag that includes another template.
struct Inclusion: Sendable {
  let template: String
  let place: SourceLocation
  /// The indentation that a standalone tag adds to each line of the template.
  let indentation: [UInt8]
  /// Whether the tag is on its own line; otherwise included lines aren't indented.
  let isStandalone: Bool
  let arguments: [String: Block]
}

/// A block that can be overridden, or the argument that overrides one.
struct Block: Sendable {
  let name: String
  let place: SourceLocation
  /// The content, without its own indentation.
  let nodes: [Node]
  /// The indentation of the content, relative to its surroundings.
  let indentation: [UInt8]
  /// Whether the content begins on the line after the opening tag.
  let startsLine: Bool
}

struct ParsedTemplate: Sendable {
  let nodes: [Node]
  let messages: [TemplateMessage]
}

/// A message in a template: English text.
public struct TemplateMessage: Sendable, Equatable {
  /// The file, relative to the library's folder.
  public let file: String
  /// The line of its opening tag, counted from 1.
  public let line: Int
  /// What distinguishes the text from the same one that needs another translation.
  public let context: String?
  /// The text: the one for 1 if there's a plural.
  public let text: String
  /// The text for any number but 1.
  public let plural: String?
}
