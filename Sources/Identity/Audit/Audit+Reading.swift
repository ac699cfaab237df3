import Database

extension Audit {
  /// The number of seconds in which at most one entry says that an administrator read a log.
  static let readingInterval: Int64 = 3_600

  /// Records that an administrator read the log of a pool, or of the instance if it's nil: once an
  /// hour, so that reading doesn't fill the log.
  public func recordReading(_ pool: Pool?, by author: Author) async throws {
    let now = store.clock.now()
    let (id, place) = (author.actor.id, (pool?.project.text ?? "", pool?.tenant?.text ?? ""))
    let isRecorded = try await store.read { connection in
      let at: Instant? = try connection.first(
        """
        SELECT read_at FROM audit_reading
        WHERE administrator_id = \(id) AND project_id = \(place.0) AND tenant_id = \(place.1)
        """
      ) { try $0.next() }
      return at.map { abs(now.seconds - $0.seconds) < Self.readingInterval } ?? false
    }
    if isRecorded { return }
    try await store.write(by: author) { connection in
      try connection.run(
        """
        INSERT INTO audit_reading (administrator_id, project_id, tenant_id, read_at)
        VALUES (\(id), \(place.0), \(place.1), \(now))
        ON CONFLICT (administrator_id, project_id, tenant_id)
          DO UPDATE SET read_at = excluded.read_at
        """)
      try AuditEntry(.auditRead, of: pool).record(by: author, at: now, connection)
    }
  }

  /// Deletes the times of readings that are recorded again.
  static func forgetReadings(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let oldest = now.advanced(bySeconds: -readingInterval)
    return try connection.deletePart(
      "FROM audit_reading WHERE read_at < \(oldest)", of: "audit_reading",
      by: "administrator_id, project_id, tenant_id")
  }
}

extension AuditEntry {
  init(_ action: AuditAction, of pool: Pool?) {
    if let pool {
      self.init(action, .pool, pool.objectID, name: pool.name, in: pool)
    } else {
      self.init(action, .instance, "", name: "")
    }
  }
}
