import Database

/// A policy that requires a second administrator's approval.
public struct ProposedPolicy: Sendable {
  /// The proposed policy.
  public let edit: PolicyEdit
  /// The policy version it was based on.
  public let version: Int
  /// When it takes effect; nil for as soon as it's approved.
  public let applyAt: Instant?
}

extension Approval {
  /// Returns true if a weaker policy requires a second administrator.
  static func isNeeded(
    for new: PolicyEdit, over policy: Policy, _ connection: borrowing Connection
  ) throws -> Bool {
    let weakenings = policy.weakenings(by: new)
    guard !weakenings.isEmpty else { return false }
    let rules = try SupportRules.find(policy.scope, connection)
    return policy.needsApproval(of: weakenings, above: rules.policyApprovalOverUsers)
  }
}

extension Approvals {
  /// Requests approval for a weaker policy, in the action's transaction.
  ///
  /// - Returns: The time the request expires.
  /// - Throws: ``PolicyError/approvalPending`` if another request is pending.
  static func ask(
    for new: PolicyEdit, over policy: Policy, applyAt time: Instant? = nil,
    _ request: ActionRequest, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant {
    let scope = policy.scope
    let pending = try connection.all(
      """
      SELECT approval_id, expires_at FROM approval \(index: "approval_of_policy")
      WHERE scope_key = \(scope.key) AND kind = 'policy' AND state = 'waiting'
      """
    ) { (id: try $0.value(0) as Int64, expiry: Instant(microseconds: try $0.value(1))) }
    guard pending.allSatisfy({ Approval.isOver($0.expiry, at: now) }) else {
      throw PolicyError.approvalPending
    }
    for late in pending {
      try expire(find(late.id, in: scope, at: now, connection), at: now, connection)
    }
    let (cause, users) = (
      Approval.Cause.weakerPolicy, policy.users(affectedBy: policy.weakenings(by: new))
    )
    let (id, expiry) = try store(
      kind: .policy, account: nil, factors: [], names: [], job: nil, users: users, cause, request,
      SupportRules(), in: scope, at: now, connection)
    try connection.run(
      """
      INSERT INTO approval_policy (scope_key, approval_id, policy_version, apply_at,
        \(PolicyEdit.columnNames))
      VALUES (\(scope.key), \(id), \(policy.version), \(time?.microseconds), \(new.values))
      """)
    var entry = AuditEntry(
      .approvalAsk, .policy, scope.objectID, name: scope.name, in: scope)
    entry.compare(policy.edit.auditFields, new.auditFields)
    entry.add(.users, .number(users))
    entry.add(.approvalCause, .code(cause.rawValue))
    entry.add(.expiresAt, .instant(expiry))
    if let time { entry.add(.appliesAt, .instant(time)) }
    entry.note = request.note
    try entry.record(by: request.author, at: now, connection)
    return expiry
  }

  /// Returns the policy that a request proposes; nil for other kinds of requests.
  ///
  /// - Throws: ``ApprovalError/unavailable(_:)``.
  public func proposedPolicy(of approval: Approval) async throws(ApprovalError) -> ProposedPolicy? {
    guard approval.kind == .policy else { return nil }
    return try await store.read(ApprovalError.self) { connection in
      try Self.proposedPolicy(of: approval, connection)
    }
  }

  /// Returns the pending request to change a pool's policy, if any, with the policy that it proposes.
  ///
  /// - Throws: ``ApprovalError/unavailable(_:)``.
  public func waitingPolicy(
    in scope: Scope
  ) async throws(ApprovalError) -> (approval: Approval, policy: ProposedPolicy)? {
    let now = store.clock.now()
    return try await store.read(ApprovalError.self) { connection in
      let requests = try connection.all(
        """
        SELECT \(Approval.columns) FROM approval v \(index: "approval_of_policy")
          \(SQL.orderedJoin) scope s USING (scope_key)
            \(SQL.orderedJoin) project p USING (project_id)
        WHERE v.scope_key = \(scope.key) AND v.kind = 'policy' AND v.state = 'waiting'
        """
      ) { try Approval($0, at: now) }
      guard let approval = requests.first(where: { $0.state == .waiting }),
        let policy = try Self.proposedPolicy(of: approval, connection)
      else { return nil }
      return (approval, policy)
    }
  }

  static func proposedPolicy(
    of approval: Approval, _ connection: borrowing Connection
  ) throws -> ProposedPolicy? {
    try connection.first(
      """
      SELECT \(PolicyEdit.columns("w")), w.policy_version, w.apply_at FROM approval_policy w
      WHERE w.scope_key = \(approval.scope.key) AND w.approval_id = \(approval.id)
      """
    ) { row in
      let column = PolicyEdit.columnCount
      return ProposedPolicy(
        edit: try PolicyEdit(row, from: 0), version: try row.value(column),
        applyAt: (try row.value(column + 1) as Int64?).map(Instant.init(microseconds:)))
    }
  }

  /// Applies an approved policy in the requester's name, with their reason, or schedules it if it
  /// takes effect later.
  func carryOut(
    _ proposed: ProposedPolicy, _ approval: Approval, by approver: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ApprovalOutcome {
    let policy = try Policies.find(approval.scope.key, connection)
    var context = store.context(approval.author, at: now, because: approval.note)
    context.approver = approver.actor.name
    if let time = proposed.applyAt, time > now {
      try ScheduledPolicyChange.store(
        proposed.edit, over: policy, at: time, context, connection)
      return .policyScheduled(for: time)
    }
    return .policyChanged(try Policies.store(proposed.edit, over: policy, context, connection))
  }
}
