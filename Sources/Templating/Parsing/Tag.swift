/// A tag in a template's source.
struct Tag {
  enum Kind: Equatable {
    case escaped, unescaped, section, inverted, close, partial, parent, block, comment, delimiters
    /// A whole message, from its opening to its closing tag.
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
  /// The name in the tag, or the context of a message; empty for comments and delimiters.
  let name: String
  /// The texts of a message: one, or the one for 1 and the one for any other number.
  let texts: [String]
  /// The range in the source, including delimiters.
  let range: Range<Int>
  let place: SourceLocation
}
