public import Crypto
public import HTTPClient
import JSON

/// A gateway that sends text messages: a receiver of signed JSON objects, reached over HTTPS.
public struct SMSGateway: Sendable {
  private let url: ClientURL
  private let sender: String
  private let secret: Secret
  private let client: HTTPClient

  /// Creates a gateway.
  ///
  /// - Parameters:
  ///   - url: The URL that requests are sent to.
  ///   - sender: The number or name of the sender; empty for the gateway's own.
  ///   - secret: The secret that signs requests.
  ///   - client: The client.
  public init(_ url: ClientURL, sender: String, secret: Secret, client: HTTPClient) {
    (self.url, self.sender, self.secret, self.client) = (url, sender, secret, client)
  }

  /// Sends a message and waits for the gateway's response.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - seconds: The time, in seconds since 1970.
  /// - Returns: What the gateway did.
  /// - Throws: `CryptoError` if libcrypto fails.
  public func send(_ message: TextMessage, at seconds: Int64) async throws(CryptoError)
    -> SMSOutcome
  {
    var request = try request(message, at: seconds)
    request.isAnsweredByStatus = true
    do throws(HTTPClientError) {
      return Self.outcome(try await client.send(request))
    } catch {
      return Self.outcome(error)
    }
  }

  func request(_ message: TextMessage, at seconds: Int64) throws(CryptoError) -> ClientRequest {
    let body = json(message).serialized()
    return ClientRequest(
      .post, url,
      fields: [
        ("Content-Type", "application/json"), ("Idempotency-Key", message.id),
        (WebhookSignature.field, try WebhookSignature.value(for: body, at: seconds, with: secret)),
      ].compactMap { ClientRequest.Field($0.0, $0.1) },
      body: body)
  }

  private func json(_ message: TextMessage) -> JSON {
    [
      "id": .string(message.id), "to": .string(message.recipient), "from": .string(sender),
      "text": .string(message.text), "purpose": .string(message.purpose),
      "project": .string(message.project), "tenant": .string(message.tenant),
      "createdAt": .number(JSON.Number(message.createdAt)),
    ]
  }

  /// Returns what a response means: the gateway may recover from 408, 429, and 5xx, and a person can
  /// repair what 401 and 407 are about, such as a token that was replaced.
  static func outcome(_ response: ClientResponse) -> SMSOutcome {
    if (200..<300).contains(response.status) { return .accepted }
    let words = text(of: response)
    if [401, 407].contains(response.status) { return .unauthorized(words) }
    let isTemporary = [408, 425, 429].contains(response.status) || response.status >= 500
    return isTemporary ? .postponed(words) : .refused(words)
  }

  /// Returns what an error means: one that only this message may have doesn't keep others waiting.
  static func outcome(_ error: HTTPClientError) -> SMSOutcome {
    switch error {
    case .unresolved, .addressRefused, .unreachable, .untrusted: .unreachable(error)
    case .interrupted, .timedOut, .tooLarge, .canceled: .interrupted(error)
    }
  }

  private static let longestText = 200

  private static func text(of response: ClientResponse) -> String {
    let words = ResponseText.line(response.body.prefix(longestText))
    return words.isEmpty ? String(response.status) : "\(response.status) \(words)"
  }
}

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
