/// An email with one recipient and a text body.
public struct Mail: Sendable {
  /// The sender's address.
  public let sender: MailAddress
  /// The sender's display name; nil for none.
  public let senderName: String?
  /// The recipient's address.
  public let recipient: MailAddress
  /// The subject, in one line.
  public let subject: String
  /// The body, with any kind of line breaks.
  public let body: String
  /// Whether the body is HTML rather than plain text.
  public let isHTML: Bool
  /// The language of the body, such as `en`.
  public let language: String
  /// The time of creation, in seconds since 1970.
  public let date: Int64
  /// The message ID, without the domain.
  ///
  /// It stays the same when an email is sent again, so that servers and recipients can detect
  /// duplicates.
  public let id: String

  /// Creates an email.
  ///
  /// - Parameters:
  ///   - sender: The sender's address.
  ///   - senderName: The sender's display name; nil for none.
  ///   - recipient: The recipient's address.
  ///   - subject: The subject.
  ///   - body: The body.
  ///   - isHTML: Whether the body is HTML.
  ///   - language: The language of the body.
  ///   - date: The time of creation, in seconds since 1970.
  ///   - id: Letters, digits, dots, and hyphens, unique for the sender's domain.
  /// - Throws: ``MailError`` when a value could inject a header.
  public init(
    sender: MailAddress, senderName: String?, recipient: MailAddress, subject: String,
    body: String, isHTML: Bool = false, language: String, date: Int64, id: String
  ) throws(MailError) {
    if Self.breaksLine(subject) { throw .invalidField("Subject") }
    if let senderName, Self.breaksLine(senderName) { throw .invalidField("From") }
    guard language.utf8.allSatisfy(Self.isWordByte) else { throw .invalidField("Content-Language") }
    guard !id.isEmpty, id.utf8.allSatisfy({ Self.isWordByte($0) || $0 == UInt8(ascii: ".") }) else {
      throw .invalidField("Message-ID")
    }
    self.sender = sender
    self.senderName = senderName
    self.recipient = recipient
    self.subject = subject
    self.body = body
    self.isHTML = isHTML
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
      senderName.map { "\(MailText.phrase($0))\r\n <\(sender.text)>" } ?? "<\(sender.text)>"
    let headers = [
      ("Date", MailText.date(date)), ("From", from), ("To", "<\(recipient.text)>"),
      ("Message-ID", "<\(id)@\(sender.domain)>"), ("Subject", MailText.line(subject)),
      // Suppresses automatic replies (RFC 3834 section 5).
      ("Auto-Submitted", "auto-generated"),
      ("Content-Language", language.isEmpty ? "en" : language),
      ("MIME-Version", "1.0"), ("Content-Type", "text/\(isHTML ? "html" : "plain"); charset=utf-8"),
      ("Content-Transfer-Encoding", "quoted-printable"),
    ]
    let head = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
    return Array(head.utf8) + [13, 10] + MailText.quotedPrintable(body)
  }
}
