import Database

extension BulkRemovals {
  /// The maximum number of users per transaction.
  public static let part = 50

  /// Tells that this server began a bulk removal or an undo; those of other servers must be looked for.
  public var work: WorkSignal { store.bulkWork }

  /// Processes a part of the oldest running bulk removal in one transaction: removals, audit rows,
  /// emails, and results.
  ///
  /// Call it repeatedly while it returns true, leaving time for other writes in between.
  public func step(
    _ limit: Int = BulkRemovals.part, report: (Failure) -> Void = { _ in }
  ) async throws -> Bool {
    let isAny = try await store.read { connection in
      try Self.next(connection) != nil
    }
    guard isAny else {
      if try await undoStep(limit, report: report) { return true }
      return try await campaignStep(limit, report: report)
    }
    return try await write(limit, report: report, skip: skip) { try run($0, at: $1, $2) }
  }

  /// Writes a part in one transaction, or one user at a time after a failure.
  ///
  /// A user who can't be processed is skipped, and must not hold up the others.
  func write(
    _ limit: Int, report: (Failure) -> Void,
    skip: (BulkLineFailure) async throws -> Void,
    _ part: @escaping @Sendable (Int, Instant, borrowing Connection) throws -> Bool
  ) async throws -> Bool {
    let now = store.clock.now()
    do {
      return try await store.database.write { try part(limit, now, $0) }
    } catch let failure as BulkLineFailure {
      if limit > 1 { return try await write(1, report: report, skip: skip, part) }
      try await skip(failure)
      report(Failure(failure.cause))
      return true
    }
  }

  /// Skips a line, if it's still to be processed: another server may have done so, or someone may
  /// have stopped the removal.
  func skip(_ failure: BulkLineFailure) async throws {
    try await store.write { connection in
      let skipped = try connection.run(
        """
        UPDATE bulk_item SET result = \(BulkResult.failed), removed = 0, sessions = 0
        WHERE scope_key = \(failure.poolKey) AND job_id = \(failure.job)
          AND line = \(failure.line) AND result IS NULL
          AND EXISTS (SELECT 1 FROM bulk_job j WHERE j.scope_key = \(failure.poolKey)
            AND j.job_id = \(failure.job) AND j.state = 'running')
        """)
      try connection.run(
        """
        UPDATE bulk_job SET users_done = users_done + \(skipped)
        WHERE scope_key = \(failure.poolKey) AND job_id = \(failure.job)
        """)
    }
  }

  private func run(
    _ limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let job = try Self.next(connection) else { return false }
    guard let (policy, administrator) = try Self.authority(for: job, at: now, connection) else {
      return true
    }
    let pool = policy.pool
    let settings = try SupportRules.find(pool, connection)
    let items = try Self.open(job, limit: limit, connection)
    var (users, factors, sessions) = (0, 0, 0)
    for item in items {
      let outcome = try BulkLineFailure.catching(job.poolKey, job.id, item.line) {
        let outcome = try process(
          of: item, job, administrator, settings, policy, at: now, connection)
        try Self.reconcile(item, outcome, in: job, connection)
        return outcome
      }
      users += (outcome.result == .removed).number
      factors += outcome.removed
      sessions += outcome.sessions
    }
    try connection.run(
      """
      UPDATE bulk_job SET users_done = users_done + \(items.count),
        users_removed = users_removed + \(users), factors_removed = factors_removed + \(factors),
        sessions_ended = sessions_ended + \(sessions)
      WHERE scope_key = \(pool.key) AND job_id = \(job.id)
      """)
    if items.count < limit { try Self.finish(job.id, in: pool, at: now, connection) }
    return true
  }

  /// Returns the policy and the administrator under which a part is processed; nil if the action was
  /// stopped, because either is gone.
  static func authority(
    for job: BulkJob, at now: Instant, _ connection: borrowing Connection
  ) throws -> (policy: StoredPolicy, administrator: Administrator)? {
    let policy: StoredPolicy
    do {
      policy = try Policies.stored(job.poolKey, connection)
    } catch PolicyError.poolNotFound {
      try BulkJob.stop(
        job.id, of: job.poolKey, because: .poolDeleted, at: now, connection)
      return nil
    }
    guard let administrator = try Administrators.present(job.requester, at: now, connection),
      administrator.may(job.kind.permission, in: policy.pool)
    else {
      try stop(job, in: policy.pool, because: .permissionLost, at: now, connection)
      return nil
    }
    return (policy, administrator)
  }

  /// Processes one user under the same rules as the action on a single user.
  private func process(
    of item: BulkItem, _ job: BulkJob, _ administrator: Administrator, _ settings: SupportRules,
    _ policy: StoredPolicy, at now: Instant, _ connection: borrowing Connection
  ) throws -> Outcome {
    let pool = policy.pool
    guard let id = item.account, let account = try AccountRecord.find(pool, id, connection) else {
      return Outcome(result: .notFound)
    }
    let obstacle = Self.obstacle(
      to: job.kind.single, on: account, in: pool, for: administrator)
    if let obstacle { return Outcome(result: obstacle) }
    if job.kind != .removal {
      return try change(account, job, in: pool, at: now, connection)
    }
    guard !account.factors.isEmpty else { return Outcome(result: .none) }
    let seen = Set(item.seen)
    guard seen.isSuperset(of: account.factors.map(\.id.text)) else {
      return Outcome(result: .changed)
    }
    var removal = try FactorRemovals.removal(of: nil, from: account, settings, policy)
    let hold = NewRemovalHold(
      job.reason, by: administrator, settings, at: now, random: store.random)
    var entry = try factorRemovals.perform(&removal, hold, in: pool, at: now, connection)
    entry.justify(by: job)
    try entry.record(by: job.author, at: now, connection)
    return Outcome(
      result: .removed, removed: removal.factors.count, sessions: removal.sessionsEnded,
      undo: hold.map { ($0.id.text, $0.until) })
  }

