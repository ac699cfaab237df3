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
  /// Whether the body is HTML, not plain text.
  var isHTML = false
  /// When the message expires; it isn't sent after that.
  let expiresAt: Instant
}

extension OutboxMessage {
  /// Creates an email.
  init(purpose: String, recipient: String, text: WrittenMail, expiresAt: Instant) {
    self.init(
      channel: .mail, purpose: purpose, recipient: recipient, language: text.language,
      subject: text.subject, body: text.body, isHTML: text.isHTML, expiresAt: expiresAt)
  }
}
