public import HTTPClient

/// A text message to a phone.
public struct TextMessage: Sendable, Equatable {
  /// The ID, the same for every attempt, so that a gateway can detect duplicates.
  public let id: String
  /// The number, in E.164 format.
  public let recipient: String
  /// The text.
  public let text: String
  /// The purpose, such as `sms-sign-in`.
  public let purpose: String
  /// The project whose user gets it.
  public let project: String
  /// The tenant; empty for the project's own users.
  public let tenant: String
  /// When it was created, in seconds since 1970.
  public let createdAt: Int64

  /// Creates a message.
  public init(
    id: String, recipient: String, text: String, purpose: String, project: String, tenant: String,
    createdAt: Int64
  ) {
    (self.id, self.recipient, self.text, self.purpose) = (id, recipient, text, purpose)
    (self.project, self.tenant, self.createdAt) = (project, tenant, createdAt)
  }
}

/// The result of sending a text message.
public enum SMSOutcome: Sendable, Equatable {
  /// The gateway accepted it and is responsible for it from now on.
  case accepted
  /// The gateway rejected it permanently; its status and the beginning of its response.
  case refused(String)
  /// The gateway rejected it temporarily; its status and the beginning of its response.
  case postponed(String)
  /// The gateway rejected the server's credentials, so it would reject every message; its status and
  /// the beginning of its response.
  case unauthorized(String)
  /// The gateway didn't respond to this message.
  case interrupted(HTTPClientError)
  /// The gateway couldn't be reached.
  case unreachable(HTTPClientError)
}
