import Database

extension BulkRemovals {
  /// Undoes a bulk removal or disabling: restores the factors of every user for whom the removal can
  /// still be undone, or enables every user who's still disabled by it.
  ///
  /// As for one user, only another administrator can restore factors, and not in a pool that requires a
  /// verified caller, because a caller is verified for one user at a time. It counts as one action
  /// toward the hourly limit.
  ///
  /// - Returns: The number of users for whom it will be undone.
  public func undo(
    _ id: Int64, in pool: Pool, _ request: ActionRequest
  ) async throws -> ActionOutcome<Int> {
    let agent = request.agent.administrator.id
    let subject = ActionSubject<(job: BulkJob, users: Int)>(target: ActionTarget(pool)) {
      context, connection in
      guard let job = try BulkJob.find(id, in: pool, connection), job.state != .draft else {
        throw CallError.notFound
      }
      guard job.requester != agent || job.kind != .removal else { throw ActionDenial.ownRemoval }
      let progress = try BulkProgress(job, in: pool, at: context.now, connection)
      guard progress.canUndo else { throw BulkError.nothingToDo }
      return ActionSubject.Found(
        content: (job, progress.undoable),
        support: .init(pool: pool, rules: try SupportRules.find(pool, connection)))
    }
    let outcome = try await store.run(.undoBulkRemoval, by: .console(request), on: subject) {
      subject, context, connection in
      let job = subject.job
      guard let single = job.kind.undo,
        context.holder?.may(single.requirements.permission, in: pool) == true
      else { throw ActionDenial.notAllowed }
      try Self.beginUndo(of: job, request, context.rules, at: context.now, connection)
      var entry = job.entry(.bulkUndo, in: pool)
      entry.add(.users, .number(subject.users))
      entry.add(.requester, .text(job.requesterName))
      try context.record(entry, connection)
      return subject.users
    }
    store.bulkWork.send()
    return outcome
  }

  public func progress(of job: BulkJob, in pool: Pool) async throws -> BulkProgress {
    try await store.read { now, connection in
      try BulkProgress(job, in: pool, at: now, connection)
    }
  }

  private static func beginUndo(
    of job: BulkJob, _ request: ActionRequest, _ rules: SupportRules, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let agent = request.agent.administrator
    try connection.run(
      """
      INSERT INTO bulk_undo (scope_key, job_id, administrator_id, administrator_name, address,
        request_id, reason, note, ticket, proof, started_at)
      VALUES (\(job.poolKey), \(job.id), \(agent.id), \(agent.displayName),
        \(request.author.address), \(request.author.requestID), \(request.reason), \(request.note),
        \(request.ticket), \(rules.identityProof.joined(separator: "\n")), \(now))
      ON CONFLICT (scope_key, job_id) DO UPDATE SET
        administrator_id = excluded.administrator_id,
        administrator_name = excluded.administrator_name, address = excluded.address,
        request_id = excluded.request_id, reason = excluded.reason, note = excluded.note,
        ticket = excluded.ticket, proof = excluded.proof, started_at = excluded.started_at,
        ended_at = NULL
      """)
  }

  // MARK: - Processing

  /// Processes a part of the oldest undo in one transaction, as ``step(_:)`` does a part of a
  /// removal.
  func undoStep(_ limit: Int, report: (Failure) -> Void) async throws -> Bool {
    let isAny = try await store.read { connection in
      try Self.nextUndo(connection) != nil
    }
    guard isAny else { return false }
    return try await write(limit, report: report, skip: skipUndo) { try runUndo($0, at: $1, $2) }
  }

  private func skipUndo(_ failure: BulkLineFailure) async throws {
    try await store.write { connection in
      _ = try connection.run(
        """
        UPDATE bulk_item SET result = \(BulkResult.notRestored)
        WHERE scope_key = \(failure.poolKey) AND job_id = \(failure.job)
          AND line = \(failure.line) AND result = 'removed'
          AND EXISTS (SELECT 1 FROM bulk_undo u WHERE u.scope_key = \(failure.poolKey)
            AND u.job_id = \(failure.job) AND u.ended_at IS NULL)
        """)
    }
  }

