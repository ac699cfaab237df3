import Database

/// A change of a policy that takes effect at a set time, pending or ended.
public struct ScheduledPolicyChange: Sendable {
  /// The state of a scheduled change.
  public enum State: String, Sendable {
    /// Pending.
    case waiting
    /// Made.
    case applied
    /// Canceled by an administrator.
    case canceled
    /// Not made, because something had changed.
    case failed
  }

  /// Why a scheduled change wasn't made.
  public enum Failure: String, CaseIterable, Sendable {
    /// The administrator who scheduled it was removed.
    case authorRemoved = "author-removed"
    /// The administrator who scheduled it lost the permission.
    case permissionLost = "permission-lost"
    /// The policy was changed in the meantime.
    case policyChanged = "policy-changed"
    /// The change affects more users than before, and now requires a second administrator.
    case approvalRequired = "approval-required"
    /// It refuses users who couldn't be sent enrollment links, because the server no longer sends
    /// emails.
    case refusalNeedsEmail = "refusal-needs-email"
    /// A backup was restored, which may be older than a cancellation.
    case restored
  }

  /// The number of the change.
  public let id: Int64
  /// The version that the change is based on.
  public let version: Int
  /// The policy after the change.
  public let edit: PolicyEdit
  /// The name of the administrator who scheduled it.
  public let authorName: String
  /// The reason; nil if none was given.
  public let reason: String?
  /// The name of the second administrator who approved it; nil if no approval was needed.
  public let approverName: String?
  /// When it was scheduled.
  public let scheduledAt: Instant
  /// When it takes effect.
  public let applyAt: Instant
  /// The state.
  public let state: State
  /// When it was made, canceled, or failed; nil while it's pending.
  public let endedAt: Instant?
  /// The name of the administrator who canceled it; nil if no one did.
  public let cancelerName: String?
  /// Why it wasn't made; nil if it didn't fail.
  public let failure: Failure?
  /// Why it wouldn't be made if it were due now; nil if it would be, or isn't pending.
  public internal(set) var foreseenFailure: Failure?
  let author: Author
  let scopeKey: Int64

  /// Whether it's pending, and the policy hasn't changed since it was scheduled.
  public func isCurrent(at version: Int) -> Bool { state == .waiting && self.version == version }

  /// The shortest time from now for which a change can be scheduled, in seconds.
  public static let earliest: Int64 = 60
  /// The longest time from now for which a change can be scheduled, in seconds.
  public static let latest: Int64 = 366 * 86_400

  static let columns: SQL = """
    c.change_id, c.scope_key, c.policy_version, \(PolicyEdit.columns("c")), c.author_id,
      c.author_name, c.address, c.request_id, c.reason, c.approver_name, c.scheduled_at,
      c.apply_at, c.state, c.ended_at, c.canceler_name, c.failure
    """

  init(_ row: borrowing Row, from column: Int = 0) throws {
    id = try row.value(column)
    scopeKey = try row.value(column + 1)
    version = try row.value(column + 2)
    edit = try PolicyEdit(row, from: column + 3)
    let column = column + 3 + PolicyEdit.columnCount
    authorName = try row.value(column + 1)
    author = Author(
      actor: .administrator(ID(try row.value(column)), name: authorName),
      address: try row.value(column + 2), requestID: try row.value(column + 3))
    reason = try row.value(column + 4)
    approverName = try row.value(column + 5)
    scheduledAt = Instant(microseconds: try row.value(column + 6))
    applyAt = Instant(microseconds: try row.value(column + 7))
    state = State(rawValue: try row.value(column + 8)) ?? .failed
    endedAt = (try row.value(column + 9) as Int64?).map(Instant.init(microseconds:))
    cancelerName = try row.value(column + 10)
    failure = (try row.value(column + 11) as String?).flatMap(Failure.init(rawValue:))
  }

  /// Finds a change of a user pool; nil if there's none with this number.
  static func find(
    _ id: Int64, in scope: Scope, _ connection: borrowing Connection
  ) throws -> ScheduledPolicyChange? {
    try connection.first(
      """
      SELECT \(columns) FROM scheduled_change c
      WHERE c.change_id = \(id) AND c.scope_key = \(scope.key)
      """
    ) { try ScheduledPolicyChange($0) }
  }

  /// Returns the newest changes of a user pool.
  static func all(
    in scope: Scope, limit: Int, _ connection: borrowing Connection
  ) throws -> [ScheduledPolicyChange] {
    try connection.all(
      """
      SELECT \(columns) FROM scheduled_change c WHERE c.scope_key = \(scope.key)
      ORDER BY c.change_id DESC LIMIT \(limit)
      """
    ) { try ScheduledPolicyChange($0) }
  }

