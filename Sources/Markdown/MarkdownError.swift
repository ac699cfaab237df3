/// Why a Markdown text is not rendered.
public enum MarkdownError: Error, Sendable, Equatable, CustomStringConvertible {
  /// It is longer than 256 KiB.
  case tooLong(bytes: Int)
  /// A line, counted from one, opens or continues more than a hundred quotes and lists.
  case tooDeep(line: Int)
  /// It has more than a thousand images.
  case tooManyImages
  /// There is no memory left for it.
  case outOfMemory

  /// The reason in one sentence.
  public var description: String {
    switch self {
    case .tooLong(let bytes): "The text has \(bytes) bytes; at most \(Bounds.bytes) are rendered."
    case .tooDeep(let line): "Line \(line) is nested more than \(Bounds.depth) deep."
    case .tooManyImages: "The text has more than \(Bounds.images) images."
    case .outOfMemory: "There is no memory left for the text."
    }
  }
}
