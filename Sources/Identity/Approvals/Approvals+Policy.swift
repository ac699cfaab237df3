import Database

public struct ProposedPolicy: Sendable {
  public let edit: PolicyEdit
  /// The policy version it was based on.
  public let version: Int
}

extension Approval {
  /// `policy` is read only if the number of its users matters.
  static func isNeeded(
    for weakenings: [PolicyWeakening], of policy: @autoclosure () throws -> Policy,
    in pool: Pool, _ connection: borrowing Connection
  ) throws -> Bool {
    guard !weakenings.isEmpty,
      let limit = try SupportRules.find(pool, connection).policyApprovalOverUsers
    else { return false }
    return try policy().needsApproval(of: weakenings, above: limit)
  }

  /// Returns whether an author may store a policy: a service token can't store one that requires a
  /// second administrator, unless its creator could appoint that administrator here now.
  ///
  /// Administrators request approval before they store a policy.
  static func permits(
    _ weakenings: [PolicyWeakening], of policy: @autoclosure () throws -> Policy, in pool: Pool,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    guard case .serviceToken(let token, _) = author.actor,
      try isNeeded(for: weakenings, of: try policy(), in: pool, connection)
    else { return true }
    return try ServiceTokens.creatorMay(
      .manageAdministrators, in: pool, of: token, at: now, connection)
  }
}

extension Approvals {
  /// - Returns: The time the request expires.
  /// - Throws: ``PolicyError/approvalPending`` if another request is pending.
  static func ask(
    for new: PolicyEdit, over policy: Policy, _ request: ActionRequest, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant {
    let pool = policy.pool
    let pending = try connection.all(
      """
      SELECT approval_id, expires_at FROM approval \(index: "approval_of_policy")
      WHERE scope_key = \(pool.key) AND kind = 'policy' AND state = 'waiting'
      """
    ) { (id: try $0.next() as Int64, expiry: try $0.next() as Instant) }
    guard pending.allSatisfy({ Approval.isOver($0.expiry, at: now) }) else {
      throw PolicyError.approvalPending
    }
    for late in pending {
      try expire(find(late.id, in: pool, at: now, connection), at: now, connection)
    }
    let (cause, users) = (
      Approval.Cause.weakerPolicy, policy.users(affectedBy: policy.weakenings(by: new))
    )
    let (id, expiry) = try store(
      kind: .policy, account: nil, factors: [], names: [], job: nil, users: users, cause, request,
      SupportRules(), in: pool, at: now, connection)
    try connection.run(
      """
      INSERT INTO approval_policy (scope_key, approval_id, policy_version, \(PolicyEdit.columnNames))
      VALUES (\(pool.key), \(id), \(policy.version), \(new.values))
      """)
    var entry = AuditEntry(
      .approvalAsk, .policy, pool.objectID, name: pool.name, in: pool)
    entry.compare(policy.edit.auditFields, new.auditFields)
    entry.add(.users, .number(users))
    entry.add(.approvalCause, .code(cause.rawValue))
    entry.add(.expiresAt, .instant(expiry))
    entry.note = request.note
    try entry.record(by: request.author, at: now, connection)
    return expiry
  }

  /// Returns the policy that a request proposes; nil for other kinds of requests.
  public func proposedPolicy(of approval: Approval) async throws -> ProposedPolicy? {
    guard approval.kind == .policy else { return nil }
    return try await store.read { connection in
      try Self.proposedPolicy(of: approval, connection)
    }
  }

  static func proposedPolicy(
    of approval: Approval, _ connection: borrowing Connection
  ) throws -> ProposedPolicy? {
    try connection.first(
      """
      SELECT \(PolicyEdit.columns("w")), w.policy_version FROM approval_policy w
      WHERE w.scope_key = \(approval.pool.key) AND w.approval_id = \(approval.id)
      """
    ) { row in
      ProposedPolicy(edit: try PolicyEdit(&row), version: try row.next())
    }
  }

  /// Applies an approved policy in the requester's name, with their reason.
  func carryOut(
    _ proposed: ProposedPolicy, _ approval: Approval, by approver: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ApprovalOutcome {
    let policy = try Policies.find(approval.pool.key, connection)
    var context = store.context(approval.author, at: now, because: approval.note)
    context.approver = approver.actor.name
    return .policyChanged(try Policies.store(proposed.edit, over: policy, context, connection))
  }
}
