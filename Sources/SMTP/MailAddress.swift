import Network

/// An email address of a sender or a recipient.
///
/// It can't contain characters that would end it in a command or a header.
public struct MailAddress: Sendable, Equatable {
  /// The address, such as `sam@example.com`.
  public let text: String

  /// Parses an address; nil when it's invalid.
  public init?(_ text: String) {
    guard (3...320).contains(text.utf8.count), let at = text.lastIndex(of: "@") else { return nil }
    let parts = [text[..<at], text[text.index(after: at)...]]
    for part in parts {
      guard !part.isEmpty, part.unicodeScalars.allSatisfy(\.isInEmailAddresses) else { return nil }
    }
    self.text = text
  }

  /// The domain after the `@`.
  public var domain: String { String(text.split(separator: "@").last ?? "") }

  /// The domain as A-labels (RFC 5890 section 2.3.2.1), such as `xn--exmple-cua.de` for
  /// `exämple.de`, so that a server without SMTPUTF8 (RFC 6531) accepts it; unchanged if it has no
  /// such form.
  public var encodedDomain: String { HostName.encoded(domain) ?? domain }

  /// The address with ``encodedDomain``, as it's in commands and headers.
  public var encoded: String { "\(text.dropLast(domain.count))\(encodedDomain)" }
}
