import Database

extension Approvals {
  /// Approves a request and carries it out in one transaction.
  ///
  /// If something has changed since the request, such as a factor that was added or removed or an
  /// account that can no longer be acted on, the request is closed and nothing is done. Only the
  /// re-authentication code of the approver's input is used.
  public func approve(
    _ id: Int64, in pool: Pool, _ request: ActionRequest
  ) async throws -> ActionOutcome<ApprovalOutcome> {
    let outcome: ActionOutcome<ApprovalOutcome> = try await decide(
      .approve, id, in: pool, request
    ) { approval, now, connection in
      let plan = try plan(approval, at: now, connection)
      if case .overtaken(let obstacle) = plan {
        try Self.close(
          approval, .overtaken, by: request.author, obstacle: obstacle, at: now, connection)
        return .overtaken(obstacle)
      }
      let value = try carryOut(plan, of: approval, by: request.author, at: now, connection)
      try Self.close(approval, .approved, by: request.author, at: now, connection)
      if approval.kind != .policy {
        try HourlyLimit.count(request.agent.administrator.id, in: pool, at: now, connection)
      }
      return value
    }
    if case .begun = outcome.value { store.bulkWork.send() }
    return outcome
  }

  /// Only the re-authentication code of the request is used.
  @discardableResult
  public func refuse(
    _ id: Int64, in pool: Pool, answer: String, _ request: ActionRequest
  ) async throws -> ActionOutcome<Void> {
    let answer = answer.trimmed
    let faults: [ActionInputError] =
      if answer.isEmpty {
        [.answerRequired]
      } else {
        answer.count <= Approval.longestAnswer ? [] : [.answerTooLong]
      }
    return try await decide(.reject, id, in: pool, request, inputErrors: faults) {
      approval, now, connection in
      try Self.close(approval, .refused, by: request.author, answer: answer, at: now, connection)
    }
  }

  public func withdraw(
    _ id: Int64, in pool: Pool, _ request: ActionRequest
  ) async throws {
    _ = try await decide(.withdraw, id, in: pool, request) { approval, now, connection in
      try Self.close(approval, .withdrawn, by: request.author, at: now, connection)
    }
  }

  // MARK: - Helpers

  private enum Decision {
    case approve, reject, withdraw
  }

  /// Authorizes a decision about a pending request and carries it out in one transaction.
  ///
  /// Requesters withdraw their own requests, and others approve or reject them. Only an approval
  /// acts on users, so only it requires that the administrator can act on them and counts toward
  /// the hourly limit. Both require the permission of the action on one user.
  ///
  /// It uses the parts of ``Store/run(_:by:on:plan:apply:)``: who may decide depends on the request,
  /// and the change is carried out in the name of its requester.
  private func decide<Value: Sendable>(
    _ decision: Decision, _ id: Int64, in pool: Pool, _ request: ActionRequest,
    inputErrors faults: [ActionInputError] = [],
    _ body:
      @escaping @Sendable (Approval, Instant, borrowing Connection) throws -> Value
  ) async throws -> ActionOutcome<Value> {
    let agent = request.agent.administrator.id
    let result: Result<ActionOutcome<Value>, ActionDenial> = try await store.write {
      now, connection in
      let approval = try Self.find(id, in: pool, at: now, connection)
      guard approval.state == .waiting else { throw ApprovalError.decided }
      let isOwn = approval.requester == agent
      guard isOwn == (decision == .withdraw) else {
        throw isOwn ? ApprovalError.ownRequest : .othersRequest
      }
      if decision == .approve {
        if let denial = try obstacle(agent, to: approval, at: now, connection) { throw denial }
        let settings = try SupportRules.find(pool, connection)
        if approval.kind != .policy,
          try HourlyLimit.left(for: agent, settings, in: pool, at: now, connection) == 0
        {
          try HourlyLimit.block(request, settings, in: pool, at: now, connection)
          return .failure(.held)
        }
      } else if decision == .reject, let kind = approval.jobKind {
        let administrator = try Administrators.present(agent, at: now, connection)
        guard administrator?.may(kind.permission, in: pool) == true else {
          throw ActionDenial.notAllowed
        }
      }
      let actions = approval.kind.actions
      let action =
        switch decision {
        case .approve: actions.approve
        case .reject: actions.reject
        case .withdraw: actions.withdraw
        }
      switch try store.authorization.authorize(
        action, request, in: ActionTarget(pool), inputErrors: faults, at: now, connection)
      {
      case .failure(let denial): return .failure(denial)
      case .success(let renewed):
        return .success(
          ActionOutcome(value: try body(approval, now, connection), renewed: renewed))
      }
    }
    return try result.get()
  }

