/// One segment of a `Path`: a word of its own, or the place of a parameter.
///
/// A text literal is a word, `nil` is a parameter:
/// `Path("projects", nil, parameters: ProjectID.self)`.
public enum PathComponent: Hashable, Sendable {
  /// A word that must stand there.
  case literal(String)
  /// A parameter, followed in the same segment by a suffix such as `:lookup`; empty for none.
  case parameter(suffix: String)

  /// A parameter that fills the segment.
  public static let parameter = PathComponent.parameter(suffix: "")
}

extension PathComponent: ExpressibleByStringLiteral, ExpressibleByNilLiteral {
  /// Makes a word, written as it reads when decoded.
  public init(stringLiteral text: String) {
    self = .literal(text)
  }

  /// Makes a parameter that fills the segment.
  public init(nilLiteral: ()) {
    self = .parameter
  }
}

/// What stands before a suffix in a segment, compared byte by byte; nothing when the segment does
/// not end so, or when nothing is left.
func stem(of segment: UntrustedText, before suffix: String) -> UntrustedText? {
  let count = segment.byteCount - suffix.utf8.count
  guard count > 0 else { return nil }
  guard !suffix.isEmpty else { return segment }
  guard segment.text.hasSameBytes(atEnd: suffix) else { return nil }
  return String(segment.utf8.prefix(count)).map { UntrustedText($0) }
}

/// A value that can stand for one segment of a path.
///
/// Percent-coding is the business of `Path`: both sides of this protocol see plain text.
public protocol PathParameter: Sendable {
  /// Reads a decoded segment, or nothing when it does not name such a value.
  init?(pathSegment: UntrustedText)
  /// The text of the segment; it must not be empty, or the link leads elsewhere.
  var pathSegment: String { get }
}

extension String: PathParameter {
  /// The most bytes of a segment that is read as a `String`.
  public static let longestSegment = 1_024

  /// Any text but the empty one and one longer than ``longestSegment``.
  public init?(pathSegment: UntrustedText) {
    guard !pathSegment.isEmpty, let text = pathSegment.text(atMost: Self.longestSegment) else {
      return nil
    }
    self = text
  }

  /// The text itself.
  public var pathSegment: String { self }
}