  /// Checks that a change can be scheduled for a time.
  static func check(
    _ time: Instant, for scope: Scope, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let range = now.advanced(bySeconds: earliest)...now.advanced(bySeconds: latest)
    guard range.contains(time) else { throw PolicyError.timeOutOfRange }
    guard try !isPending(in: scope, connection) else { throw PolicyError.changeScheduled }
  }

  /// Returns whether a change of a pool is pending: it changes the version when it's made, so another
  /// one could only fail.
  static func isPending(in scope: Scope, _ connection: borrowing Connection) throws -> Bool {
    let found = try connection.first(
      """
      SELECT 1 FROM scheduled_change WHERE scope_key = \(scope.key) AND state = 'waiting' LIMIT 1
      """
    ) { try $0.value(0) as Int }
    return found != nil
  }

  /// Stores a change in the action's transaction, with its audit row.
  static func store(
    _ new: PolicyEdit, over policy: Policy, at time: Instant, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws {
    let (author, scope) = (context.author, policy.scope)
    try connection.run(
      """
      INSERT INTO scheduled_change (change_id, scope_key, policy_version, \(PolicyEdit.columnNames),
        author_id, author_name, address, request_id, reason, approver_name, scheduled_at, apply_at,
        state)
      VALUES (\(SQL.nextNumber("change_id", of: "scheduled_change")), \(scope.key),
        \(policy.version), \(new.values), \(author.actor.id),
        \(author.actor.name), \(author.address), \(author.requestID), \(context.reason),
        \(context.approver), \(context.now.microseconds), \(time.microseconds), 'waiting')
      """)
    var entry = AuditEntry(
      .policySchedule, .scheduledChange, scope.objectID, name: scope.name, in: scope)
    entry.compare(policy.edit.auditFields, new.auditFields)
    entry.add(.appliesAt, .instant(time))
    try context.record(entry, connection)
  }

  /// Ends the change.
  func end(
    _ state: State, at now: Instant, canceler: String? = nil, because failure: Failure? = nil,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE scheduled_change SET state = \(state.rawValue), ended_at = \(now.microseconds),
        canceler_name = \(canceler), failure = \(failure?.rawValue)
      WHERE scope_key = \(scopeKey) AND change_id = \(id)
      """)
  }

  /// Ends all pending changes as failed.
  static func failAll(
    _ failure: Failure, at now: Instant, _ connection: borrowing Connection
  ) throws {
    for (scope, change) in try pending(connection) {
      try change.fail(failure, in: scope, at: now, connection)
    }
  }

  /// Returns the pending changes of all pools, first to take effect first.
  private static func pending(
    _ connection: borrowing Connection
  ) throws -> [(scope: Scope, change: ScheduledPolicyChange)] {
    try connection.all(
      """
      SELECT \(Scope.columns), \(columns) FROM scheduled_change c
        \(SQL.orderedJoin) scope s USING (scope_key) \(SQL.orderedJoin) project p USING (project_id)
      WHERE c.state = 'waiting' AND c.apply_at > 0 ORDER BY c.apply_at
      """
    ) { (scope: try Scope($0), change: try ScheduledPolicyChange($0, from: 7)) }
  }

  /// Counts the pending changes of a tenant, or of a project with all its tenants.
  static func pendingCount(
    in scope: Scope, _ connection: borrowing Connection
  ) throws -> Int {
    try pending(connection).count { scope.contains($0.scope) }
  }

  /// Cancels the pending changes of a tenant, or of a project with all its tenants, that is about to
  /// be marked as deleted, with an audit entry each.
  static func cancelAll(
    deleted scope: Scope, _ context: ActionContext, _ connection: borrowing Connection
  ) throws {
    for (pool, change) in try pending(connection) where scope.contains(pool) {
      try change.cancel(
        in: pool, context, connection, because: BulkEnding.scopeDeleted.code)
    }
  }

  /// Cancels the change, with its audit row.
  func cancel(
    in scope: Scope, _ context: ActionContext, _ connection: borrowing Connection,
    because reason: String? = nil
  ) throws {
    try end(.canceled, at: context.now, canceler: context.author.actor.name, connection)
    var entry = AuditEntry(
      .policyCancelSchedule, .scheduledChange, scope.objectID, name: scope.name, in: scope)
    entry.add(.requester, .text(authorName))
    entry.add(.appliesAt, .instant(applyAt))
    if let reason { entry.add(.stopReason, .code(reason)) }
    try context.record(entry, connection)
  }

  /// Ends the change as failed, with its audit row.
  func fail(
    _ failure: Failure, in scope: Scope, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try end(.failed, at: now, because: failure, connection)
    var entry = AuditEntry(
      .policyScheduleFail, .scheduledChange, scope.objectID, name: scope.name, in: scope)
    entry.add(.requester, .text(authorName))
    entry.add(.appliesAt, .instant(applyAt))
    entry.add(.outcome, .code(failure.rawValue))
    try entry.record(by: Author(actor: .server), at: now, connection)
  }
}
