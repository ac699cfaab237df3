/// HTML that is trusted as it stands.
///
/// Markup goes into a page without escaping, whichever tag names it. Make it only from the output of
/// another template, or of a renderer that is safe by itself; never from what a person typed.
public struct Markup: Sendable, Equatable {
  /// The HTML, in UTF-8.
  public let bytes: [UInt8]

  /// Vouches for a text as HTML.
  public init(trusted html: String) {
    bytes = Array(html.utf8)
  }

  /// Vouches for bytes, such as those of a rendered template, as HTML in UTF-8.
  public init(trusted html: [UInt8]) {
    bytes = html
  }
}
