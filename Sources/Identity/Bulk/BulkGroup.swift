import Database

/// A bulk removal of users of several pools: a job for each pool, started, stopped, and undone
/// together.
public struct BulkGroup: Sendable {
  /// A pool's part of a bulk removal.
  public struct Part: Sendable {
    /// The job of the pool.
    public let job: BulkJob
    /// The user pool.
    public let scope: Scope
    /// Whether the pool was deleted, so that only the job's counts are left.
    public let isDeleted: Bool
    /// How the removal is undone; nil if it isn't.
    public let undo: BulkUndo?
    /// The number of users whose removed factors are still kept, so that the removal can be undone.
    public let undoable: Int
    /// What the undo did so far; all 0 if nobody undid the removal.
    public let undone: BulkUndo.Counts
    /// Whether the pool requires a verified caller, so that removals are undone one at a time.
    public let requiresCaller: Bool

    /// Whether the server is removing factors or restoring them.
    public var isRunning: Bool { job.state == .running || undo?.isRunning == true }

    /// Whether the server is restoring factors.
    public var isBeingUndone: Bool { undo?.isRunning == true }
    /// How far the undo is; nil if nobody undid the removal.
    public var undoState: BulkUndo.State? { undo.map { $0.state(after: undone) } }

    /// Whether the agent can undo the removal for all of its users at once.
    public var canUndo: Bool {
      undoable > 0 && !requiresCaller && undo?.isRunning != true
        && (job.state == .done || job.state == .stopped)
    }
  }

  /// A line that isn't part of any job.
  public struct Miss: Sendable {
    /// The line number, starting at 1.
    public let line: Int
    /// The text of the line.
    public let given: String
    /// The user and their pool, where the requester can't remove factors; nil if no user was found.
    public let user: (id: ID<Account>, scope: Scope)?
  }

  /// The number of the bulk removal.
  public let id: Int64
  /// The administrator who submitted the list.
  public let requester: ID<Administrator>
  /// The requester's name.
  public let requesterName: String
  /// The time the list was submitted.
  public let createdAt: Instant
  /// The number of lines or selected users.
  public let lines: Int
  /// The parts in pools where the administrator who asks can remove factors; also those of deleted
  /// pools, for the requester and for administrators who can remove factors in all pools.
  public let parts: [Part]
  /// The lines that no part has; only for the requester.
  public let misses: [Miss]

  /// Whether it's a preview that can still be started.
  public var isDraft: Bool { parts.contains { $0.job.state == .draft } }
  /// Whether a part is being processed.
  public var isRunning: Bool {
    parts.contains(where: \.isRunning)
  }
  /// The number of users to act on.
  public var users: Int { parts.users }
  /// Whether factors are being restored, and none are being removed.
  public var isBeingUndone: Bool { isRunning && !parts.contains { $0.job.state == .running } }
  /// How far the undo is in all parts of present pools together; nil if nobody undid the removal.
  public var undoState: BulkUndo.State? {
    let present = parts.filter { !$0.isDeleted }
    let states = present.filter { $0.undo != nil || $0.job.usersRemoved > 0 }.map(\.undoState)
    if states.contains(.running) { return .running }
    guard states.contains(where: { $0 != nil }) else { return nil }
    return states.allSatisfy { $0 == .done } ? .done : .partial
  }
  /// The parts that can be undone at once.
  public var undoable: [Part] { parts.filter(\.canUndo) }
  /// What the undos of all parts did so far.
  public var undone: BulkUndo.Counts {
    parts.reduce(BulkUndo.Counts()) { $0 + $1.undone }
  }
}

extension Sequence where Element == BulkGroup.Part {
  /// The number of users to act on in these parts.
  public var users: Int { reduce(0) { $0 + $1.job.users } }
}

/// The undo of a bulk removal in a pool.
public struct BulkUndo: Sendable {
  /// How far an undo is.
  public enum State: Sendable {
    /// The server is restoring factors.
    case running
    /// It ended before all users were processed, or some couldn't be restored.
    case partial
    /// Every user has their factors again.
    case done
  }

