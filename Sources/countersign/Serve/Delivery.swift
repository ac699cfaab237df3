import Identity
import SMTP

/// Sends emails that are due, one at a time.
struct Delivery: Sendable {
  private let client: SMTPClient
  private let task: Task<Void, Never>

  /// How often the queue is checked.
  private static let interval = Duration.seconds(1)
  /// The longest that an email being sent may take once the server is stopping, in seconds.
  private static let grace = 5

  /// Starts sending, beginning with emails left from an earlier run.
  init(
    _ identity: Identity, _ configuration: MailConfiguration, health: MailHealth, log: Log
  ) {
    let client = SMTPClient(configuration.server)
    self.client = client
    let courier = Courier(
      identity: identity, configuration: configuration, client: client, health: health, log: log)
    task = Task { await courier.run(every: Self.interval) }
  }

  /// Stops sending, after the email in progress is sent and its result recorded.
  func stop() async {
    client.hurry(seconds: Self.grace)
    task.cancel()
    await task.value
  }
}

/// Sends queued emails through an SMTP server.
private struct Courier: Sendable {
  let identity: Identity
  let configuration: MailConfiguration
  let client: SMTPClient
  let health: MailHealth
  let log: Log

  /// The longest pause between attempts while the server can't be reached.
  private static let longestPause = Duration.seconds(60)

  func run(every interval: Duration) async {
    while !Task.isCancelled {
      do {
        try await identity.deliveries.begin()
        break
      } catch {
        log.add(.mailFailed(reason: "\(error)"))
        guard await slept(.seconds(5)) else { return }
      }
    }
    var pause: Duration?
    while !Task.isCancelled {
      var round = Round()
      do {
        // Expired emails are dropped, which a wrong clock must not cause.
        if identity.clockGuard.doubt == nil { round = try await sendAll() }
      } catch {
        log.add(.mailFailed(reason: "\(error)"))
      }
      await client.rest()
      if round.isAnySent, pause != nil {
        log.add(.mailResumed)
        pause = nil
      }
      if let trouble = round.trouble {
        if pause == nil {
          log.add(.mailPaused(server: configuration.server.url, reason: trouble))
        }
        pause = min((pause ?? .seconds(2)) * 2, Self.longestPause)
      }
      guard await slept(round.trouble == nil ? interval : pause ?? interval) else { return }
    }
  }

  private struct Round {
    var isAnySent = false
    /// The reason the server accepts no mail; nil when it does.
    var trouble: String?
  }

  /// Sends emails that are due, until none is left or the server can't be reached.
  private func sendAll() async throws -> Round {
    var round = Round()
    while !Task.isCancelled, let due = try await identity.deliveries.claim() {
      guard let recipient = MailAddress(due.recipient) else {
        try await record(.invalidRecipient, of: due)
        continue
      }
      let mail: Mail
      do throws(MailError) {
        mail = try Mail(
          sender: configuration.sender, senderName: configuration.senderName ?? due.application,
          recipient: recipient, subject: due.subject, body: due.body, isHTML: due.isHTML,
          language: due.language, date: due.createdAt.seconds, id: due.id)
      } catch {
        switch error {
        case .invalidField(let name): try await record(.invalidField(name), of: due)
        }
        continue
      }
      let outcome = await client.send(mail)
      health.record(outcome.attempt, at: identity.clock.now())
      switch outcome {
      case .accepted:
        try await record(.sent, of: due)
        round.isAnySent = true
      case .refused(let reason): try await record(.failed(reason), of: due)
      case .postponed(let reason): try await record(.postponed(reason), of: due)
      case .unreachable(let reason):
        try await record(.postponed(reason), of: due)
        round.trouble = reason
        return round
      }
    }
    return round
  }

  /// Records the result for an email, even while the server stops, so that no email is sent twice.
  private func record(_ result: DeliveryResult, of mail: DueMail) async throws {
    let deliveries = identity.deliveries
    try await Task { try await deliveries.record(result, of: mail) }.value
  }

  /// Waits; returns false when the task is canceled meanwhile.
  private func slept(_ time: Duration) async -> Bool {
    do { try await Task.sleep(for: time) } catch { return false }
    return true
  }
}
