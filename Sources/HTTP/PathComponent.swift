public import Text

/// A segment of a `Path`: a literal or a parameter.
///
/// A string literal is a literal segment, and `nil` is a parameter: `Path("projects", nil,
/// parameters: ProjectID.self)`.
public enum PathComponent: Hashable, Sendable {
  /// A literal segment.
  case literal(String)
  /// A parameter with a suffix in the same segment, such as `:lookup`; empty for none.
  case parameter(suffix: String)

  /// A parameter without a suffix.
  public static let parameter = PathComponent.parameter(suffix: "")
}

extension PathComponent: ExpressibleByStringLiteral, ExpressibleByNilLiteral {
  /// Creates a literal segment from its decoded text.
  public init(stringLiteral text: String) {
    self = .literal(text)
  }

  /// Creates a parameter without a suffix.
  public init(nilLiteral: ()) {
    self = .parameter
  }
}

/// Returns the part of a segment before a suffix, compared byte by byte; nil when the segment
/// doesn't end with the suffix or nothing is left.
func stem(of segment: UntrustedText, before suffix: String) -> UntrustedText? {
  let count = segment.byteCount - suffix.utf8.count
  guard count > 0 else { return nil }
  guard !suffix.isEmpty else { return segment }
  guard segment.text.hasSameBytes(atEnd: suffix) else { return nil }
  return String(segment.utf8.prefix(count)).map { UntrustedText($0) }
}

/// A value that can be a segment of a path.
///
/// `Path` handles percent-encoding; conforming types only see decoded text.
public protocol PathParameter: Sendable {
  /// Parses a decoded segment; nil when it isn't a valid value.
  init?(pathSegment: UntrustedText)
  /// The text of the segment, which must not be empty.
  var pathSegment: String { get }
}

extension String: PathParameter {
  /// The maximum length of a segment read as a `String`, in bytes.
  public static let longestSegment = 1_024

  /// Accepts any text that isn't empty or longer than ``longestSegment``.
  public init?(pathSegment: UntrustedText) {
    guard !pathSegment.isEmpty, let text = pathSegment.text(atMost: Self.longestSegment) else {
      return nil
    }
    self = text
  }

  /// The text itself.
  public var pathSegment: String { self }
}