  private func runUndo(
    _ limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let (key, id) = try Self.nextUndo(connection),
      let undo = try BulkUndo.find(id, of: key, connection)
    else { return false }
    let job = try connection.first(
      "SELECT \(BulkJob.columns) FROM bulk_job WHERE scope_key = \(key) AND job_id = \(id)"
    ) { try BulkJob(&$0) }
    guard let job, let pool = try Pools.find(job.poolKey, connection) else {
      try Self.endUndo(id, in: key, at: now, connection)
      return true
    }
    guard let administrator = try Administrators.present(undo.administrator, at: now, connection),
      let single = job.kind.undo, administrator.may(single.requirements.permission, in: pool)
    else {
      // What's left can be undone by someone else.
      try Self.stop(undo, of: job, in: pool, because: .permissionLost, at: now, connection)
      return true
    }
    let items = try Self.removedItems(of: id, in: key, limit: limit, connection)
    for item in items {
      try BulkLineFailure.catching(key, id, item.line) {
        let result = try restore(
          item, of: job, undo, by: administrator, in: pool, at: now, connection)
        try Self.note(result, item.line, of: id, in: key, connection)
      }
    }
    if items.count < limit { try Self.finish(undo, of: job, in: pool, at: now, connection) }
    return true
  }

  /// Restores one user's factors, or enables the user, under the same rules as a single undo.
  private func restore(
    _ item: RemovedItem, of job: BulkJob, _ undo: BulkUndo, by administrator: Administrator,
    in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> BulkResult {
    guard let account = try AccountRecord.find(pool, item.account, connection) else {
      return .notRestored
    }
    if job.kind == .disabling {
      return try enable(
        account, since: item.removal.text, of: job, undo, by: administrator, in: pool, at: now,
        connection)
    }
    let hold = try RemovedFactors.list(account.key, at: now, connection).first {
      $0.id == item.removal
    }
    guard let hold else {
      // Only a restored factor has the ID of a removed one.
      let isRestored = account.factors.contains { item.seen.contains($0.id.text) }
      return isRestored ? .restoredBefore : .notRestored
    }
    guard administrator.denial(of: .restoreFactors, on: account, in: pool) == nil else {
      return .notRestored
    }
    var entry = try factorRemovals.restore(hold, to: account, in: pool, at: now, connection)
    entry.justify(undo.reason, note: undo.note, ticket: undo.ticket, proof: undo.proof)
    entry.add(job.kind.field, .number(Int(job.id)))
    try entry.record(by: undo.author, at: now, connection)
    return .restored
  }

  /// A line whose factors were removed and may be restored.
  private struct RemovedItem {
    let line: Int
    let account: ID<Account>
    let removal: ID<RemovalHold>
    /// The IDs of the factors that the user had at the preview.
    let seen: [String]
  }

  private static func nextUndo(
    _ connection: borrowing Connection
  ) throws -> (pool: Int64, job: Int64)? {
    try connection.first(
      """
      SELECT scope_key, job_id FROM bulk_undo \(index: "bulk_undo_running")
      WHERE ended_at IS NULL AND job_id > 0 ORDER BY job_id LIMIT 1
      """
    ) { (pool: try $0.next(), job: try $0.next()) }
  }

  static func undos(_ connection: borrowing Connection) throws -> [(pool: Int64, job: Int64)] {
    try connection.all(
      """
      SELECT scope_key, job_id FROM bulk_undo \(index: "bulk_undo_running")
      WHERE ended_at IS NULL AND job_id > 0 ORDER BY job_id
      """
    ) { (pool: try $0.next(), job: try $0.next()) }
  }

  private static func removedItems(
    of job: Int64, in pool: Int64, limit: Int, _ connection: borrowing Connection
  ) throws -> [RemovedItem] {
    try connection.all(
      """
      SELECT line, uid, removal_id, factors FROM bulk_item \(index: "bulk_item_by_result")
      WHERE scope_key = \(pool) AND job_id = \(job) AND \(BulkUndo.isLeft)
      ORDER BY line LIMIT \(limit)
      """
    ) { row in
      RemovedItem(
        line: try row.next(), account: try row.next(), removal: try row.next(),
        seen: EnrollmentIDs.list(in: try row.next()))
    }
  }

  private static func note(
    _ result: BulkResult, _ line: Int, of job: Int64, in pool: Int64,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE bulk_item SET result = \(result)
      WHERE scope_key = \(pool) AND job_id = \(job) AND line = \(line)
      """)
  }

  private static func finish(
    _ undo: BulkUndo, of job: BulkJob, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try endUndo(job.id, in: pool.key, at: now, connection)
    let counts = try BulkUndo.counts(of: job, connection)
    var entry = job.entry(.bulkFinishUndo, in: pool)
    entry.add(.usersRestored, .number(counts.restored))
    if counts.restoredBefore > 0 {
      entry.add(.usersRestoredBefore, .number(counts.restoredBefore))
    }
    entry.add(.usersNotRestored, .number(counts.notRestored))
    entry.add(.requester, .text(undo.administratorName))
    try entry.record(by: Author(actor: .server), at: now, connection)
  }

  static func stop(
    _ undo: BulkUndo, of job: BulkJob, in pool: Pool, because ending: BulkEnding, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try endUndo(job.id, in: pool.key, at: now, connection)
    let counts = try BulkUndo.counts(of: job, connection)
    var entry = job.entry(.bulkStopUndo, in: pool)
    entry.add(.usersRestored, .number(counts.restored))
    entry.add(.users, .number(counts.users))
    entry.add(.stopReason, .code(ending.code))
    entry.add(.requester, .text(undo.administratorName))
    try entry.record(by: Author(actor: .server), at: now, connection)
  }

  private static func endUndo(
    _ job: Int64, in pool: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE bulk_undo SET ended_at = \(now)
      WHERE scope_key = \(pool) AND job_id = \(job)
      """)
  }
}

