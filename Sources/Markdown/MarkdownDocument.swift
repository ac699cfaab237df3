/// A Markdown text as HTML that is safe to show, with its headings.
public struct MarkdownDocument: Sendable, Equatable {
  /// The HTML of the document, without anything around it.
  public let html: String
  /// The headings in their order, for a table of contents.
  public let headings: [Heading]

  /// A heading of the document.
  public struct Heading: Sendable, Equatable {
    /// From 1, the highest, to 6.
    public let level: Int
    /// The value of the heading's `id`, which no other heading of the document has.
    public let id: String
    /// What the heading says, without markup.
    public let text: String
  }
}

/// How a text is fitted into a page.
public struct MarkdownFit: Sendable, Equatable {
  /// The level that the text's first level becomes, 1 to 6; none becomes lower than 6.
  public var headingLevel: Int
  /// What the `id` of each heading begins with, so that it is none of the page's own.
  ///
  /// Links inside of the text that lead to a heading follow.
  public var idPrefix: String
  /// Whether images are shown; of images that are not, the description is left.
  public var showsImages: Bool

  /// Makes a fit; without arguments the text stands as it is.
  public init(headingLevel: Int = 1, idPrefix: String = "", showsImages: Bool = true) {
    self.headingLevel = headingLevel
    self.idPrefix = idPrefix
    self.showsImages = showsImages
  }
}

/// Renders a CommonMark text.
///
/// Raw HTML is dropped. A link or image leads to `http`, `https`, `mailto` or a relative address;
/// of others only their text is left. Links that may lead elsewhere send no referrer. Headings get
/// an `id` made of their text.
///
/// - Parameters:
///   - markdown: At most 256 KiB in UTF-8, nested at most a hundred deep, with at most a thousand
///     images; within these bounds it takes a fraction of a second, whatever it says.
///   - fit: How it is fitted into a page.
/// - Returns: The document.
/// - Throws: ``MarkdownError`` when a bound is exceeded.
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
