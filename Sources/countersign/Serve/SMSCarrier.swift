import Foundation
import HTTPClient
import Identity
import SMS

/// Sends text messages through a gateway.
struct SMSCarrier: Carrier {
  let server: String
  let gateway: SMSGateway

  var channel: OutboxEntry.Channel { .sms }

  func rest() async {}

  // The gateway's own time limits are short.
  func hurry(seconds: Int) {}

  func send(_ message: DueMessage) async -> DeliveryAttempt {
    let text = TextMessage(
      id: message.id, recipient: message.recipient, text: message.body, purpose: message.purpose,
      project: message.project, tenant: message.tenant, createdAt: message.createdAt.seconds)
    do {
      switch try await gateway.send(text, at: Int64(Date().timeIntervalSince1970)) {
      case .accepted: return .recorded(.sent)
      case .refused(let reason): return .recorded(.failed(reason))
      case .postponed(let reason): return .recorded(.postponed(reason))
      case .unauthorized(let reason): return .isDown(reason)
      case .unreachable(let error): return .isDown(error.diagnosis)
      }
    } catch {
      return .isDown("\(error)")
    }
  }
}
