import Database

/// A bulk removal with what's known about its undo.
public struct BulkProgress: Sendable {
  public let job: BulkJob
  public let undo: BulkUndo?
  /// The number of users whose removed factors are still kept, so that the removal can be undone.
  public let undoable: Int
  /// What the undo did so far; all 0 if nobody undid the removal.
  public let undone: BulkUndo.Counts
  /// Whether the pool requires a verified caller, so that removals are undone one at a time.
  public let requiresCaller: Bool

  public var isRunning: Bool { job.state == .running || isBeingUndone }
  public var isBeingUndone: Bool { undo?.isRunning == true }
  public var undoState: BulkUndo.State? { undo.map { $0.state(after: undone) } }

  /// Whether the agent can undo the removal for all of its users at once.
  public var canUndo: Bool {
    undoable > 0 && !requiresCaller && !isBeingUndone
      && (job.state == .done || job.state == .stopped)
  }

  init(
    _ job: BulkJob, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws {
    self.job = job
    // A removal undone or purged on a user's page, a new factor, and a deleted user end a hold early.
    undoable =
      try connection.first(
        """
        SELECT count(*) FROM bulk_item i \(index: "bulk_item_by_result")
          \(SQL.orderedJoin) account a ON a.scope_key = \(pool.key) AND a.uid = i.uid
        WHERE i.scope_key = \(pool.key) AND i.job_id = \(job.id) AND i.result = 'removed'
          AND i.undo_until > \(now)
          AND EXISTS (SELECT 1 FROM removed_factor r WHERE r.account_key = a.account_key
            AND r.removal_id = i.removal_id AND r.until > \(now))
        """
      ) { try $0.next() as Int } ?? 0
    undo = try BulkUndo.find(job.id, of: pool.key, connection)
    undone = try undo == nil ? BulkUndo.Counts() : BulkUndo.counts(of: job, connection)
    requiresCaller =
      try SupportRules.find(pool, connection).callerVerification == .required
  }
}
