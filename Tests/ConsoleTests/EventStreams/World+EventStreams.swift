import Database
import HTTP
import Identity
import Testing

@testable import Console

extension World {
  /// Adds a stream whose destination rejected the first entry, and returns its ID.
  func eventStream(kind: String = "webhook", isPaused: Bool = false) async throws -> String {
    _ = try await identity.evidenceKeys.current()
    while try await identity.auditChain.seal() {}
    let now = clock.now.microseconds
    let id = "a1b2c3d4-0000-4000-8000-000000000001"
    try await database.write { connection in
      _ = try connection.run(
        """
        INSERT INTO event_stream (stream_id, kind, name, target, created_at, created_by, sequence,
          head_sequence, delivered_at, failures, failed_at, failure, paused_at)
        VALUES (\(id), \(kind), 'SIEM & archive', 'https://siem.example.com/events', \(now),
          'Ada Admin', 1, 1, \(now), 2, \(now), '["reported","HTTP 503: try again later"]',
          \(isPaused ? now : nil))
        ON CONFLICT DO NOTHING
        """)
      _ = try connection.run(
        """
        INSERT INTO dead_letter (stream_id, sequence, attempts, refused_at, failure, is_marked)
        VALUES (\(id), 1, 5, \(now), '["reported","HTTP 422: unknown field"]', 1)
        ON CONFLICT DO NOTHING
        """)
    }
    return id
  }
}
