/// Trusted HTML.
///
/// Markup is inserted into a page without escaping, by any tag. Create it only from the output of
/// another template or of a safe renderer, never from user input.
public struct Markup: Sendable, Equatable {
  /// The HTML, in UTF-8.
  public let bytes: [UInt8]

  /// Marks text as trusted HTML.
  public init(trusted html: String) {
    bytes = Array(html.utf8)
  }

  /// Marks bytes, such as those of a rendered template, as trusted HTML in UTF-8.
  public init(trusted html: [UInt8]) {
    bytes = html
  }
}