  struct Outcome {
    let result: BulkResult
    var removed = 0
    var sessions = 0
    /// What an undo finds it by, and until when; nil if it can't be undone.
    var undo: (mark: String, until: Instant)?
  }

  /// Stops the running removals and undos of a tenant, or of a project with all its tenants, that is
  /// about to be marked as deleted, with an audit entry each.
  static func stopAll(
    deleted pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let jobs = try connection.all(
      """
      SELECT \(BulkJob.columns) FROM bulk_job \(index: "bulk_job_running")
      WHERE state = 'running' ORDER BY job_id
      """
    ) { try BulkJob(&$0) }
    for job in jobs {
      guard let found = try Pools.find(job.poolKey, connection), pool.contains(found) else {
        continue
      }
      try stop(job, in: found, because: .poolDeleted, at: now, connection)
    }
    for (key, id) in try undos(connection) {
      guard let found = try Pools.find(key, connection), pool.contains(found),
        let undo = try BulkUndo.find(id, of: key, connection),
        let job = try BulkJob.find(id, in: found, connection)
      else { continue }
      try stop(undo, of: job, in: found, because: .poolDeleted, at: now, connection)
    }
  }

  private static func next(_ connection: borrowing Connection) throws -> BulkJob? {
    try connection.first(
      """
      SELECT \(BulkJob.columns) FROM bulk_job \(index: "bulk_job_running")
      WHERE state = 'running' AND kind <> 'campaign' ORDER BY job_id LIMIT 1
      """
    ) { try BulkJob(&$0) }
  }

  static func open(
    _ job: BulkJob, limit: Int, _ connection: borrowing Connection
  ) throws -> [BulkItem] {
    try connection.all(
      """
      SELECT \(BulkItem.columns) FROM bulk_item \(index: "bulk_item_by_result")
      WHERE scope_key = \(job.poolKey) AND job_id = \(job.id) AND result IS NULL
      ORDER BY line LIMIT \(limit)
      """
    ) { try BulkItem(&$0) }
  }

  static func reconcile(
    _ item: BulkItem, _ outcome: Outcome, in job: BulkJob, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE bulk_item SET result = \(outcome.result), removed = \(outcome.removed),
        sessions = \(outcome.sessions), removal_id = \(outcome.undo?.mark),
        undo_until = \(outcome.undo?.until)
      WHERE scope_key = \(job.poolKey) AND job_id = \(job.id) AND line = \(item.line)
      """)
  }

  static func finish(
    _ id: Int64, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws {
    guard let job = try BulkJob.find(id, in: pool, connection) else { return }
    try connection.run(
      """
      UPDATE bulk_job SET state = 'done', ended_at = \(now)
      WHERE scope_key = \(pool.key) AND job_id = \(id)
      """)
    var entry = job.entry(job.kind == .campaign ? .bulkFinishLinks : .bulkFinish, in: pool)
    if job.kind == .removal { entry.add(.factorsRemoved, .number(job.factorsRemoved)) }
    entry.add(.users, .number(job.usersRemoved))
    if job.kind != .campaign { entry.add(.sessionsEnded, .number(job.sessionsEnded)) }
    try entry.record(by: Author(actor: .server), at: now, connection)
  }

  private static func stop(
    _ job: BulkJob, in pool: Pool, because ending: BulkEnding, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try BulkJob.stop(job.id, of: pool.key, because: ending, at: now, connection)
    var entry = job.entry(job.kind == .campaign ? .bulkStopLinks : .bulkStop, in: pool)
    entry.add(.usersDone, .number(job.usersDone))
    entry.add(.users, .number(job.users))
    entry.add(.stopReason, .code(ending.code))
    entry.add(.requester, .text(job.requesterName))
    try entry.record(by: Author(actor: .server), at: now, connection)
  }
}

/// A failure of one line of a bulk removal or its undo, which would happen again.
struct BulkLineFailure: Error {
  let poolKey: Int64
  let job: Int64
  /// The line, or the key of the account to remind.
  let line: Int
  /// The number of the reminder; nil for a line.
  var reminder: Int?
  let cause: any Error

  /// - Throws: ``BulkLineFailure`` if it failed because of the line's data, otherwise the error.
  static func catching<T>(
    _ poolKey: Int64, _ job: Int64, _ line: Int, reminder: Int? = nil,
    _ body: () throws -> T
  ) throws -> T {
    do { return try body() } catch {
      guard isOfOneUser(error) else { throw error }
      throw BulkLineFailure(
        poolKey: poolKey, job: job, line: line, reminder: reminder, cause: error)
    }
  }

  private static func isOfOneUser(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError else { return !(error is CancellationError) }
    return switch error.code {
    case .uniqueViolation, .foreignKey, .checkViolation, .notNullViolation, .unexpectedValue: true
    default: false
    }
  }
}