  /// Returns why an administrator can't decide a request, regardless of their input; nil if they
  /// can.
  func obstacle(
    _ agent: ID<Administrator>, to approval: Approval, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ActionDenial? {
    let pool = approval.pool
    guard let administrator = try Administrators.present(agent, at: now, connection),
      administrator.may(approval.kind.permission, in: pool)
    else { return .notAllowed }
    if let job = approval.job {
      guard approval.jobKind.map({ administrator.may($0.permission, in: pool) }) != false else {
        return .notAllowed
      }
      if try Self.isOnList(administrator, job, in: pool, connection) { return .ownAccount }
      guard let account = try Self.protectedAccount(on: job, in: pool, connection),
        let denial = administrator.denial(
          of: approval.kind.actions.approve, on: account, in: pool),
        case .protectedAccount = denial
      else { return nil }
      return denial
    }
    guard let id = approval.account,
      let account = try AccountRecord.find(pool, id, connection)
    else { return nil }
    return administrator.denial(of: approval.kind.actions.approve, on: account, in: pool)
  }

  /// Returns true if the administrator's own account is on the list; administrators can't decide
  /// about themselves there either.
  private static func isOnList(
    _ administrator: Administrator, _ job: Int64, in pool: Pool,
    _ connection: borrowing Connection
  ) throws -> Bool {
    let own = Mailbox.folded(administrator.email)
    // An address with plain spelling that's the only one on file needs no further comparison.
    let candidates = try connection.all(
      """
      SELECT a.account_key FROM bulk_item i
        \(SQL.orderedJoin) account a ON a.scope_key = \(pool.key) AND a.uid = i.uid
      WHERE i.scope_key = \(pool.key) AND i.job_id = \(job)
        AND (a.email_folded = \(own) OR a.has_providers = 1 OR a.has_former_addresses = 1
          OR a.initial_email IS NOT NULL OR a.email_folded LIKE '%.'
          OR length(a.email_folded) <> \(SQL.byteCount("a.email_folded")))
      """
    ) { try $0.next() as Int64 }
    for key in candidates {
      guard let account = try AccountRecord.find(key: key, connection) else { continue }
      let denial = administrator.denial(of: .approveRequest, on: account, in: pool)
      if case .ownAccount = denial { return true }
    }
    return false
  }

  /// Returns a protected account that a list would remove factors from; nil if there is none.
  ///
  /// Protected accounts that the requester couldn't act on have a result from the beginning.
  private static func protectedAccount(
    on job: Int64, in pool: Pool, _ connection: borrowing Connection
  ) throws -> Account? {
    let key = try connection.first(
      """
      SELECT a.account_key FROM bulk_item i
        \(SQL.orderedJoin) account a ON a.scope_key = \(pool.key) AND a.uid = i.uid
      WHERE i.scope_key = \(pool.key) AND i.job_id = \(job) AND i.result IS NULL
        AND a.protected = 1
      LIMIT 1
      """
    ) { try $0.next() as Int64 }
    return try key.flatMap { try AccountRecord.find(key: $0, connection) }
  }

  public func obstacle(to approval: Approval) async throws -> ApprovalObstacle? {
    guard approval.state == .waiting else { return nil }
    return try await store.read { now, connection in
      guard case .overtaken(let obstacle) = try plan(approval, at: now, connection) else {
        return nil
      }
      return obstacle
    }
  }

  /// What approving a request does.
  private enum Plan {
    case policy(PolicyEdit, over: Policy)
    case job(Int64)
    /// Removes one factor of an account, or all if it's nil, in the requester's name.
    case removal(ID<Factor>?, from: Account, by: Administrator)
    case overtaken(ApprovalObstacle)
    /// A later version stored it, so it's kept for that version.
    case unknown
  }

  private func plan(
    _ approval: Approval, at now: Instant, _ connection: borrowing Connection
  ) throws -> Plan {
    let pool = approval.pool
    guard let requester = try Administrators.present(approval.requester, at: now, connection),
      requester.may(approval.kind.permission, in: pool)
    else { return .overtaken(.permissionLost) }
    if let id = approval.job {
      let job = try BulkJob.find(id, in: pool, connection)
      guard job.map({ requester.may($0.kind.permission, in: pool) }) != false else {
        return .overtaken(.permissionLost)
      }
      return job?.state == .waiting ? .job(id) : .overtaken(.listGone)
    }
    switch approval.change {
    case .policy(let new, let version, _) where approval.kind == .policy:
      let policy = try Policies.find(pool.key, connection)
      guard version == policy.version else { return .overtaken(.policyChanged) }
      return try store.outbox.isMissing(for: new, over: policy.edit, connection)
        ? .overtaken(.refusalNeedsEmail) : .policy(new, over: policy)
    case .factorsRemoved(let factor, let seen) where approval.kind != .policy:
      guard let id = approval.account,
        let account = try AccountRecord.find(pool, id, connection)
      else { return .overtaken(.accountDeleted) }
      guard requester.denial(of: .removeFactor, on: account, in: pool) == nil else {
        return .overtaken(.accountOutOfReach)
      }
      let present = Set(account.factors.map(\.id))
      if !present.isSuperset(of: factor.map { [$0] } ?? seen) { return .overtaken(.factorGone) }
      if !present.isSubset(of: seen) { return .overtaken(.factorEnrolled) }
      return present == Set(seen)
        ? .removal(factor, from: account, by: requester) : .overtaken(.factorGone)
    case nil where approval.isFormer && approval.kind == .policy: return .overtaken(.policyChanged)
    case .policy, .factorsRemoved, .disabled, .sessionsEnded, nil: return .unknown
    }
  }

  /// Carries out the request in the requester's name, with their reason and the approver's name.
  private func carryOut(
    _ plan: Plan, of approval: Approval, by approver: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ApprovalOutcome {
    let pool = approval.pool
    if pool.kind != .hosted, let change = approval.change {
      let intent = try request(change, for: plan, approval, approver, at: now, connection)
      try connection.run(
        """
        UPDATE approval SET intent_id = \(intent)
        WHERE scope_key = \(pool.key) AND approval_id = \(approval.id)
        """)
      return .requested(intent)
    }
    switch plan {
    case .policy(let new, let policy):
      var context = store.context(approval.author, at: now, because: approval.note)
      context.approver = approver.actor.name
      return .policyChanged(try Policies.store(new, over: policy, context, connection))
    case .job(let job):
      try connection.run(
        """
        UPDATE bulk_job SET state = 'running', started_at = \(now),
          approver_name = \(approver.actor.name)
        WHERE scope_key = \(pool.key) AND job_id = \(job)
        """)
      return .begun(job: job)
    case .removal(let factor, let account, let requester):
      let settings = try SupportRules.find(pool, connection)
      let reason = approval.reason ?? .other
      var removal = try FactorRemovals.removal(
        of: factor, from: account, settings, try Policies.stored(pool.key, connection))
      let hold = NewRemovalHold(
        reason, by: requester, settings, at: now, random: store.random)
      var entry = try factorRemovals.perform(&removal, hold, in: pool, at: now, connection)
      entry.justify(
        reason, note: approval.note, ticket: approval.ticket,
        proof: approval.proof.joined(separator: "\n"))
      if let proof = approval.callerProof {
        entry.add(.callerVerification, .code(proof.rawValue))
      }
      entry.add(.approver, .text(approver.actor.name))
      try entry.record(by: approval.author, at: now, connection)
      return .done(removal)
    case .overtaken(let obstacle): return .overtaken(obstacle)
    case .unknown: throw Failure("a request whose change can't be read")
    }
  }

  /// Requests what was approved of the server of a connected project.
  private func request(
    _ change: DirectoryChange, for plan: Plan, _ approval: Approval, _ approver: Author,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Int64 {
    var account: Account?
    if case .removal(_, let found, _) = plan { account = found }
    let new = NewIntent(
      change: change, pool: approval.pool, account: account, author: approval.author,
      reason: approval.reason, note: approval.note, ticket: approval.ticket,
      proof: approval.proof.joined(separator: "\n"),
      callerVerification: approval.callerProof?.rawValue, approver: approver.actor.name)
    return try new.store(in: store, at: now, connection) { entry in
      var entry = entry
      entry.justify(new.reason, note: new.note, ticket: new.ticket, proof: new.proof)
      if let proof = new.callerVerification { entry.add(.callerVerification, .code(proof)) }
      entry.add(.approver, .text(approver.actor.name))
      try entry.record(by: approval.author, at: now, connection)
    }
  }

  static func expire(
    _ approval: Approval, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try close(approval, .expired, by: Author(actor: .server), at: now, connection)
  }

  /// Closes a request: updates its row and the bulk removal that waited for it, and writes an audit
  /// row.
  static func close(
    _ approval: Approval, _ state: Approval.State, by author: Author, answer: String? = nil,
    obstacle: ApprovalObstacle? = nil, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let decider = state == .expired ? nil : author.actor
    try connection.run(
      """
      UPDATE approval SET state = \(state), decided_at = \(now),
        decider_id = \(decider?.id), decider_name = \(decider?.name),
        answer = \(answer ?? obstacle?.stored)
      WHERE scope_key = \(approval.pool.key) AND approval_id = \(approval.id)
      """)
    let ending = ending(state, author.actor.name, answer, obstacle)
    if let job = approval.job, let ending {
      let isWaiting = try connection.first(
        """
        SELECT 1 FROM bulk_job
        WHERE scope_key = \(approval.pool.key) AND job_id = \(job) AND state = 'waiting'
        """
      ) { _ in true }
      if isWaiting != nil {
        try BulkJob.stop(job, of: approval.pool.key, because: ending, at: now, connection)
      }
    }
    let object: (kind: AuditResource, id: String, name: String) =
      if approval.kind == .policy {
        (.policy, approval.pool.objectID, approval.pool.name)
      } else if let account = approval.account {
        (.account, account.text, approval.accountName)
      } else {
        (approval.jobKind?.object ?? .bulkRemoval, String(approval.job ?? 0), "")
      }
    var entry = AuditEntry(
      action(state), object.kind, object.id, name: object.name, in: approval.pool)
    entry.add(.requester, .text(approval.requesterName))
    if approval.kind == .job { entry.add(.users, .number(approval.users)) }
    if let obstacle { entry.add(.outcome, .code(obstacle.rawValue)) }
    entry.note = state == .refused ? answer : nil
    try entry.record(by: author, at: now, connection)
  }

  private static func action(_ state: Approval.State) -> AuditAction {
    switch state {
    case .waiting, .approved: .approvalApprove
    case .refused: .approvalRefuse
    case .withdrawn: .approvalWithdraw
    case .expired: .approvalExpire
    case .overtaken: .approvalOvertake
    }
  }

  private static func ending(
    _ state: Approval.State, _ name: String, _ answer: String?, _ obstacle: ApprovalObstacle?
  ) -> BulkEnding? {
    switch state {
    case .refused: .refused(by: name, answer: answer ?? "")
    case .withdrawn: .withdrawn(by: name)
    case .expired: .expired
    case .overtaken: obstacle.map { .overtaken($0) }
    case .waiting, .approved: nil
    }
  }
}
