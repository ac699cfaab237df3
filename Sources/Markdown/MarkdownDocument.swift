/// A Markdown document rendered as safe HTML, with its headings.
public struct MarkdownDocument: Sendable, Equatable {
  /// The HTML of the document, without a surrounding element.
  public let html: String
  /// The headings in order, for a table of contents.
  public let headings: [Heading]

  /// A heading of the document.
  public struct Heading: Sendable, Equatable {
    /// The level, from 1 (highest) to 6.
    public let level: Int
    /// The heading's `id`, unique in the document.
    public let id: String
    /// The text of the heading, without markup.
    public let text: String
  }
}

/// How a document is embedded in a page.
public struct MarkdownFit: Sendable, Equatable {
  /// The level of the document's first-level headings, 1 to 6; lower levels shift accordingly, to 6
  /// at most.
  public var headingLevel: Int
  /// The prefix of heading IDs, to avoid conflicts with the page's own IDs.
  ///
  /// Links to headings in the document are adjusted.
  public var idPrefix: String
  /// Whether images are shown; otherwise they're replaced by their descriptions.
  public var showsImages: Bool

  /// Creates a fit; the default leaves the document unchanged.
  public init(headingLevel: Int = 1, idPrefix: String = "", showsImages: Bool = true) {
    self.headingLevel = headingLevel
    self.idPrefix = idPrefix
    self.showsImages = showsImages
  }
}

/// Renders a CommonMark document.
///
/// Raw HTML is removed. Links and images can lead to `http`, `https`, `mailto`, or relative
/// addresses; others are replaced by their text. Links that can lead to other hosts send no
/// referrer. Headings get an `id` from their text.
///
/// - Parameters:
///   - markdown: At most 256 KiB in UTF-8, nested at most 100 levels, with at most 1,000 images;
///     within these limits, rendering takes a fraction of a second for any content.
///   - fit: How to embed it in a page.
/// - Returns: The document.
/// - Throws: ``MarkdownError`` when a limit is exceeded.
public func renderHTML(
  markdown: String, fit: MarkdownFit = MarkdownFit()
) throws(MarkdownError) -> MarkdownDocument {
  try Bounds.check(markdown)
  guard let tree = Tree(markdown) else { throw .outOfMemory }
  tree.dropHTML()
  tree.checkLinks(fit)
  let headings = tree.nameHeadings(fit)
  return MarkdownDocument(html: tree.html(), headings: headings)
}

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
