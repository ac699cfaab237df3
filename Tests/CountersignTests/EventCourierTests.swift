import Crypto
import Database
import Foundation
import Identity
import Synchronization
import Testing

@testable import countersign

struct EventCourierTests {
  /// A destination that refuses the first batch and accepts the others.
  private final class PickyCarrier: EventCarrier {
    private let sizes = Mutex<[Int]>([])
    private let meanwhile: @Sendable () async throws -> Void

    /// Creates a destination, and what happens while it refuses the first batch.
    init(_ meanwhile: @escaping @Sendable () async throws -> Void) { self.meanwhile = meanwhile }

    /// The number of events in each batch.
    var batches: [Int] { sizes.withLock { $0 } }

    func deliver(_ batch: EventBatch) async -> EventAttempt {
      let count = sizes.withLock { sizes in
        sizes.append(batch.events.count)
        return sizes.count
      }
      guard count == 1 else { return .delivered }
      do { try await meanwhile() } catch { Issue.record(error) }
      return .refused("HTTP 422")
    }

    func cancel() {}
  }

  /// Returns a request by an owner who has just re-authenticated.
  private func request(_ instance: Instance) async throws -> ActionRequest {
    let password = Secret("correct horse battery")
    let owner = try await instance.identity.administrators.create(
      email: "olga@example.com", displayName: "Olga", password: password,
      grant: Grant(role: .owner), by: Author(actor: .commandLine))
    let outcome = try await instance.identity.consoleSessions.signIn(
      email: owner.email, password: password, address: "a", userAgent: "Browser")
    guard case .signedIn(let new) = outcome else { throw CancellationError() }
    let now = WallClock.system.now().microseconds
    try await instance.database.write { connection in
      _ = try connection.run("UPDATE /* test */ console_session SET proved_at = \(now)")
    }
    return ActionRequest(
      agent: new.session, author: owner.author(address: "a", requestID: "r"), reason: nil,
      note: "a new receiver")
  }

  @Test func `a destination gets no events after another one replaced it, also after a refusal`()
    async throws
  {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(folder, migrates: true)
      let (identity, streams) = (instance.identity, instance.identity.eventStreams)
      let request = try await request(instance)
      let destination = try #require(EventDestination(.webhook, "https://a.example.com/events"))
      let stream = try await streams.add(destination, name: "SIEM", fromStart: true, request)
        .value.stream
      while try await identity.auditChain.seal() {}
      let carrier = PickyCarrier {
        _ = try await streams.change(
          stream.id, name: "SIEM", target: "https://b.example.com/events", renewsSecret: false,
          expecting: stream.version, request)
      }
      let courier = EventCourier(
        streams, identity.taskLease, stream, carrier, log: Log(.text, write: { _, _ in true }))
      await courier.deliver()
      #expect(carrier.batches.count == 1 && carrier.batches.allSatisfy { $0 > 1 })
      let found = try await streams.find(stream.id).stream
      #expect(found.target == "https://b.example.com/events" && found.position == stream.position)
      await instance.database.close()
    }
  }
}
