public import Database

/// What a restore invalidated.
public struct RestoreReport: Sendable {
  /// The time of the restore, up to which one-time codes are used.
  public let at: Instant
  /// Whether the replaced database was read, so that codes used since the backup stay used.
  public let isCompared: Bool
  /// The number of user sessions; nil if they were kept.
  public internal(set) var sessions: Int?
  /// The number of administrator sessions; nil if they were kept.
  public internal(set) var consoleSessions: Int?
  public internal(set) var approvals = 0
  /// The number of drafted, pending, or running bulk removals.
  public internal(set) var bulkRemovals = 0
  /// The number of links and codes in messages: sign-in, verification, password reset, and
  /// enrollment.
  public internal(set) var links = 0
  public internal(set) var temporaryCodes = 0
  public internal(set) var invitations = 0
  /// The number of unsent messages with such links or codes.
  public internal(set) var messages = 0
  /// The number of recovery codes that were used or replaced according to the replaced database.
  public internal(set) var recoveryCodes = 0

  func describe(in entry: inout AuditEntry) {
    if sessions == nil { entry.add(.sessionsKept, .flag(true)) }
    for (field, number) in [
      (AuditFieldName.sessionsEnded, sessions ?? 0),
      (.administratorSessionsEnded, consoleSessions ?? 0), (.requestsClosed, approvals),
      (.bulkRemovalsStopped, bulkRemovals), (.linksClosed, links), (.messagesDeleted, messages),
      (.temporaryCodesEnded, temporaryCodes), (.invitationsRevoked, invitations),
      (.recoveryCodesEnded, recoveryCodes),
    ] where number > 0 { entry.add(field, .number(number)) }
  }
}

extension Identity {
  /// Invalidates everything in a restored database that must not be valid again: sessions, time
  /// steps up to now, pending approvals, links, and codes.
  ///
  /// It's one transaction that reads whole tables, for a database that isn't being served yet.
  ///
  /// `file` is the name of the backup, for the audit log, nil if other tools restored the database, and
  /// `former` the replaced database, if it's readable.
  ///
  /// - Throws: `DatabaseError`: with `isAlone`, `busy` if a server or a command uses the database.
  public func endTheRestoredPast(
    file: String?, keepsSessions: Bool, former: (any Database)?, isAlone: Bool = false,
    by author: Author
  ) async throws -> RestoreReport {
    let now = clock.now()
    var known: FormerState?
    if let former {
      // A damaged database can't be compared, but that's no reason not to restore.
      known = try? await FormerState(store.database, former, at: now)
    }
    let (state, isCompared) = (known ?? FormerState(), known != nil)
    return try await store.write(by: author) { connection in
      if isAlone, try !connection.catalog.acquire(connection) {
        throw DatabaseError(.busy, "in use")
      }
      let latest = try StoredTime.latest(connection)
      var report = RestoreReport(at: now, isCompared: isCompared)
      if !keepsSessions { try Self.endSessions(&report, at: now, connection) }
      try RestoredSteps.use(state, at: now, connection)
      try Self.closeRequests(&report, at: now, connection)
      try Self.closeLinks(&report, at: now, connection)
      try Self.endCodes(state, &report, connection)
      try RestoreMark.set(now, connection)
      var entry = AuditEntry(.instanceRestore, .instance, "", name: "")
      report.describe(in: &entry)
      if let file { entry.add(.fileName, .text(file)) }
      if let latest { entry.add(.dataFrom, .instant(latest)) }
      try entry.record(by: author, at: now, connection)
      return report
    }
  }

  private static func endSessions(
    _ report: inout RestoreReport, at now: Instant, _ connection: borrowing Connection
  ) throws {
    report.sessions = try connection.first(
      """
      SELECT count(*) FROM session s \(SQL.orderedJoin) account a ON a.account_key = s.account_key
      WHERE s.account_key > 0 AND s.generation = a.generation
      """
    ) { try $0.next() }
    try AccountRecord.endAllSessions(at: now, connection)
    report.consoleSessions = try connection.run(
      "DELETE FROM console_session WHERE token_digest > \([UInt8]())")
  }

  private static func closeRequests(
    _ report: inout RestoreReport, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let waiting = try connection.all(
      """
      SELECT \(Approval.columns) FROM approval v \(index: "approval_waiting")
        \(SQL.orderedJoin) scope s USING (scope_key) \(SQL.orderedJoin) project p USING (project_id)
      WHERE v.state = 'waiting' ORDER BY v.approval_id
      """
    ) { try Approval(&$0, at: now) }
    for approval in waiting { try Approvals.expire(approval, at: now, connection) }
    report.approvals = waiting.count
    let jobs = try connection.all(
      """
      SELECT scope_key, job_id FROM bulk_job
      WHERE scope_key > 0 AND state IN ('draft', 'waiting', 'running')
      """
    ) { (pool: try $0.next() as Int64, id: try $0.next() as Int64) }
    for job in jobs {
      try BulkJob.stop(job.id, of: job.pool, because: .restored, at: now, connection)
    }
    report.bulkRemovals = jobs.count
    try connection.run(
      "UPDATE bulk_undo SET ended_at = \(now) WHERE job_id > 0 AND ended_at IS NULL")
    try Connections.pauseAll(because: .restored, at: now, connection)
  }

