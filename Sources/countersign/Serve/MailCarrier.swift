import Identity
import SMTP

struct MailCarrier: Carrier {
  private let configuration: MailConfiguration
  private let clients: SMTPClients

  init(_ configuration: MailConfiguration) {
    self.configuration = configuration
    clients = SMTPClients(configuration.server)
  }

  var channel: OutboxEntry.Channel { .mail }

  var server: String { configuration.server.url }

  var mostAtOnce: Int { clients.mostAtOnce }

  var lease: Int64 { Deliveries.lease }

  func rest() async { await clients.rest() }

  func hurry(seconds: Int) { clients.hurry(seconds: seconds) }

  func send(_ message: DueMessage) async -> DeliveryAttempt {
    guard let recipient = MailAddress(message.recipient) else {
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
