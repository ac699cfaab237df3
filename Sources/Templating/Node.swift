/// Where a tag stands.
struct Place: Sendable, Equatable {
  /// The file, as it is shown to people.
  let file: String
  /// The line, counted from one.
  let line: Int
}

/// A dotted name of a variable or section; empty for the implicit `.`.
struct Name: Sendable {
  let path: [String]
  let place: Place

  var text: String { path.isEmpty ? "." : path.joined(separator: ".") }
}

/// A piece of a parsed template.
indirect enum Node: Sendable {
  /// Bytes that go into the page as they stand, at most up to the end of their line.
  case text([UInt8])
  /// The point of a line at which the indentation of an including tag goes in.
  case lineStart
  case variable(Name, escaped: Bool)
  case section(Name, inverted: Bool, [Node])
  /// A partial (without arguments) or a parent (with them).
  case include(Inclusion)
  case block(Block)
}

/// A tag that puts another template in its place.
struct Inclusion: Sendable {
  let template: String
  let place: Place
  /// The indentation that a tag on a line of its own hands to each line of the template.
  let indentation: [UInt8]
  /// Whether the tag has a line of its own; otherwise the included lines get no indentation at all.
  let isStandalone: Bool
  /// What stands in for the template's blocks, by their names.
  let arguments: [String: Block]
}

/// A block: a place in a template that can be overridden, or the argument that overrides one.
struct Block: Sendable {
  let name: String
  let place: Place
  /// The content, with its own indentation taken away.
  let nodes: [Node]
  /// The indentation of the content, relative to what is around the block.
  let indentation: [UInt8]
  /// Whether the content begins on a line of its own, after the opening tag's.
  let startsLine: Bool
}

/// A template as parsed from its file.
struct ParsedTemplate: Sendable {
  let name: String
  let nodes: [Node]
}