public struct BulkUndo: Sendable {
  public enum State: Sendable {
    case running
    /// It ended before all users were processed, or some couldn't be restored.
    case partial
    case done
  }

  public struct Counts: Sendable, Equatable {
    public var restored = 0
    /// The number of users whose factors had been restored on their page before.
    public var restoredBefore = 0
    public var notRestored = 0
    public var left = 0

    public var processed: Int { restored + restoredBefore + notRestored }
    public var users: Int { processed + left }
    var isComplete: Bool { left == 0 && notRestored == 0 }
  }

  let administrator: ID<Administrator>
  public let administratorName: String
  let address: String
  let requestID: String
  let reason: SupportReason?
  let note: String
  let ticket: String
  let proof: String
  public let startedAt: Instant
  public let isRunning: Bool

  var author: Author {
    Author(
      actor: .administrator(administrator, name: administratorName), address: address,
      requestID: requestID)
  }

  func state(after undone: Counts) -> State {
    isRunning ? .running : undone.isComplete ? .done : .partial
  }

  static let isLeft: SQL = "result = 'removed' AND removal_id IS NOT NULL AND uid IS NOT NULL"

  static func counts(
    of job: BulkJob, _ connection: borrowing Connection
  ) throws -> Counts {
    try counts(of: [job.id], in: job.poolKey, connection)[job.id] ?? Counts()
  }

  /// Counts the lines of jobs of a pool by what their undos did; a job without such lines is missing.
  static func counts(
    of jobs: [Int64], in pool: Int64, _ connection: borrowing Connection
  ) throws -> [Int64: Counts] {
    let rows = try connection.all(
      """
      SELECT job_id, result, count(*) FROM bulk_item \(index: "bulk_item_by_result")
      WHERE scope_key = \(pool) AND job_id IN (\(list: jobs))
        AND (result IN ('restored', 'restored-before', 'not-restored') OR \(isLeft))
      GROUP BY job_id, result
      """
    ) { row in
      (
        job: try row.next() as Int64, result: try row.next() as BulkResult,
        count: try row.next() as Int
      )
    }
    return rows.reduce(into: [:]) { counts, row in
      switch row.result {
      case .restored: counts[row.job, default: Counts()].restored = row.count
      case .restoredBefore: counts[row.job, default: Counts()].restoredBefore = row.count
      case .notRestored: counts[row.job, default: Counts()].notRestored = row.count
      default: counts[row.job, default: Counts()].left = row.count
      }
    }
  }

  static func find(
    _ job: Int64, of pool: Int64, _ connection: borrowing Connection
  ) throws -> BulkUndo? { try all(of: [job], in: pool, connection)[job] }

  static func all(
    of jobs: [Int64], in pool: Int64, _ connection: borrowing Connection
  ) throws -> [Int64: BulkUndo] {
    let undos = try connection.all(
      """
      SELECT administrator_id, administrator_name, address, request_id, reason, note, ticket, proof,
        started_at, ended_at IS NULL, job_id
      FROM bulk_undo WHERE scope_key = \(pool) AND job_id IN (\(list: jobs))
      """
    ) { row in
      let undo = BulkUndo(
        administrator: try row.next(), administratorName: try row.next(),
        address: try row.next(), requestID: try row.next(), reason: try row.next(),
        note: try row.next(), ticket: try row.next(), proof: try row.next(),
        startedAt: try row.next(), isRunning: try row.next())
      return (try row.next() as Int64, undo)
    }
    return Dictionary(uniqueKeysWithValues: undos)
  }
}
