/// A tag in a template's source.
struct Tag {
  enum Kind: Equatable {
    case escaped, unescaped, section, inverted, close, partial, parent, block, comment, delimiters
    /// A message of the catalog.
    case message

    /// Whether the tag can be standalone, so that its line is removed from the page.
    var canStandAlone: Bool {
      self != .escaped && self != .unescaped && self != .message
    }

    /// Whether the tag requires a closing tag.
    var isOpening: Bool {
      switch self {
      case .section, .inverted, .parent, .block: true
      default: false
      }
    }
  }

  let kind: Kind
  /// The name in the tag; empty for comments and delimiters.
  let name: String
  /// The range in the source, including delimiters.
  let range: Range<Int>
  let place: SourceLocation
}
