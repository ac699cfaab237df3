import Foundation
import HTTPClient
import Identity
import SMS
import Synchronization

/// Sends text messages through a gateway.
final class SMSCarrier: Carrier {
  let server: String
  private let gateway: SMSGateway
  private let requests = Mutex<Set<Task<DeliveryAttempt, Never>>>([])

  /// The maximum number of messages sent at the same time: a slow request delays no others.
  static let mostAtOnce = 8

  init(server: String, gateway: SMSGateway) { (self.server, self.gateway) = (server, gateway) }

  var channel: OutboxEntry.Channel { .sms }

  var mostAtOnce: Int { Self.mostAtOnce }

  func rest() async {}

  func hurry(seconds: Int) {
    Task {
      try await Task.sleep(for: .seconds(seconds))
      for task in requests.withLock(\.self) { task.cancel() }
    }
  }

  func send(_ message: DueMessage) async -> DeliveryAttempt {
    // A request that's canceled when the server stops would be sent again after the next start.
    let task = Task { await attempt(message) }
    _ = requests.withLock { $0.insert(task) }
    defer { _ = requests.withLock { $0.remove(task) } }
    return await task.value
  }

  private func attempt(_ message: DueMessage) async -> DeliveryAttempt {
    let text = TextMessage(
      id: message.id, recipient: message.recipient, text: message.body, purpose: message.purpose,
      project: message.project, tenant: message.tenant, createdAt: message.createdAt.seconds)
    do {
      switch try await gateway.send(text, at: Int64(Date().timeIntervalSince1970)) {
      case .accepted: return .recorded(.sent)
      case .refused(let reason): return .recorded(.failed(reason))
      case .postponed(let reason): return .recorded(.postponed(reason))
      case .interrupted(let error): return .recorded(.postponed(error.diagnosis))
      case .unauthorized(let reason): return .isDown(reason)
      case .unreachable(let error): return .isDown(error.diagnosis)
      }
    } catch {
      return .isDown("\(error)")
    }
  }
}