  /// The users of an undo by result.
  public struct Counts: Sendable, Equatable {
    /// The number of users whose factors the undo restored.
    public var restored = 0
    /// The number of users whose factors had been restored on their page before.
    public var restoredBefore = 0
    /// The number of users whose factors couldn't be restored.
    public var notRestored = 0
    /// The number of users whom the undo hasn't processed.
    public var left = 0

    /// The number of users whom the undo has processed.
    public var processed: Int { restored + restoredBefore + notRestored }
    /// The number of all users.
    public var users: Int { processed + left }
    /// Whether every user has their factors again.
    var isComplete: Bool { left == 0 && notRestored == 0 }

    static func + (one: Counts, other: Counts) -> Counts {
      Counts(
        restored: one.restored + other.restored,
        restoredBefore: one.restoredBefore + other.restoredBefore,
        notRestored: one.notRestored + other.notRestored, left: one.left + other.left)
    }
  }

  /// The administrator's name.
  public let administratorName: String
  /// When it was started.
  public let startedAt: Instant
  /// Whether the server is still processing it.
  public let isRunning: Bool
  let administrator: ID<Administrator>
  let address: String
  let requestID: String
  let reason: SupportReason?
  let note: String
  let ticket: String
  let proof: String

  /// The administrator, as author of audit rows.
  var author: Author {
    Author(
      actor: .administrator(administrator, name: administratorName), address: address,
      requestID: requestID)
  }

  /// Returns how far the undo is after what it did.
  func state(after undone: Counts) -> State {
    isRunning ? .running : undone.isComplete ? .done : .partial
  }

  /// The condition of lines that an undo has yet to process.
  static let isLeft: SQL = "result = 'removed' AND removal_id IS NOT NULL AND uid IS NOT NULL"

  /// Counts the lines of a job by what its undo did.
  static func counts(
    of job: BulkJob, _ connection: borrowing Connection
  ) throws -> Counts {
    try counts(of: [job.id], in: job.scopeKey, connection)[job.id] ?? Counts()
  }

