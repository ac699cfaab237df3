import Database

extension BulkRemovals {
  public func eligibility(
    _ agent: ConsoleSession, on job: BulkJob, in pool: Pool
  ) async throws -> (support: SupportEligibility, approval: Approval.Cause?) {
    try await store.read { now, connection in
      let rules = try SupportRules.find(pool, connection)
      let support = try store.eligibility(agent, rules, in: pool, at: now, connection)
      let cause = try Approval.Cause(
        of: job, left: support.actionsLeft, rules, in: pool, at: now, connection)
      return (support, cause)
    }
  }

  /// Starts a bulk removal from a draft, or requests approval if it's required.
  ///
  /// Each user counts as an action toward the agent's hourly limit. Users beyond the limit require
  /// a second administrator, so a list can't bypass the limit; users covered by an approval don't
  /// count. The agent must type the number of users if ``BulkJob/asksForNumber(_:_:)`` returns
  /// true. A campaign has terms.
  ///
  /// - Returns: The bulk removal. If it was already started, it's unchanged.
  public func begin(
    _ id: Int64, in pool: Pool, number: String, terms: CampaignTerms? = nil,
    _ request: ActionRequest
  ) async throws -> ActionOutcome<BulkJob> {
    let request = terms == nil ? request : request.withoutReason
    let agent = request.agent.administrator.id
    let draft = ActionSubject<BulkJob>(target: ActionTarget(pool)) { _, connection in
      guard let job = try BulkJob.find(id, in: pool, connection) else {
        throw CallError.notFound
      }
      guard job.state == .draft else { throw Begun(job: job) }
      guard job.requester == agent else { throw CallError.notFound }
      guard job.users > 0, (terms != nil) == (job.kind == .campaign) else {
        throw BulkError.nothingToDo
      }
      let rules = try SupportRules.find(pool, connection)
      let isConfirmed =
        !job.asksForNumber(request.reason, rules)
        || number.filter(\.isWholeNumber) == String(job.users)
      return ActionSubject.Found(
        content: job, action: job.kind.action,
        support: .init(pool: pool, rules: rules, count: job.users),
        inputErrors: isConfirmed ? [] : [.notConfirmed])
    }
    do {
      let outcome: ActionOutcome<BulkJob> = try await store.run(
        .startBulkRemoval, by: .console(request), on: draft,
        plan: { job, context, connection in
          guard context.holder?.may(job.kind.permission, in: pool) == true else {
            throw ActionDenial.notAllowed
          }
          let cause = try Approval.Cause(
            of: job, left: context.actionsLeft, context.rules, in: pool, at: context.now, connection
          )
          guard let cause else { return .change(job) }
          return .approval(NewApproval(job, cause, in: pool)) { _, connection in
            try Self.decide(job, terms, request, context, waits: true, connection)
            return try Self.begun(job, in: pool, connection)
          }
        }
      ) { job, context, connection in
        try Self.decide(job, terms, request, context, waits: false, connection)
        var entry = job.entry(job.kind == .campaign ? .bulkStartLinks : .bulkStart, in: pool)
        entry.add(.users, .number(job.users))
        try context.record(entry, connection)
        return try Self.begun(job, in: pool, connection)
      }
      store.bulkWork.send()
      return outcome
    } catch let begun as Begun {
      return ActionOutcome(value: begun.job, renewed: nil)
    }
  }

  /// What's thrown where a draft was started before, so that no proof is checked.
  private struct Begun: Error {
    let job: BulkJob
  }

  private static func begun(
    _ draft: BulkJob, in pool: Pool, _ connection: borrowing Connection
  ) throws -> BulkJob {
    guard let job = try BulkJob.find(draft.id, in: pool, connection) else {
      throw CallError.notFound
    }
    return job
  }

  private static func decide(
    _ job: BulkJob, _ terms: CampaignTerms?, _ request: ActionRequest,
    _ context: ActionContext, waits: Bool, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE bulk_job SET state = \(waits ? "waiting" : "running"),
        started_at = \(waits ? nil : context.now), address = \(request.author.address),
        request_id = \(request.author.requestID), reason = \(request.reason),
        note = \(request.note), ticket = \(request.ticket), proof = \(context.proof),
        link_seconds = \(terms?.seconds), reminds = \(terms?.reminds ?? false),
        sentence = \(terms?.sentence)
      WHERE scope_key = \(job.poolKey) AND job_id = \(job.id)
      """)
  }

  /// - Returns: False if it had already ended.
  @discardableResult
  public func stop(
    _ id: Int64, in pool: Pool, _ request: ActionRequest
  ) async throws -> Bool {
    try await store.run(.stopBulkRemoval, by: .console(request), in: ActionTarget(pool)) {
      context, connection in
      guard let job = try BulkJob.find(id, in: pool, connection), job.state != .draft else {
        throw CallError.notFound
      }
      guard context.holder?.may(job.kind.permission, in: pool) == true else {
        throw ActionDenial.notAllowed
      }
      guard job.state == .running else { return false }
      try BulkJob.stop(
        id, of: pool.key, because: .stopped(by: context.author.actor.name), at: context.now,
        connection)
      var entry = job.entry(job.kind == .campaign ? .bulkStopLinks : .bulkStop, in: pool)
      entry.add(.usersDone, .number(job.usersDone))
      entry.add(.users, .number(job.users))
      try context.record(entry, connection)
      return true
    }.value
  }
}
