public import Database

extension AuditChain {
  private static let checkedAtOnce: Int64 = 2_000

  /// A step of the background check.
  public struct Check: Sendable {
    /// The position through which the step verified.
    public let through: Int64
    public let faults: [AuditVerification.Fault]
  }

  /// Verifies the next sealed entries and stores the result for the console.
  ///
  /// Entries that filtered logs and reports left out are reported and then included again. Position
  /// 0 begins a new round.
  ///
  /// - Returns: The step; nil if all sealed entries are verified.
  public func check(after position: Int64) async throws -> Check? {
    let keys = try await known()
    let (end, before, isHiding) = try await store.read { connection in
      (
        try ChainLink.last(connection)?.sequence ?? 0, try StoredCheck.find(connection),
        try Audit.isFiledAhead(connection)
      )
    }
    if let before, before.through > end {
      guard before.fault == nil else { return nil }
      try await store.write { connection in
        _ = try connection.run(
          "UPDATE audit_check SET failed_sequence = \(end + 1) WHERE check_id = 1")
      }
      return Check(through: end, faults: [.truncated(before.through)])
    }
    guard position < end || end > 0 && isHiding else { return nil }
    let through = min(end, position + Self.checkedAtOnce)
    let section = try await section(after: position, through: through, keys)
    let faults = section.faults + (isHiding && end > 0 ? [.hiding(after: end)] : [])
    let fault = faults.compactMap(\.position).min()
    let hides = faults.contains { if case .hidden = $0 { true } else { false } }
    try await store.write { now, connection in
      var next = try StoredCheck.find(connection) ?? StoredCheck()
      // A fault that an earlier round found here is gone.
      if let failed = next.fault, failed > position, failed <= through { next.fault = nil }
      if let fault { next.fault = min(next.fault ?? fault, fault) }
      if next.fault == nil, through > next.through, let at = section.at {
        (next.through, next.throughAt) = (through, at)
      }
      next.checkedAt = now
      try next.store(connection)
      if hides { try Audit.fileAgain(section.numbers, connection) }
      if isHiding { try Audit.resumeFiling(connection) }
    }
    return Check(through: through, faults: faults)
  }

  public struct Status: Sendable {
    /// The position of the last sealed entry; 0 if none is.
    public let sealed: Int64
    public let unsealed: Int64
    /// The position through which the background check verified; nil before the first check.
    public let verified: Int64?
    /// The time of the entry at that position.
    public let verifiedAt: Instant?
    public let checkedAt: Instant?
    public let fault: Int64?
    public let removed: AuditTombstone?
    /// The number of days for which entries are kept; nil for ever.
    public let retention: Int?
  }

  public func status() async throws -> Status {
    try await store.read { connection in
      let check = try StoredCheck.find(connection)
      let isVerified = check.map { $0.through > 0 } ?? false
      let last = try ChainLink.last(connection)
      return Status(
        sealed: last?.sequence ?? 0, unsealed: try Self.unsealed(after: last, connection),
        verified: isVerified ? check?.through : nil,
        verifiedAt: isVerified ? check?.throughAt : nil, checkedAt: check?.checkedAt,
        fault: check?.fault, removed: try AuditTombstone.latest(connection),
        retention: try Self.retention(connection))
    }
  }
}

extension AuditChain {
  /// A fault that the latest checks of the chain found, whichever server made them.
  public struct StoredFault: Sendable, Equatable {
    /// The position of the first entry that failed.
    public let position: Int64
    public let checkedAt: Instant
  }

  /// Returns the fault that isn't mended, as far as the latest check knows; nil if there's none.
  public func storedFault() async throws -> StoredFault? {
    try await store.read { try Self.storedFault($0) }
  }

  static func storedFault(_ connection: borrowing Connection) throws -> StoredFault? {
    guard let check = try StoredCheck.find(connection), let fault = check.fault else { return nil }
    return StoredFault(position: fault, checkedAt: check.checkedAt)
  }

  /// What keeps entries from being sealed.
  public struct Delay: Sendable {
    /// When the oldest entry happened that isn't sealed.
    public let since: Instant
    /// The sessions of the database's server that changed the log and haven't ended.
    public let holders: [LockHolder]
  }

  /// The age of the oldest entry that isn't sealed, in seconds, from which sealing is late.
  public static let longestDelay: Int64 = 60

  /// Returns what keeps entries from being sealed; nil if none has waited for longer than
  /// ``longestDelay``.
  public func delay() async throws -> Delay? {
    try await Self.delay(of: store.database, at: store.clock.now())
  }

  /// Returns the same for a database that may be in use.
  public static func delay(of database: any Database, at now: Instant) async throws -> Delay? {
    let since = try await database.read { try unsealedSince($0) }
    guard let since, now.seconds - since.seconds > longestDelay else { return nil }
    return Delay(since: since, holders: try await database.unsettled(in: "audit"))
  }

  /// Returns when the oldest entry happened that isn't sealed; nil if all are.
  static func unsealedSince(_ connection: borrowing Connection) throws -> Instant? {
    let sealed = try ChainLink.last(connection)?.entry ?? 0
    return try connection.first(
      "SELECT at FROM audit WHERE audit_id > \(sealed) ORDER BY audit_id LIMIT 1"
    ) { try $0.next() }
  }
}

private struct StoredCheck {
  var through: Int64 = 0
  var throughAt = Instant(microseconds: 0)
  var checkedAt = Instant(microseconds: 0)
  var fault: Int64?

  static func find(_ connection: borrowing Connection) throws -> StoredCheck? {
    try connection.first(
      """
      SELECT through_sequence, through_at, checked_at, failed_sequence FROM audit_check
      WHERE check_id = 1
      """
    ) { row in
      StoredCheck(
        through: try row.next(), throughAt: try row.next(),
        checkedAt: try row.next(), fault: try row.next())
    }
  }

  func store(_ connection: borrowing Connection) throws {
    try connection.run(
      """
      INSERT INTO audit_check (check_id, through_sequence, through_at, checked_at, failed_sequence)
      VALUES (1, \(through), \(throughAt), \(checkedAt), \(fault))
      ON CONFLICT (check_id) DO UPDATE SET through_sequence = excluded.through_sequence,
        through_at = excluded.through_at, checked_at = excluded.checked_at,
        failed_sequence = excluded.failed_sequence
      """)
  }
}
