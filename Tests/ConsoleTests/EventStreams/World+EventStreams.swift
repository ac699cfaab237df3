import Identity
import Testing

@testable import Console

extension World {
  /// Adds a stream of another owner whose destination rejected the first entry, and returns its ID.
  func eventStream(
    kind: EventStream.Kind = .webhook, isPaused: Bool = false
  ) async throws -> String {
    _ = try await identity.evidenceKeys.current()
    while try await identity.auditChain.seal() {}
    let streams = identity.eventStreams
    if let known = try await streams.list().first { return known.stream.id.text }
    let target = kind == .webhook ? "https://siem.example.com/events" : "siem.example.com:514"
    let destination = try #require(EventDestination(kind, target))
    let (agent, author) = try await anotherOwner()
    let request = ActionRequest(agent: agent, author: author, note: "for the SIEM")
    let id = try await streams.add(
      destination, name: "SIEM & archive", fromStart: true, request
    ).value.stream.id
    func next() async throws -> EventBatch {
      try #require(try await streams.next(id, limit: 1))
    }
    let refusal = EventDelivery.refused(
      "HTTP 422: unknown field", attempts: EventStreams.mostAttempts)
    try await streams.record(refusal, of: try await next())
    // The mark of the gap.
    try await streams.record(.delivered, of: try await next())
    let batch = try await next()
    for _ in 0..<2 { try await streams.record(.postponed("HTTP 503: try again later"), of: batch) }
    if isPaused { _ = try await streams.pause(id, request) }
    return id.text
  }
}
