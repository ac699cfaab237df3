/// One tag of a template's source.
struct Tag {
  enum Kind: Equatable {
    case escaped, unescaped, section, inverted, close, partial, parent, block, comment, delimiters

    /// Whether the tag can have a line of its own, which then leaves no trace in the page.
    var canStandAlone: Bool {
      self != .escaped && self != .unescaped
    }

    /// Whether the tag needs a closing one.
    var isOpening: Bool {
      switch self {
      case .section, .inverted, .parent, .block: true
      default: false
      }
    }
  }

  let kind: Kind
  /// The name in it; empty for comments and delimiters.
  let name: String
  /// Its bytes in the source, delimiters included.
  let range: Range<Int>
  let place: Place
}
