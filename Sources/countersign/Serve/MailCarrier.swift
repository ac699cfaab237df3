import Identity
import SMTP

/// Sends emails through an SMTP server; also text messages, through one that turns emails into
/// them.
struct MailCarrier: Carrier {
  let channel: OutboxEntry.Channel
  private let configuration: MailConfiguration
  private let clients: SMTPClients
  private let address: @Sendable (String) -> String

  /// Creates a carrier of emails.
  init(_ configuration: MailConfiguration) {
    self.init(.mail, configuration) { $0 }
  }

  /// Creates a carrier.
  ///
  /// - Parameters:
  ///   - channel: The channel of the messages.
  ///   - configuration: The server and the sender.
  ///   - address: Returns the email address for a recipient.
  init(
    _ channel: OutboxEntry.Channel, _ configuration: MailConfiguration,
    address: @escaping @Sendable (String) -> String
  ) {
    self.channel = channel
    self.configuration = configuration
    self.address = address
    clients = SMTPClients(configuration.server)
  }

  var server: String { configuration.server.url }

  var mostAtOnce: Int { clients.mostAtOnce }

  var lease: Int64 { Deliveries.lease }

  func rest() async { await clients.rest() }

  func hurry(seconds: Int) { clients.hurry(seconds: seconds) }

  func send(_ message: DueMessage) async -> DeliveryAttempt {
    guard let recipient = MailAddress(address(message.recipient)) else {
      return .recorded(.invalidRecipient)
    }
    let mail: Mail
    do throws(MailError) {
      mail = try Mail(
        sender: configuration.sender,
        senderName: message.senderName ?? configuration.senderName
          ?? SafeName.oneLine(message.application),
        replyTo: message.replyTo.flatMap { MailAddress($0) }, recipient: recipient,
        subject: message.subject, body: message.body, html: message.html,
        language: message.language, date: message.createdAt.seconds, id: message.id)
    } catch {
      switch error {
      case .invalidField(let name): return .recorded(.invalidField(name))
      }
    }
    return switch await clients.send(mail) {
    case .accepted: .recorded(.sent)
    case .refused(let reason): .recorded(.failed(reason))
    case .postponed(let reason): .recorded(.postponed(reason))
    case .unreachable(let reason): .isDown(reason)
    }
  }
}