  private static func closeLinks(
    _ report: inout RestoreReport, at now: Instant, _ connection: borrowing Connection
  ) throws {
    // They expire, because the data says that nobody used them.
    report.links = try connection.run(
      """
      UPDATE oob_code SET expires_at = \(now)
      WHERE scope_key > 0 AND used_at IS NULL AND expires_at > \(now)
      """)
    // A link for reporting a change can only lock an account, so it stays valid.
    report.links += try connection.run(
      """
      UPDATE user_link SET expires_at = \(now)
      WHERE account_key > 0 AND kind = 'enrollment' AND used_at IS NULL
        AND expires_at > \(now)
      """)
    report.links += try connection.run(
      "DELETE FROM verification_code WHERE scope_key > 0")
    report.links += try connection.run("DELETE FROM caller_code WHERE account_key > 0")
    // Notices are sent even if they were sent before: missing one is worse than getting it twice.
    report.messages = try connection.run(
      """
      UPDATE outbox SET sealed_text = NULL, next_try_at = NULL,
        last_error = CASE WHEN expires_at > \(now)
          THEN \(DeliveryProblem.restored.stored) ELSE last_error END
      WHERE scope_key > 0 AND sealed_text IS NOT NULL
        AND purpose NOT LIKE 'notice-%' AND purpose NOT LIKE 'alert-%'
      """)
    report.invitations = try connection.run("DELETE FROM invitation WHERE invitation_id > ''")
  }

  private static func endCodes(
    _ state: FormerState, _ report: inout RestoreReport, _ connection: borrowing Connection
  ) throws {
    report.temporaryCodes = try connection.run(
      "DELETE FROM backup_code_set WHERE account_key > 0 AND kind = 'temporary'")
    for code in state.codes {
      report.recoveryCodes += try connection.run(
        """
        DELETE FROM backup_code
        WHERE account_key = \(code.owner) AND kind = 'recovery' AND code_digest = \(code.digest)
        """)
    }
    for code in state.administratorCodes {
      report.recoveryCodes += try connection.run(
        """
        DELETE FROM recovery_code
        WHERE administrator_id = \(code.owner) AND code_digest = \(code.digest)
        """)
    }
  }
}

/// Used codes and time steps that a replaced database knows and the restored one doesn't.
struct FormerState: Sendable {
  struct UsedCode<Owner: Sendable>: Sendable {
    let owner: Owner
    let digest: [UInt8]
  }

  /// The used time steps of secrets with which a step was accepted after those that become used.
  var steps: [RestoredSteps] = []
  /// The steps that stay unused, because no server ran at that time; nil for none.
  var unused: ClosedRange<Int64>?
  /// Recovery codes of users that were used or replaced.
  var codes: [UsedCode<Int64>] = []
  /// Recovery codes of administrators that were used or replaced.
  var administratorCodes: [UsedCode<String>] = []

  private static let share = 5_000

  init() {}

  /// Compares the two databases in parts.
  init(_ restored: any Database, _ former: any Database, at now: Instant) async throws {
    let present = now.seconds / TOTPFactor.period
    let newest = [
      try await former.read { try StoredTime.latest($0) },
      try await restored.read { try StoredTime.latest($0) },
    ].compactMap(\.self).max()
    unused = RestoredSteps.unused(since: newest, until: present)
    let end = unused.map { $0.lowerBound - 1 } ?? present
    steps = try await former.read { try RestoredSteps.after(end, $0) }
    administratorCodes = try await Self.administratorCodes(restored).filter {
      [
        known =
          Set(try await Self.administratorCodes(former).map(\.digest))
      ] code in
      !known.contains(code.digest)
    }
    var last: Int64 = 0
    while let part = try await Self.codes(restored, after: last) {
      let (first, end) = (last, part.end)
      let known = try await former.read { connection in
        try Set(
          connection.all(
            """
            SELECT code_digest FROM backup_code
            WHERE account_key > \(first) AND account_key <= \(end) AND kind = 'recovery'
            """
          ) { try $0.next() as [UInt8] })
      }
      codes += part.codes.filter { !known.contains($0.digest) }
      last = end
    }
  }

  /// Reads the recovery codes of the next accounts, never splitting an account; nil at the end.
  private static func codes(
    _ database: any Database, after last: Int64
  ) async throws -> (codes: [UsedCode<Int64>], end: Int64)? {
    try await database.read { connection in
      let accounts = try connection.all(
        """
        SELECT DISTINCT account_key FROM backup_code_set
        WHERE account_key > \(last) ORDER BY account_key LIMIT \(share)
        """
      ) { try $0.next() as Int64 }
      guard let end = accounts.last else { return nil }
      let codes = try connection.all(
        """
        SELECT account_key, code_digest FROM backup_code
        WHERE account_key > \(last) AND account_key <= \(end) AND kind = 'recovery'
        """
      ) { UsedCode<Int64>(owner: try $0.next(), digest: try $0.next()) }
      return (codes, end)
    }
  }

  private static func administratorCodes(
    _ database: any Database
  ) async throws -> [UsedCode<String>] {
    try await database.read { connection in
      try connection.all(
        "SELECT administrator_id, code_digest FROM recovery_code WHERE administrator_id > ''"
      ) { UsedCode<String>(owner: try $0.next(), digest: try $0.next()) }
    }
  }
}
