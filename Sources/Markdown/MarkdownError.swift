/// The reason that a Markdown document can't be rendered.
public enum MarkdownError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The document is longer than 256 KiB.
  case tooLong(bytes: Int)
  /// A line, counted from 1, is nested in more than 100 quotes and lists.
  case tooDeep(line: Int)
  /// The document has more than 1,000 images.
  case tooManyImages
  /// There isn't enough memory.
  case outOfMemory

  /// The maximum length of a document in bytes.
  public static let mostBytes = Bounds.bytes
  /// The maximum number of quotes and lists that a line can be nested in.
  public static let mostLevels = Bounds.depth
  /// The maximum number of images in a document.
  public static let mostImages = Bounds.images

  /// A description for users.
  public var description: String {
    switch self {
    case .tooLong(let bytes): "The text has \(bytes) bytes; at most \(Bounds.bytes) are rendered."
    case .tooDeep(let line): "Line \(line) is nested more than \(Bounds.depth) deep."
    case .tooManyImages: "The text has more than \(Bounds.images) images."
    case .outOfMemory: "There is no memory left for the text."
    }
  }
}
