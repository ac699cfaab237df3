import Identity
import Synchronization

protocol Carrier: Sendable {
  var channel: OutboxEntry.Channel { get }
  /// The server in reports of its failure.
  var server: String { get }
  /// The maximum number of messages sent at the same time now.
  var mostAtOnce: Int { get }
  /// How long a message is leased in seconds, which is longer than sending it takes.
  var lease: Int64 { get }
  /// Sends a message, even if the task is canceled meanwhile.
  func send(_ message: DueMessage) async -> DeliveryAttempt
  func rest() async
  /// Limits messages being sent to this many more seconds.
  func hurry(seconds: Int)
}

enum DeliveryAttempt: Sendable {
  /// The server dealt with it.
  case recorded(DeliveryResult)
  /// The server can't be reached, or accepts nothing now.
  case isDown(String)
}

struct Delivery: Sendable {
  typealias Recording = @Sendable (DeliveryResult, DueMessage) async throws -> Void

  private let carrier: any Carrier
  private let task: Task<Void, Never>
  private let end = StopTime()

  /// The longest that messages being sent may take once the server is stopping, in seconds.
  private static let grace = 5

  static func all(
    of configuration: ServeConfiguration, _ identity: Identity, mail health: MailHealth?,
    sms smsHealth: MailHealth?, log: Log
  ) -> [Delivery] {
    let mail = configuration.mail.map { MailCarrier($0) as any Carrier }
    return [mail, configuration.sms?.carrier].compactMap(\.self).map {
      Delivery(identity, $0, health: $0.channel == .mail ? health : smsHealth, log: log)
    }
  }

  /// Starts sending, beginning with messages left from an earlier run.
  ///
  /// `record` records the result for a message; nil for the database.
  init(
    _ identity: Identity, _ carrier: any Carrier, health: MailHealth?, log: Log,
    record: Recording? = nil
  ) {
    self.carrier = carrier
    let deliveries = identity.deliveries
    let courier = Courier(
      identity: identity, carrier: carrier, health: health, log: log, end: end,
      save: record ?? { try await deliveries.record($0, of: $1) })
    task = Task { await courier.run() }
  }

  /// Stops sending, after the messages in progress are sent and their results recorded.
  func stop() async {
    end.set(.now + .seconds(Self.grace))
    carrier.hurry(seconds: Self.grace)
    task.cancel()
    await task.value
  }

  /// Stops deliveries at the same time, so that together they take no longer than one.
  static func stop(_ deliveries: [Delivery]) async {
    await withTaskGroup { group in
      for delivery in deliveries { group.addTask { await delivery.stop() } }
    }
  }
}

private final class StopTime: Sendable {
  private let time = Mutex<ContinuousClock.Instant?>(nil)

  var value: ContinuousClock.Instant? { time.withLock { $0 } }

  func set(_ value: ContinuousClock.Instant) { time.withLock { $0 = value } }
}

private struct Courier: Sendable {
  let identity: Identity
  let carrier: any Carrier
  let health: MailHealth?
  let log: Log
  let end: StopTime
  let save: Delivery.Recording

  /// How often the queue is checked, and the pause after a result that couldn't be recorded.
  private static let interval = Duration.seconds(1)
  /// The longest pause between attempts while the server can't be reached.
  private static let longestPause = Duration.seconds(60)

  func run() async {
    while !Task.isCancelled {
      do {
        try await identity.deliveries.begin(carrier.channel, leasingFor: carrier.lease)
        break
      } catch {
        log.add(.deliveryFailed(carrier.channel, reason: "\(error)"))
        guard await slept(.seconds(5)) else { return }
      }
    }
    var outage = Outage()
    while !Task.isCancelled {
      do { try await sendAll(&outage) } catch {
        log.add(.deliveryFailed(carrier.channel, reason: "\(error)"))
      }
      await carrier.rest()
      guard await slept(max(outage.remaining, Self.interval)) else { return }
    }
  }

  /// A time in which the server can't be reached, with pauses between attempts that grow.
  private struct Outage {
    /// The last pause; nil while there's no outage.
    private var pause: Duration?
    private var end = ContinuousClock.now

