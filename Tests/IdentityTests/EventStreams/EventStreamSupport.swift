import Crypto
import Database
@testable import Identity
import JSON
import Testing
import Text

extension Instance {
  var streams: EventStreams { identity.eventStreams }

  /// Adds a stream that begins with the first entry.
  @discardableResult
  func addStream(
    _ kind: EventStream.Kind = .webhook, _ target: String = "https://siem.example.com/events",
    name: String = "SIEM", fromStart: Bool = true
  ) async throws -> EventStream {
    try await addStream(
      kind, target, name: name, fromStart: fromStart, by: try await agent("olga", role: .owner))
  }

  /// Adds a stream as an owner.
  func addStream(
    _ kind: EventStream.Kind = .webhook, _ target: String = "https://siem.example.com/events",
    name: String = "SIEM", fromStart: Bool = true, by owner: Agent
  ) async throws -> EventStream {
    let destination = try #require(EventDestination(kind, target))
    return try await streams.add(
      destination, name: name, fromStart: fromStart, owner.request(nil, note: "for the SIEM")
    ).value.stream
  }

  /// Delivers everything; returns what a destination that accepts all events gets.
  func deliverAll(_ stream: EventStream, limit: Int = 100) async throws -> [StreamEvent] {
    var events: [StreamEvent] = []
    while let batch = try await streams.next(stream.id, limit: limit) {
      events += batch.events
      try await streams.record(.delivered, of: batch)
    }
    return events
  }

  /// Goes back because the connection broke, and waits for the next attempt.
  func interrupt(_ stream: EventStream, after position: StreamPosition) async throws {
    let result = try await streams.rewind(
      try await interrupted(stream), to: position, "reset", interruptions: 1)
    #expect(result == .result)
    clock.advance(EventStreams.wait(after: 1))
  }

  /// The batch that a stream would deliver next, whose delivery an interruption ends.
  func interrupted(_ stream: EventStream) async throws -> EventBatch {
    EventBatch(
      stream: try await streams.find(stream.id).stream, secret: nil, events: [], content: .next)
  }

  /// Has the next event refused until it's left out; returns its position.
  func refuseNext(_ stream: EventStream) async throws -> Int64 {
    for attempt in 1...EventStreams.mostAttempts {
      let batch = try #require(try await streams.next(stream.id, limit: 1))
      let refused = EventDelivery.refused("HTTP 422", attempts: attempt)
      if case .leftOut(let position) = try await streams.record(refused, of: batch) {
        return position
      }
      clock.advance(EventStreams.longestWait)
    }
    throw Failure("not left out")
  }

  /// Has the next event, a gap, refused until the stream continues without it.
  func refuseGap(_ stream: EventStream, _ summary: String) async throws {
    for attempt in 1...EventStreams.mostGapAttempts {
      let batch = try #require(try await streams.next(stream.id, limit: 1))
      #expect(batch.events.map(\.summary) == [summary])
      let result = try await streams.record(.refused("HTTP 500", attempts: attempt), of: batch)
      #expect(result == .result)
      clock.advance(EventStreams.longestWait)
    }
  }
}

extension StreamEvent {
  /// The event's type and position, such as `audit 12`.
  var summary: String {
    let late = json["late"]?.boolValue == true ? " late" : ""
    return "\(json["type"]?.textValue?.text ?? "") \(sequence)\(late)"
  }
}
