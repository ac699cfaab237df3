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

/// Renders a CommonMark text.
///
/// Raw HTML is dropped. A link or image leads to `http`, `https`, `mailto` or a relative address;
/// of others only their text is left. Links that may lead elsewhere send no referrer. Headings get
/// an `id` made of their text.
///
/// - Parameter markdown: At most 256 KiB in UTF-8, nested at most a hundred deep, with at most a
///   thousand images; within these bounds it takes a fraction of a second, whatever it says.
/// - Returns: The document.
/// - Throws: ``MarkdownError`` when a bound is exceeded.
public func renderHTML(markdown: String) throws(MarkdownError) -> MarkdownDocument {
  try Bounds.check(markdown)
  guard let tree = Tree(markdown) else { throw .outOfMemory }
  tree.dropHTML()
  tree.checkLinks()
  let headings = tree.nameHeadings()
  return MarkdownDocument(html: tree.html(), headings: headings)
}