  /// Counts the lines of jobs of a pool by what their undos did; a job without such lines is missing.
  static func counts(
    of jobs: [Int64], in scope: Int64, _ connection: borrowing Connection
  ) throws -> [Int64: Counts] {
    let rows = try connection.all(
      """
      SELECT job_id, result, count(*) FROM bulk_item \(index: "bulk_item_by_result")
      WHERE scope_key = \(scope) AND job_id IN (\(list: jobs))
        AND (result IN ('restored', 'restored-before', 'not-restored') OR \(isLeft))
      GROUP BY job_id, result
      """
    ) { row in
      (
        job: try row.value(0) as Int64, result: BulkResult(rawValue: try row.value(1)),
        count: try row.value(2) as Int
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
    _ job: Int64, of scope: Int64, _ connection: borrowing Connection
  ) throws -> BulkUndo? { try all(of: [job], in: scope, connection)[job] }

  /// Finds the undos of jobs of a pool, by job.
  static func all(
    of jobs: [Int64], in scope: Int64, _ connection: borrowing Connection
  ) throws -> [Int64: BulkUndo] {
    let undos = try connection.all(
      """
      SELECT administrator_id, administrator_name, address, request_id, reason, note, ticket, proof,
        started_at, ended_at IS NULL, job_id
      FROM bulk_undo WHERE scope_key = \(scope) AND job_id IN (\(list: jobs))
      """
    ) { row in
      let undo = BulkUndo(
        administratorName: try row.value(1), startedAt: Instant(microseconds: try row.value(8)),
        isRunning: try row.value(9), administrator: ID(try row.value(0)),
        address: try row.value(2), requestID: try row.value(3),
        reason: (try row.value(4) as String?).flatMap(SupportReason.init(rawValue:)),
        note: try row.value(5), ticket: try row.value(6), proof: try row.value(7))
      return (try row.value(10) as Int64, undo)
    }
    return Dictionary(uniqueKeysWithValues: undos)
  }
}

/// What starting a bulk removal across pools requires of an agent.
public struct BulkGroupEligibility: Sendable {
  /// The requirements of the form, with the identity checks of all pools.
  public let form: SupportEligibility
  /// The requirements of acting in all pools or in none, as an undo does: one can block them all.
  public let together: SupportEligibility
  /// The reason a second administrator has to approve, by the number of the pool's job.
  public let approvals: [Int64: Approval.Cause]
  /// The jobs of pools in which the agent hit the hourly action limit.
  public let blocked: Set<Int64>
  /// The parts that will be started: the chosen ones in pools where the agent isn't blocked.
  ///
  /// If there are none, those that can be chosen; if there are none of them either, all.
  public let selected: [BulkGroup.Part]
  /// The shortest time in hours within which the selected parts can be undone; 0 if one can't be.
  public let undoHours: Int

  /// The number of users of the selected parts.
  public var users: Int { selected.users }
  /// The number of factors to remove in the selected parts.
  public var factors: Int { selected.reduce(0) { $0 + $1.job.factors } }

  /// Returns true if the number of users must be typed: there are many, and the removal can't be
  /// undone somewhere.
  public func asksForNumber(_ reason: SupportReason?) -> Bool {
    Self.asksForNumber(users, reason, undoHours: undoHours)
  }

  static func asksForNumber(_ users: Int, _ reason: SupportReason?, undoHours: Int) -> Bool {
    users > BulkJob.unconfirmed && (reason?.isHostile == true || undoHours == 0)
  }
}

extension BulkGroup {
  /// Finds a bulk removal with the parts that an administrator can act in; a draft can be found only
  /// by its requester.
  static func find(
    _ id: Int64, for agent: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> BulkGroup? {
    guard let administrator = try Administrators.present(agent, at: now, connection) else {
      return nil
    }
    let row = try connection.first(
      """
      SELECT administrator_id, administrator_name, created_at, lines FROM bulk_group
      WHERE group_id = \(id)
      """
    ) { row in
      (
        requester: ID<Administrator>(try row.value(0)), name: try row.value(1) as String,
        createdAt: Instant(microseconds: try row.value(2)), lines: try row.value(3) as Int
      )
    }
    guard let row else { return nil }
    let isOwn = row.requester == agent
    let parts = try parts(of: id, for: administrator, isOwn: isOwn, at: now, connection)
      .filter { isOwn || $0.job.state != .draft }
    guard isOwn || !parts.isEmpty else { return nil }
    return BulkGroup(
      id: id, requester: row.requester, requesterName: row.name, createdAt: row.createdAt,
      lines: row.lines, parts: parts, misses: isOwn ? try misses(of: id, connection) : [])
  }

  /// The SQL condition of the pools `s` of a started removal `g` whose parts an administrator can see, as
  /// in ``parts``.
  static func isVisible(to administrator: Administrator) -> SQL {
    let present = administrator.condition(.removeFactors)
    let deleted: SQL =
      administrator.may(.removeFactors, in: nil)
      ? "TRUE" : "g.administrator_id = \(administrator.id.text)"
    return "s.deleted_at IS NULL AND (\(present)) OR s.deleted_at IS NOT NULL AND \(deleted)"
  }

  private static func parts(
    of id: Int64, for administrator: Administrator, isOwn: Bool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> [Part] {
    let jobs = try jobs(of: id, connection)
    // One start decides about all parts, including those that the administrator couldn't see then.
    let isBegun = jobs.contains { $0.state != .draft }
    var parts: [Part] = []
    for job in jobs where !isBegun || job.state != .draft {
      if let scope = try scope(job.scopeKey, connection) {
        guard administrator.may(.removeFactors, in: scope) else { continue }
        parts.append(try part(job, in: scope, at: now, connection))
      } else if let part = try deletedPart(job, for: administrator, isOwn: isOwn, connection) {
        parts.append(part)
      }
    }
    return parts
  }

  /// Returns a job of a deleted pool; nil if it was never started, or isn't for the administrator.
  ///
  /// Roles ended with the pool, and one in a later pool with its name isn't for this one.
  private static func deletedPart(
    _ job: BulkJob, for administrator: Administrator, isOwn: Bool,
    _ connection: borrowing Connection
  ) throws -> Part? {
    guard job.state != .draft, isOwn || administrator.may(.removeFactors, in: nil),
      let scope = try scope(job.scopeKey, evenDeleted: true, connection)
    else { return nil }
    return Part(
      job: job, scope: scope, isDeleted: true, undo: nil, undoable: 0, undone: BulkUndo.Counts(),
      requiresCaller: false)
  }

  /// Returns the jobs of all pools.
  static func jobs(
    of id: Int64, _ connection: borrowing Connection
  ) throws -> [BulkJob] {
    try connection.all(
      """
      SELECT \(BulkJob.columns) FROM bulk_job \(index: "bulk_job_of_group")
      WHERE group_id = \(id) ORDER BY job_id
      """
    ) { try BulkJob($0) }
  }

  /// Returns a job with what's known about its undo.
  static func part(
    _ job: BulkJob, in scope: Scope, at now: Instant, _ connection: borrowing Connection
  ) throws -> Part {
    // A removal undone or purged on a user's page, a new factor, and a deleted user end a hold early.
    let undoable =
      try connection.first(
        """
        SELECT count(*) FROM bulk_item i \(index: "bulk_item_by_result")
          \(SQL.orderedJoin) account a ON a.scope_key = \(scope.key) AND a.uid = i.uid
        WHERE i.scope_key = \(scope.key) AND i.job_id = \(job.id) AND i.result = 'removed'
          AND i.undo_until > \(now.microseconds)
          AND EXISTS (SELECT 1 FROM removed_factor r WHERE r.account_key = a.account_key
            AND r.removal_id = i.removal_id AND r.until > \(now.microseconds))
        """
      ) { try $0.value(0) as Int } ?? 0
    let undo = try BulkUndo.find(job.id, of: scope.key, connection)
    let undone = try undo == nil ? BulkUndo.Counts() : BulkUndo.counts(of: job, connection)
    let rules = try SupportRules.find(scope, connection)
    return Part(
      job: job, scope: scope, isDeleted: false, undo: undo, undoable: undoable, undone: undone,
      requiresCaller: rules.callerVerification == .required)
  }

  private static func misses(of id: Int64, _ connection: borrowing Connection) throws -> [Miss] {
    let rows = try connection.all(
      """
      SELECT line, given, uid, scope_key FROM bulk_group_line WHERE group_id = \(id)
      ORDER BY line, scope_key
      """
    ) { row in
      (
        line: try row.value(0) as Int, given: try row.value(1) as String,
        uid: try row.value(2) as String?, key: try row.value(3) as Int64
      )
    }
    var scopes: [Int64: Scope] = [:]
    return try rows.map { row in
      if scopes[row.key] == nil { scopes[row.key] = try scope(row.key, connection) }
      let user = row.uid.flatMap { uid in scopes[row.key].map { (id: ID<Account>(uid), scope: $0) }
      }
      return Miss(line: row.line, given: row.given, user: user)
    }
  }

  static func scope(
    _ key: Int64, evenDeleted: Bool = false, _ connection: borrowing Connection
  ) throws -> Scope? {
    let condition: SQL = evenDeleted ? "" : " AND s.deleted_at IS NULL"
    return try connection.first(
      """
      SELECT \(Scope.columns) FROM scope s \(SQL.orderedJoin) project p USING (project_id)
      WHERE s.scope_key = \(key)\(condition)
      """
    ) { try Scope($0) }
  }
}
