import Crypto
import Foundation
import HTTPClient
import Identity
import Localization
import SMS
import Synchronization

final class SMSCarrier: Carrier {
  let server: String
  private let gateway: SMSGateway
  private let requests = Mutex<Set<Task<DeliveryAttempt, Never>>>([])
  private let silence = Mutex(GatewaySilence())

  /// The maximum number of messages sent at the same time: a slow request delays no others.
  static let mostAtOnce = 8

  init(server: String, gateway: SMSGateway) { (self.server, self.gateway) = (server, gateway) }

  var channel: OutboxEntry.Channel { .sms }

  var mostAtOnce: Int { Self.mostAtOnce }

  var lease: Int64 { Deliveries.gatewayLease }

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
      let outcome = try await gateway.send(text, at: Int64(Date().timeIntervalSince1970))
      return silence.withLock { $0.attempt(outcome) }
    } catch {
      return .isDown("\(error)")
    }
  }
}

/// Decides when requests without a response are no longer about single messages.
struct GatewaySilence: Sendable {
  /// The number of requests in a row without a response after which the gateway is down: one number
  /// that it doesn't answer for, or two, delay no others.
  static let most = 3

  private var count = 0

  mutating func attempt(_ outcome: SMSOutcome) -> DeliveryAttempt {
    switch outcome {
    case .interrupted(.timedOut), .interrupted(.interrupted): count += 1
    // The server is stopping, or can't connect.
    case .interrupted(.canceled), .unreachable: break
    default: count = 0
    }
    return switch outcome {
    case .accepted: .recorded(.sent)
    case .refused(let reason): .recorded(.failed(reason))
    case .postponed(let reason): .recorded(.postponed(reason))
    case .unauthorized(let reason): .isDown(reason)
    case .interrupted(let error) where count < Self.most: .recorded(.postponed(error.diagnosis))
    case .interrupted(let error), .unreachable(let error): .isDown(error.diagnosis)
    }
  }
}

struct SMSConfiguration: Sendable {
  private let gateway: SMSGateway
  private let url: String

  /// The environment variable with the secret; other users can read command lines.
  private static let secretVariable = "COUNTERSIGN_SMS_SECRET"

  static let options = [
    Option(
      "sms-url", "URL",
      help: Message(
        "URL of the gateway for text messages. Its secret is in --sms-secret-file or {variable}.",
        ["variable": .text(secretVariable)])),
    Option("sms-from", "SENDER", help: Message("Sender of text messages, for the gateway.")),
    Option(
      "sms-secret-file", "FILE",
      help: Message("File with the gateway's secret on its first line.")),
    Option(
      "sms-daily", "N",
      help: Message("Maximum text messages per day for each user pool (default: 1000).")),
    Option(
      "sms-daily-per-region", "N",
      help: Message(
        "Maximum text messages per day for each user pool to numbers of one region (default: 200).")
    ),
  ]

  /// The options of the limits, which hold without a gateway, too.
  private static let limitNames = ["sms-daily", "sms-daily-per-region"]

  private static let names = options.map(\.name).filter { !limitNames.contains($0) }

  init?(
    _ arguments: Arguments, environment: [String: String], outbound: OutboundConfiguration,
    problems: inout ConfigurationProblems
  ) {
    let known = problems.count
    guard let text = arguments.value("sms-url") else {
      for name in Self.names where arguments.has(name) {
        problems.append(Message("--{name} requires --sms-url.", ["name": .text(name)]), of: name)
      }
      return nil
    }
    var url: ClientURL?
    do throws(ClientURLError) { url = try ClientURL(text) } catch {
      problems.append(error.message(of: "sms-url"), of: "sms-url")
    }
    let before = problems.count
    let secret = SecretFile(
      option: "sms-secret-file", variable: Self.secretVariable
    ).read(arguments, environment, &problems)
    if secret == nil, problems.count == before {
      problems.append(
        Message(
          "--sms-url requires a secret, in --sms-secret-file or {variable}.",
          ["variable": .text(Self.secretVariable)]))
    }
    guard let url, let secret, problems.count == known else { return nil }
    gateway = SMSGateway(
      url, sender: arguments.value("sms-from") ?? "", secret: secret,
      client: outbound.client(atOnce: SMSCarrier.mostAtOnce))
    self.url = url.text
  }

  static func limits(_ problems: inout ConfigurationProblems) -> SMSLimits {
    let usual = SMSLimits()
    return SMSLimits(
      perPool: problems.number("sms-daily", in: 1...1_000_000) ?? usual.perPool,
      perRegion: problems.number("sms-daily-per-region", in: 1...1_000_000) ?? usual.perRegion)
  }

  var carrier: any Carrier { SMSCarrier(server: url, gateway: gateway) }
}
