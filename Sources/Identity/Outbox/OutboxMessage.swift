/// An email or text message to a user, before it's added to the outbox.
struct OutboxMessage {
  typealias Channel = OutboxEntry.Channel

  let channel: Channel
  /// The purpose, such as `verify-email`, which administrators see instead of the text.
  let purpose: String
  /// An email address, or a phone number in E.164 format.
  let recipient: String
  /// The language of the text, such as `de` or `pt-BR`.
  let language: String
  /// The subject of an email; empty for a text message.
  let subject: String
  let body: String
  /// The sender of an email; nil for the server's default.
  var sender: EmailSender?
  /// When the message expires; it isn't sent after that.
  let expiresAt: Instant
  /// The administrator whom it's for; nil for a user.
  var reader: Reader?
  /// The user whom a message to an administrator names, or the deleted user whom it was sent to, so
  /// that it's erased with them.
  var about: ID<Account>?

  struct Reader {
    let id: ID<Administrator>
    /// What they must be allowed to do when it's sent; nil for a message about themselves.
    let requirement: ReaderRequirement?

    init(id: ID<Administrator>, permission: Permission? = nil) {
      self.init(id: id, requirement: permission.map { .permission($0) })
    }

    init(id: ID<Administrator>, requirement: ReaderRequirement?) {
      (self.id, self.requirement) = (id, requirement)
    }
  }
}

extension OutboxMessage {
  /// The recipient's address is stored in lowercase, as messages are searched.
  init(
    purpose: String, recipient: String, text: WrittenMail, from sender: EmailSender? = nil,
    expiresAt: Instant, to reader: Reader? = nil, about: ID<Account>? = nil
  ) {
    self.init(
      channel: .mail, purpose: purpose, recipient: AccountRules.folded(email: recipient),
      language: text.language, subject: text.subject, body: text.body, sender: sender,
      expiresAt: expiresAt, reader: reader, about: about)
  }

  /// Whether it's sent before other messages: someone waits for a code or a link, which expires soon,
  /// or it warns of a change that may not be the recipient's.
  func isUrgent(at now: Instant) -> Bool {
    expiresAt < now.advanced(bySeconds: Outbox.noticeLifetime) || isAlert
  }

  /// Whether it's an alert: a message to an administrator, or about what someone with a user's session
  /// can do.
  ///
  /// Of those, one cause can't create thousands.
  private var isAlert: Bool {
    reader != nil || UserNotice.Kind(rawValue: purpose)?.isAlert == true
      || OutOfBandCode.Kind.allCases.contains { $0.isAlert && $0.purpose.rawValue == purpose }
  }
}
