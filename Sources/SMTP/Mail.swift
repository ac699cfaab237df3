import Network

/// An email with one recipient, a text, and possibly the same as HTML.
public struct Mail: Sendable {
  let sender: MailAddress
  let senderName: String?
  let replyTo: MailAddress?
  let recipient: MailAddress
  let subject: String
  let body: String
  let html: String?
  let language: String
  let date: Int64
  let id: String

  /// Creates an email.
  ///
  /// - Parameters:
  ///   - sender: The sender's address.
  ///   - senderName: The sender's display name; nil for none.
  ///   - replyTo: The address for replies; nil for the sender's.
  ///   - recipient: The recipient's address.
  ///   - subject: The subject, in one line.
  ///   - body: The body as plain text, with any kind of line breaks.
  ///   - html: The body as HTML; nil for plain text only.
  ///   - language: The language of the body, such as `en`.
  ///   - date: The time of creation, in seconds since 1970.
  ///   - id: The message ID without the domain: letters, digits, dots, and hyphens, unique for the
  ///     sender's domain. It's the same when an email is sent again, so that servers and recipients
  ///     can detect duplicates.
  /// - Throws: ``MailError`` when a value could inject a header.
  public init(
    sender: MailAddress, senderName: String?, replyTo: MailAddress? = nil,
    recipient: MailAddress, subject: String, body: String, html: String? = nil, language: String,
    date: Int64, id: String
  ) throws(MailError) {
    if Self.breaksLine(subject) { throw .invalidField("Subject") }
    if let senderName, Self.breaksLine(senderName) { throw .invalidField("From") }
    guard language.utf8.allSatisfy(Self.isWordByte) else { throw .invalidField("Content-Language") }
    guard !id.isEmpty, id.utf8.allSatisfy({ Self.isWordByte($0) || $0 == UInt8(ascii: ".") }) else {
      throw .invalidField("Message-ID")
    }
    self.sender = sender
    self.senderName = senderName
    self.replyTo = replyTo
    self.recipient = recipient
    self.subject = subject
    self.body = body
    self.html = html
    self.language = language
    self.date = date
    self.id = id
  }

  private static func breaksLine(_ text: String) -> Bool {
    text.unicodeScalars.contains {
      $0.value < 32 || (127...159).contains($0.value) || [0x2028, 0x2029].contains($0.value)
    }
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

/// The reason that an email is invalid.
public enum MailError: Error, Sendable, Equatable {
  /// The value of this header field (RFC 5322) has characters that could end the field.
  case invalidField(String)
}

extension Mail {
  /// The email in transfer format (RFC 5322, RFC 2045).
  public var message: [UInt8] {
    let from =
      senderName.map { "\(MailText.phrase($0))\r\n <\(sender.encoded)>" } ?? "<\(sender.encoded)>"
    var headers = [("Date", MailText.date(date)), ("From", from)]
    if let replyTo { headers.append(("Reply-To", "<\(replyTo.encoded)>")) }
    headers += [
      ("To", "<\(recipient.encoded)>"), ("Message-ID", "<\(id)@\(sender.encodedDomain)>"),
      ("Subject", MailText.line(subject)),
      // Suppresses automatic replies (RFC 3834 section 5).
      ("Auto-Submitted", "auto-generated"),
      ("Content-Language", language.isEmpty ? "en" : language),
      ("MIME-Version", "1.0"),
    ]
    guard let html else { return Self.head(headers) + Self.part(body, "plain") }
    // Quoted-printable text has no `=_`, so the boundary is in no part (RFC 2045 section 6.7).
    let boundary = "=_\(id)"
    headers.append(("Content-Type", "multipart/alternative;\r\n boundary=\"\(boundary)\""))
    let line = Array("--\(boundary)\r\n".utf8)
    // The richest form is the last (RFC 2046 section 5.1.4).
    return Self.head(headers) + [13, 10] + line + Self.part(body, "plain") + [13, 10] + line
      + Self.part(html, "html") + Array("\r\n--\(boundary)--\r\n".utf8)
  }

  private static func head(_ headers: [(String, String)]) -> [UInt8] {
    Array(headers.map { "\($0.0): \($0.1)\r\n" }.joined().utf8)
  }

  /// The last headers of a text, an empty line, and the text.
  private static func part(_ text: String, _ type: String) -> [UInt8] {
    head([
      ("Content-Type", "text/\(type); charset=utf-8"),
      ("Content-Transfer-Encoding", "quoted-printable"),
    ]) + [13, 10] + MailText.quotedPrintable(text)
  }
}

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