    var isOver: Bool { pause == nil }
    var remaining: Duration {
      isOver ? .zero : max(ContinuousClock.now.duration(to: end), .zero)
    }

    /// Pauses before the next attempt; has no effect during a pause.
    mutating func prolong() {
      guard remaining == .zero else { return }
      let next = min((pause ?? .seconds(2)) * 2, Courier.longestPause)
      (pause, end) = (next, .now + next)
    }
  }

  private enum Step {
    case attempt(DeliveryAttempt, message: String)
    /// It's time to check the queue, although messages are still being sent.
    case check
  }

  /// Sends messages that are due, until none is left or the server can't be reached.
  ///
  /// While messages are still being sent, which may take minutes, others are attempted after a
  /// pause.
  private func sendAll(_ outage: inout Outage) async throws {
    try await withThrowingTaskGroup(of: Step.self) { group in
      var (isCheckDue, willCheck) = (true, false)
      // The IDs of messages.
      var sending: Set<String> = []
      while true {
        while isCheckDue, sending.count < carrier.mostAtOnce, outage.remaining == .zero {
          let due: DueMessage?
          do { due = try await claim(except: sending) } catch {
            // The others would have to wait for those that are being sent, which may take minutes.
            guard !sending.isEmpty else { throw error }
            log.add(.deliveryFailed(carrier.channel, reason: "\(error)"))
            due = nil
          }
          guard let due else {
            isCheckDue = false
            break
          }
          group.addTask { .attempt(await attempt(due), message: due.id) }
          sending.insert(due.id)
        }
        guard !sending.isEmpty else {
          group.cancelAll()
          return
        }
        // More may be sent at the same time by then, too.
        if !willCheck, !Task.isCancelled {
          willCheck = true
          group.addTask {
            _ = await slept(Self.interval)
            return .check
          }
        }
        switch try await group.next() {
        case .attempt(let attempt, let message):
          sending.remove(message)
          note(attempt, &outage)
        case .check: (isCheckDue, willCheck) = (true, false)
        case nil: return
        }
      }
    }
  }

  private func note(_ attempt: DeliveryAttempt, _ outage: inout Outage) {
    switch attempt {
    case .isDown(let reason):
      if outage.isOver {
        log.add(.deliveryPaused(carrier.channel, server: carrier.server, reason: reason))
      }
      outage.prolong()
    case .recorded(.sent) where !outage.isOver:
      log.add(.deliveryResumed(carrier.channel))
      outage = Outage()
    case .recorded: break
    }
  }

  /// Leases the next message; nil if there's none, or none may be sent now.
  private func claim(except sending: Set<String>) async throws -> DueMessage? {
    // Expired messages are dropped, which a wrong clock must not cause.
    guard !Task.isCancelled, identity.clockGuard.doubt == nil else { return nil }
    return try await identity.deliveries.claim(
      carrier.channel, leasingFor: carrier.lease, except: sending)
  }

  private func attempt(_ message: DueMessage) async -> DeliveryAttempt {
    let leaseEnd = ContinuousClock.now + .seconds(carrier.lease)
    let attempt = await carrier.send(message)
    health?.record(.init(attempt), at: identity.clock.now())
    switch attempt {
    case .recorded(let result): await record(result, of: message, until: leaseEnd)
    case .isDown(let reason): await record(.postponed(reason), of: message, until: leaseEnd)
    }
    return attempt
  }

  /// Records the result for a message, even while the server stops, so that none is sent twice.
  ///
  /// The write is repeated while it fails, such as during a failover of the database.
  private func record(
    _ result: DeliveryResult, of message: DueMessage, until leaseEnd: ContinuousClock.Instant
  ) async {
    // Isn't canceled when the server stops.
    await Task {
      var isFirst = true
      while true {
        do {
          return try await save(result, message)
        } catch {
          if isFirst { log.add(.deliveryFailed(carrier.channel, reason: "\(error)")) }
          isFirst = false
        }
        let last = min(leaseEnd, end.value ?? leaseEnd)
        guard .now + Self.interval <= last, await slept(Self.interval) else { return }
      }
    }.value
  }
}
