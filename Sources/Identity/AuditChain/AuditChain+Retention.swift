import Database

extension AuditChain {
  /// The minimum number of days for which entries are kept: reviews and reports look back a year.
  public static let shortestRetention = 365
  private static let longestRetention = 36_500
  private static let setting = InstanceValue("audit_retention_days")

  /// Reads the number of days for which entries are kept; nil for ever.
  static func retention(_ connection: borrowing Connection) throws -> Int? {
    try setting.readNumber(connection).map { Int($0) }
  }

  /// Changes for how many days entries are kept; nil keeps them for ever.
  ///
  /// - Returns: False if nothing changes.
  public func setRetention(
    days: Int?, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    if let days, !(Self.shortestRetention...Self.longestRetention).contains(days) {
      throw InstanceSettingError.retentionOutOfRange
    }
    return try await store.perform(
      .changeAuditRetention, request, in: .instance
    ) { context, connection in
      let old = try Self.retention(connection)
      guard old != days else { return false }
      try Self.setting.store(days.map { String($0) }, connection)
      var entry = AuditEntry(.auditChangeRetention, of: nil)
      let seconds = { (days: Int?) in
        days.map { AuditValue.duration($0 * 86_400) } ?? .code("forever")
      }
      entry.add(.auditRetention, from: seconds(old), to: seconds(days))
      try context.record(entry, connection)
      return true
    }
  }

  /// Removes the next entries that are older than the retention, and signs a record of them.
  ///
  /// Only entries that a signed head covers and that match the chain are removed, so that removal
  /// doesn't hide a change.
  func removeExpired() async throws -> Bool {
    let now = store.clock.now()
    let found = try await store.read { try Self.expired(at: now, $0) }
    guard let found else { return false }
    let section = try await section(
      after: found.start, through: found.end, try await known())
    guard section.faults.isEmpty, let first = section.first, let last = section.last else {
      return false
    }
    let signer = try await keys.signer()
    return try await store.write { connection in
      let earlier = try AuditTombstone.latest(connection)
      // No lease: of transactions that remove the same entries, only one is stored. The server that
      // removes needn't be the one that seals.
      guard earlier?.last ?? 0 == found.start else { return false }
      try AuditTombstone(from: first, through: last, after: earlier, at: now, by: signer)
        .store(connection)
      let (from, to) = (earlier?.lastEntry ?? 0, last.entry)
      for statement: SQL in [
        "DELETE FROM audit_change WHERE audit_id > \(from) AND audit_id <= \(to)",
        "DELETE FROM audit_erasure WHERE audit_id > \(from) AND audit_id <= \(to)",
        "DELETE FROM audit WHERE audit_id > \(from) AND audit_id <= \(to)",
        "DELETE FROM audit_link WHERE sequence > \(found.start) AND sequence <= \(found.end)",
        "DELETE FROM audit_head WHERE sequence > \(found.start) AND sequence <= \(found.end)",
      ] {
        try connection.run(statement)
      }
      return true
    }
  }

  private struct Expired: Sendable {
    let start: Int64
    let end: Int64
  }

  /// Returns the positions of the next entries that are too old; the last sealed entry stays.
  private static func expired(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Expired? {
    guard let days = try retention(connection), let head = try AuditHead.last(connection),
      let last = try ChainLink.last(connection)
    else { return nil }
    let oldest = now.advanced(bySeconds: Int64(-days) * 86_400)
    let start = try AuditTombstone.latest(connection)?.last ?? 0
    let end = min(start + batch, head.sequence, last.sequence - 1)
    let times: [Int64?] = try connection.all(
      """
      SELECT (SELECT at FROM audit WHERE audit_id = l.audit_id) FROM audit_link l
      WHERE l.sequence > \(start) AND l.sequence <= \(end) ORDER BY l.sequence
      """
    ) { try $0.next() }
    let old = times.prefix { at in at.map { $0 < oldest.microseconds } ?? false }
    return old.isEmpty ? nil : Expired(start: start, end: start + Int64(old.count))
  }
}
