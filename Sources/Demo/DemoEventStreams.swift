import Crypto
import Database
import Identity

extension Demo {
  /// Adds a paused event stream with an entry that its destination rejected.
  func addEventStream(_ staff: DemoStaff) async throws {
    let id = random.source.uuid()
    let (now, owner) = (identity.clock.now(), staff.owner.displayName)
    try await identity.store.write(DemoError.self) { connection in
      try connection.run(
        """
        INSERT INTO event_stream (stream_id, kind, name, target, created_at, created_by, paused_at,
          sequence, head_sequence, delivered_at)
        VALUES (\(id), 'webhook', 'SIEM', 'https://siem.example.com/events',
          \(now.microseconds), \(owner), \(now.microseconds), 40, 40, \(now.microseconds))
        """)
      try connection.run(
        """
        INSERT INTO dead_letter (stream_id, sequence, attempts, refused_at, failure, is_marked)
        VALUES (\(id), 12, 5, \(now.microseconds), '["reported","HTTP 422: unknown action"]', 1)
        """)
    }
  }
}
