import Database

extension Approval.Cause {
  init?(of removal: Removal, _ policy: StoredPolicy, at now: Instant) {
    let rules = removal.rules
    if rules.approvalForLastFactor, removal.factorsRequired == 0, policy.isMandatory(at: now) {
      self = .lastFactor
    } else if rules.callerVerification == .required, removal.account.verifiedEmail == nil {
      self = .unverifiedCaller
    } else {
      return nil
    }
  }

  init?(
    of job: BulkJob, left: Int, _ settings: SupportRules, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    if let most = settings.approvalOverUsers, job.users > most {
      self = .many
    } else if job.kind == .removal, settings.approvalForLastFactor,
      try Policies.stored(pool.key, connection).isMandatory(at: now)
    {
      self = .lastFactor
    } else if job.users > left {
      self = .hour
    } else if settings.callerVerification == .required, job.kind.single.letsCallerIn {
      self = .unverifiedCaller
    } else {
      return nil
    }
  }
}

extension StoredPolicy {
  /// Returns true if users must currently have a second factor: a factor type is enabled, and the
  /// configuration or the pattern makes enrollment mandatory.
  func isMandatory(at now: Instant) -> Bool {
    guard configuration.isTOTPOn || configuration.isSMSOn else { return false }
    if inForce.isTOTPMandatory { return true }
    return pattern == .mandatory && (mandatoryFrom?.start ?? now) <= now
  }
}

/// A request to store, except who asks and why.
struct NewApproval: Sendable {
  let pool: Pool
  let kind: Approval.Kind
  /// Nil for an action on many users.
  var change: DirectoryChange?
  var job: Int64?
  var account: Account?
  var factors: [Factor] = []
  let users: Int
  let cause: Approval.Cause
  /// The numbers of expired requests that it replaces.
  var expired: [Int64] = []
  /// The audit entry, without the cause and the time the request expires.
  var entry: AuditEntry

  /// Stores and records the request of an administrator; a program can't ask.
  ///
  /// - Returns: The time it expires.
  func ask(
    _ context: ActionContext, _ connection: borrowing Connection
  ) throws -> Instant {
    guard let request = context.request else { throw ActionDenial.notAllowed }
    let now = context.now
    for late in expired {
      try Approvals.expire(
        Approvals.find(late, in: pool, at: now, connection), at: now, connection)
    }
    let expiry = now.advanced(bySeconds: Approval.lifetime)
    let agent = request.agent.administrator
    let names = factors.map {
      $0.label.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
    let id: Int64? = try connection.first(
      """
      INSERT INTO approval (approval_id, scope_key, kind, uid, user_name, factors, factor_names,
        all_factors, change, job_id, users, cause, requester_id, requester_name, address, request_id,
        reason, note, ticket, proof, caller_verification, requested_at, expires_at, state)
      VALUES (\(SQL.nextNumber("approval_id", of: "approval")), \(pool.key), \(kind),
        \(account?.id.text ?? ""), \(account?.label ?? ""), \(EnrollmentIDs.text(of: factors)),
        \(names.joined(separator: "\n")), \(EnrollmentIDs.text(of: account?.factors ?? [])),
        \(change?.stored), \(job), \(users), \(cause), \(agent.id), \(agent.displayName),
        \(request.author.address), \(request.author.requestID), \(request.reason?.rawValue ?? ""),
        \(request.note), \(request.ticket), \(context.proof), \(context.callerProof),
        \(now),
        \(expiry), 'waiting')
      RETURNING approval_id
      """
    ) { try $0.next() }
    guard let id else { throw Failure("a request without a number") }
    if case .policy(let new, let version, _) = change {
      try connection.run(
        """
        INSERT INTO approval_policy (scope_key, approval_id, policy_version,
          \(PolicyEdit.columnNames))
        VALUES (\(pool.key), \(id), \(version), \(new.values))
        """)
    }
    var entry = entry
    entry.add(.approvalCause, .code(cause.rawValue))
    entry.add(.expiresAt, .instant(expiry))
    try context.record(entry, connection)
    return expiry
  }
}

extension NewApproval {
  /// A request to remove factors; throws ``ActionDenial/alreadyAsked`` if one waits.
  init(
    _ removal: Removal, _ cause: Approval.Cause, _ change: DirectoryChange, in pool: Pool,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let account = removal.account
    guard try Approvals.waiting(for: account.id, in: pool, at: now, connection) == nil else {
      throw ActionDenial.alreadyAsked
    }
    var entry = AuditEntry(.approvalAsk, of: account, in: pool)
    entry.add(.factors, .of(removal.factors))
    self.init(
      pool: pool, kind: removal.isOfAll ? .factors : .factor, change: change, account: account,
      factors: removal.factors, users: 1, cause: cause, entry: entry)
  }

  /// A request for an action on many users.
  init(_ job: BulkJob, _ cause: Approval.Cause, in pool: Pool) {
    var entry = job.entry(.approvalAsk, in: pool)
    entry.add(.users, .number(job.users))
    self.init(
      pool: pool, kind: .job, job: job.id, users: job.users, cause: cause, entry: entry)
  }

  /// A request to weaken a policy, in place of one that expired.
  ///
  /// - Throws: ``PolicyError/approvalPending`` if another one waits.
  init(
    _ new: PolicyEdit, over policy: Policy, _ change: DirectoryChange, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
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
    let users = policy.users(affectedBy: policy.weakenings(by: new))
    var entry = AuditEntry(
      .approvalAsk, .policy, pool.objectID, name: pool.name, in: pool)
    entry.compare(policy.edit.auditFields, new.auditFields)
    entry.add(.users, .number(users))
    self.init(
      pool: pool, kind: .policy, change: change, users: users, cause: .weakerPolicy,
      expired: pending.map(\.id), entry: entry)
  }
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
