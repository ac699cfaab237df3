import Identity
import SMTP

/// Sends the mails that are due, one after the other.
struct Delivery: Sendable {
  private let client: SMTPClient
  private let task: Task<Void, Never>

  /// How often it looks for mails.
  private static let interval = Duration.seconds(1)
  /// How long a mail on its way may take once the server is told to stop, in seconds.
  private static let grace = 5

  /// Begins at once with what an earlier run has left.
  init(_ identity: Identity, _ configuration: MailConfiguration) {
    let client = SMTPClient(configuration.server)
    self.client = client
    let courier = Courier(identity: identity, configuration: configuration, client: client)
    task = Task { await courier.run(every: Self.interval) }
  }

  /// Ends it; what is on its way is waited for, and what became of it written down.
  func stop() async {
    client.hurry(seconds: Self.grace)
    task.cancel()
    await task.value
  }
}

/// Carries mails from the outbox to a server.
private struct Courier: Sendable {
  let identity: Identity
  let configuration: MailConfiguration
  let client: SMTPClient

  /// How long to leave a server alone that cannot be reached, at most.
  private static let longestPause = Duration.seconds(60)

  func run(every interval: Duration) async {
    while !Task.isCancelled {
      do {
        try await identity.deliveries.begin()
        break
      } catch {
        Terminal.complain("Mails: \(error)")
        guard await slept(.seconds(5)) else { return }
      }
    }
    var pause: Duration?
    while !Task.isCancelled {
      var round = Round()
      do {
        // A mail that has run out is dropped, which a wrong clock must not decide.
        if identity.clockGuard.doubt == nil { round = try await sendAll() }
      } catch {
        Terminal.complain("Mails: \(error)")
      }
      await client.rest()
      if round.isAnySent, pause != nil {
        Terminal.complain("Mails go out again.")
        pause = nil
      }
      if let trouble = round.trouble {
        if pause == nil {
          Terminal.complain(
            "Mails wait: \(configuration.server.url) does not take them. \(trouble)")
        }
        pause = min((pause ?? .seconds(2)) * 2, Self.longestPause)
      }
      guard await slept(round.trouble == nil ? interval : pause ?? interval) else { return }
    }
  }

  private struct Round {
    var isAnySent = false
    /// Why the server took no mail at all.
    var trouble: String?
  }

  /// Sends what is due, until the server is in trouble.
  private func sendAll() async throws -> Round {
    var round = Round()
    while !Task.isCancelled, let due = try await identity.deliveries.claim() {
      guard let recipient = MailAddress(due.recipient) else {
        try await record(.failed("Mail cannot be sent to this address."), of: due)
        continue
      }
      let mail: Mail
      do throws(MailError) {
        mail = try Mail(
          sender: configuration.sender, senderName: configuration.senderName ?? due.application,
          recipient: recipient, subject: due.subject, body: due.body, isHTML: due.isHTML,
          language: due.language, date: due.createdAt.seconds, id: due.id)
      } catch {
        try await record(.failed(error.description), of: due)
        continue
      }
      switch await client.send(mail) {
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

  /// Writes down what became of a mail, also while the server stops: what was sent must not be sent
  /// again.
  private func record(_ result: DeliveryResult, of mail: DueMail) async throws {
    let deliveries = identity.deliveries
    try await Task { try await deliveries.record(result, of: mail) }.value
  }

  /// Waits; false when it was to stop meanwhile.
  private func slept(_ time: Duration) async -> Bool {
    do { try await Task.sleep(for: time) } catch { return false }
    return true
  }
}
