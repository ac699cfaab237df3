/// A mail or a text message to a user, before it is written to the outbox.
struct OutboxMessage {
  typealias Channel = OutboxEntry.Channel

  let channel: Channel
  /// What it is for, as `verify-email`: shown to administrators in place of its text.
  let purpose: String
  /// An email address, or a phone number with `+` and the country in front.
  let recipient: String
  /// The language of the text, as in `de` or `pt-BR`.
  let language: String
  /// The subject of a mail; empty for a text message.
  let subject: String
  let body: String
  /// Whether the body is HTML, and no plain text.
  var isHTML = false
  /// When it is of no use any more: it is not sent after that.
  let expiresAt: Instant
}
