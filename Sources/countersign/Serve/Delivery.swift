import Identity

/// Sends messages of one channel.
protocol Carrier: Sendable {
  var channel: OutboxEntry.Channel { get }
  /// The server in reports of its failure.
  var server: String { get }
  /// Sends a message.
  func send(_ message: DueMessage) async -> DeliveryAttempt
  /// Closes the connection, if there is one.
  func rest() async
  /// Limits a message being sent to this many more seconds.
  func hurry(seconds: Int)
}

/// The result of sending a message.
enum DeliveryAttempt: Sendable {
  /// The server dealt with it.
  case recorded(DeliveryResult)
  /// The server can't be reached, or accepts nothing now.
  case isDown(String)
}

/// Sends messages that are due, one at a time.
struct Delivery: Sendable {
  private let carrier: any Carrier
  private let task: Task<Void, Never>

  /// How often the queue is checked.
  private static let interval = Duration.seconds(1)
  /// The longest that a message being sent may take once the server is stopping, in seconds.
  private static let grace = 5

  /// Starts the deliveries that are configured.
  static func all(
    of configuration: ServeConfiguration, _ identity: Identity, mail health: MailHealth?,
    sms smsHealth: MailHealth?, log: Log
  ) -> [Delivery] {
    let mail = configuration.mail.map { MailCarrier($0) as any Carrier }
    let sms = configuration.sms.map { $0.carrier(mail: configuration.mail) }
    return [mail, sms].compactMap(\.self).map {
      Delivery(identity, $0, health: $0.channel == .mail ? health : smsHealth, log: log)
    }
  }

  /// Starts sending, beginning with messages left from an earlier run.
  private init(
    _ identity: Identity, _ carrier: any Carrier, health: MailHealth?, log: Log
  ) {
    self.carrier = carrier
    let courier = Courier(identity: identity, carrier: carrier, health: health, log: log)
    task = Task { await courier.run(every: Self.interval) }
  }

  /// Stops sending, after the message in progress is sent and its result recorded.
  func stop() async {
    carrier.hurry(seconds: Self.grace)
    task.cancel()
    await task.value
  }
}

/// Sends queued messages with a carrier.
private struct Courier: Sendable {
  let identity: Identity
  let carrier: any Carrier
  /// The record of attempts; nil for none.
  let health: MailHealth?
  let log: Log

  /// The longest pause between attempts while the server can't be reached.
  private static let longestPause = Duration.seconds(60)

  func run(every interval: Duration) async {
    while !Task.isCancelled {
      do {
        try await identity.deliveries.begin(carrier.channel)
        break
      } catch {
        log.add(.deliveryFailed(carrier.channel, reason: "\(error)"))
        guard await slept(.seconds(5)) else { return }
      }
    }
    var pause: Duration?
    while !Task.isCancelled {
      var round = Round()
      do {
        // Expired messages are dropped, which a wrong clock must not cause.
        if identity.clockGuard.doubt == nil { round = try await sendAll() }
      } catch {
        log.add(.deliveryFailed(carrier.channel, reason: "\(error)"))
      }
      await carrier.rest()
      if round.isAnySent, pause != nil {
        log.add(.deliveryResumed(carrier.channel))
        pause = nil
      }
      if let trouble = round.trouble {
        if pause == nil {
          log.add(
            .deliveryPaused(carrier.channel, server: carrier.server, reason: trouble))
        }
        pause = min((pause ?? .seconds(2)) * 2, Self.longestPause)
      }
      guard await slept(round.trouble == nil ? interval : pause ?? interval) else { return }
    }
  }

  private struct Round {
    var isAnySent = false
    /// The reason the server accepts no messages; nil when it does.
    var trouble: String?
  }

  /// Sends messages that are due, until none is left or the server can't be reached.
  private func sendAll() async throws -> Round {
    var round = Round()
    while !Task.isCancelled, let due = try await identity.deliveries.claim(carrier.channel) {
      let attempt = await carrier.send(due)
      health?.record(.init(attempt), at: identity.clock.now())
      switch attempt {
      case .recorded(let result):
        try await record(result, of: due)
        if result == .sent { round.isAnySent = true }
      case .isDown(let reason):
        try await record(.postponed(reason), of: due)
        round.trouble = reason
        return round
      }
    }
    return round
  }

  /// Records the result for a message, even while the server stops, so that none is sent twice.
  private func record(_ result: DeliveryResult, of message: DueMessage) async throws {
    let deliveries = identity.deliveries
    try await Task { try await deliveries.record(result, of: message) }.value
  }

  /// Waits; returns false when the task is canceled meanwhile.
  private func slept(_ time: Duration) async -> Bool {
    do { try await Task.sleep(for: time) } catch { return false }
    return true
  }
}
