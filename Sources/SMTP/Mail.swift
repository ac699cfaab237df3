/// A mail with one recipient and a text.
public struct Mail: Sendable {
  /// Where it comes from.
  public let sender: MailAddress
  /// The name beside the sender's address; nil for none.
  public let senderName: String?
  /// Where it goes.
  public let recipient: MailAddress
  /// What it is about, in one line.
  public let subject: String
  /// The text, with line feeds or any other line ends.
  public let body: String
  /// Whether the text is HTML, and not plain.
  public let isHTML: Bool
  /// The language of the text, such as `en`.
  public let language: String
  /// When it was written, in seconds since 1970.
  public let date: Int64
  /// What it is known by, without the domain.
  ///
  /// A mail that is sent again has the same, by which servers and people see a repeat.
  public let id: String

  /// Puts a mail together.
  ///
  /// - Parameters:
  ///   - sender: Where it comes from.
  ///   - senderName: The name beside the sender's address.
  ///   - recipient: Where it goes.
  ///   - subject: What it is about.
  ///   - body: The text.
  ///   - isHTML: Whether the text is HTML.
  ///   - language: The language of the text.
  ///   - date: When it was written, in seconds since 1970.
  ///   - id: Letters, digits, dots and hyphens that no other mail from the domain has.
  /// - Throws: ``MailError``, so that nothing of it can be taken for a header of its own.
  public init(
    sender: MailAddress, senderName: String?, recipient: MailAddress, subject: String,
    body: String, isHTML: Bool = false, language: String, date: Int64, id: String
  ) throws(MailError) {
    if Self.breaksLine(subject) { throw .lineEnd(in: "subject") }
    if let senderName, Self.breaksLine(senderName) { throw .lineEnd(in: "sender's name") }
    guard language.utf8.allSatisfy(Self.isWordByte) else { throw .unreadable("language") }
    guard !id.isEmpty, id.utf8.allSatisfy({ Self.isWordByte($0) || $0 == UInt8(ascii: ".") }) else {
      throw .unreadable("id")
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

/// Why something cannot be a mail.
public enum MailError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A line end or another control character where one line is due.
  case lineEnd(in: String)
  /// A language or an id with other characters than letters, digits and hyphens.
  case unreadable(String)

  /// The reason in a sentence.
  public var description: String {
    switch self {
    case .lineEnd(let part): "The \(part) has a line end or a control character in it."
    case .unreadable(let part): "The \(part) has characters in it that a header cannot have."
    }
  }
}

extension Mail {
  /// The mail as it goes over the wire (RFC 5322, RFC 2045).
  public var message: [UInt8] {
    let from =
      senderName.map { "\(MailText.phrase($0))\r\n <\(sender.text)>" } ?? "<\(sender.text)>"
    let headers = [
      ("Date", MailText.date(date)), ("From", from), ("To", "<\(recipient.text)>"),
      ("Message-ID", "<\(id)@\(sender.domain)>"), ("Subject", MailText.line(subject)),
      // Nobody's out-of-office note shall answer it (RFC 3834, section 5).
      ("Auto-Submitted", "auto-generated"),
      ("Content-Language", language.isEmpty ? "en" : language),
      ("MIME-Version", "1.0"), ("Content-Type", "text/\(isHTML ? "html" : "plain"); charset=utf-8"),
      ("Content-Transfer-Encoding", "quoted-printable"),
    ]
    let head = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
    return Array(head.utf8) + [13, 10] + MailText.quotedPrintable(body)
  }
}
