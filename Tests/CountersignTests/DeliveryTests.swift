import Database
import Synchronization
import Testing

@testable import Identity
@testable import countersign

@Suite(.timeLimit(.minutes(2)))
struct DeliveryTests {
  /// Accepts every message.
  private final class AcceptingCarrier: Carrier {
    let channel = OutboxEntry.Channel.mail
    let server = "test"
    let mostAtOnce = 4
    let lease = Deliveries.lease
    let sent = Atomic(0)

    func send(_ message: DueMessage) async -> DeliveryAttempt {
      sent.add(1, ordering: .relaxed)
      return .recorded(.sent)
    }

    func rest() async {}

    func hurry(seconds: Int) {}
  }

  /// Keeps its connection until both are told to stop.
  private final class LingeringCarrier: Carrier {
    let channel: OutboxEntry.Channel
    let server = "test"
    let mostAtOnce = 4
    let lease = Deliveries.lease
    let isResting = Atomic(false)
    /// Whether the other was told to stop while this one kept its connection.
    let hasMet = Atomic(false)
    private let hurried: Hurried

    init(_ channel: OutboxEntry.Channel, _ hurried: Hurried) {
      self.channel = channel
      self.hurried = hurried
    }

    func send(_ message: DueMessage) async -> DeliveryAttempt { .recorded(.sent) }

    func rest() async {
      isResting.store(true, ordering: .relaxed)
      // Isn't canceled.
      await Task {
        for _ in 0..<1_000 {
          if hurried.count.load(ordering: .relaxed) == 2 {
            hasMet.store(true, ordering: .relaxed)
            return
          }
          try? await Task.sleep(for: .milliseconds(10))
        }
      }.value
    }

    func hurry(seconds: Int) { hurried.count.add(1, ordering: .relaxed) }
  }

  /// How many carriers were told to stop.
  private final class Hurried: Sendable {
    let count = Atomic(0)
  }

  /// Whether a write failed.
  private final class Failed: Sendable {
    let value = Atomic(false)
  }

  private static let log = Log(.text, write: { _, _ in true })

  private func withInstance(_ body: (Instance) async throws -> Void) async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(folder, migrates: true)
      try await body(instance)
      await instance.database.close()
    }
  }

  /// Queues an email in a new project.
  private func queue(_ instance: Instance) async throws -> Pool {
    let identity = instance.identity
    _ = try await identity.pools.createProject(
      id: "acme-app", displayName: "Acme", by: .program(Author(actor: .commandLine)))
    let pool = try await identity.pools.find(project: ID("acme-app"))
    let (outbox, now) = (identity.store.outbox, identity.clock.now())
    try await instance.database.write { connection in
      _ = try outbox.add(
        OutboxMessage(
          channel: .mail, purpose: "verify-email", recipient: "sam@example.com", language: "en",
          subject: "Subject", body: "Text", expiresAt: now.advanced(bySeconds: 3_600)),
        to: nil, in: pool, at: now, connection)
    }
    return pool
  }

  private func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    for _ in 0..<1_000 {
      if try await condition() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return try await condition()
  }

  @Test(arguments: [false, true])
  func `a result that can't be recorded at first is recorded, and the email is sent once`(
    stops: Bool
  ) async throws {
    try await withInstance { instance in
      let pool = try await queue(instance)
      let (deliveries, messages) = (instance.identity.deliveries, instance.identity.messages)
      let (carrier, failed) = (AcceptingCarrier(), Failed())
      let delivery = Delivery(instance.identity, carrier, health: nil, log: Self.log) {
        if !failed.value.exchange(true, ordering: .relaxed) {
          throw DatabaseError(.busy, "failover")
        }
        try await deliveries.record($0, of: $1)
      }
      func isRecorded() async throws -> Bool {
        guard case .sent? = try await messages.list(pool, .all).items.first?.state else {
          return false
        }
        return true
      }
      let hasFailed = try await eventually { failed.value.load(ordering: .relaxed) }
      #expect(hasFailed)
      if stops { await delivery.stop() }
      let isSent = try await stops ? isRecorded() : eventually(isRecorded)
      #expect(isSent && carrier.sent.load(ordering: .relaxed) == 1)
      await delivery.stop()
    }
  }

  @Test func `deliveries stop at the same time`() async throws {
    try await withInstance { instance in
      let hurried = Hurried()
      let carriers = [LingeringCarrier(.mail, hurried), LingeringCarrier(.sms, hurried)]
      let deliveries = carriers.map { Delivery(instance.identity, $0, health: nil, log: Self.log) }
      let areResting = try await eventually {
        carriers.allSatisfy { $0.isResting.load(ordering: .relaxed) }
      }
      #expect(areResting)
      await Delivery.stop(deliveries)
      #expect(carriers.allSatisfy { $0.hasMet.load(ordering: .relaxed) })
    }
  }
}
