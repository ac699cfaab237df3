import Database

extension BulkRemovals {
  public func eligibility(
    _ agent: ConsoleSession, on job: BulkJob, in pool: Pool
  ) async throws -> (support: SupportEligibility, approval: Approval.Cause?) {
    let now = store.clock.now()
    return try await store.read { connection in
      let rules = try SupportRules.find(pool, connection)
      let support = try authorization.eligibility(agent, rules, in: pool, at: now, connection)
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
  /// true.
  ///
  /// - Returns: The bulk removal. If it was already started, it's unchanged.
  public func begin(
    _ id: Int64, in pool: Pool, number: String, _ request: ActionRequest
  ) async throws -> ActionOutcome<BulkJob> {
    let now = store.clock.now()
    let (agent, authorization) = (request.agent.administrator.id, authorization)
    let outcome: Result<ActionOutcome<BulkJob>, BulkError> = try await store.write {
      connection in
      guard let job = try BulkJob.find(id, in: pool, connection) else {
        throw BulkError.notFound
      }
      guard job.state == .draft else { return .success(ActionOutcome(value: job, renewed: nil)) }
      guard job.requester == agent else { throw BulkError.notFound }
      guard job.users > 0 else { throw BulkError.nothingToDo }
      let holder = try ActionAuthorization.holder(
        of: job.kind.action.requirements.permission, request.agent, in: ActionTarget(pool),
        at: now, connection
      ).mapError(BulkError.denied).get()
      let settings = try SupportRules.find(pool, connection)
      let isConfirmed =
        !job.asksForNumber(request.reason, settings)
        || number.filter(\.isWholeNumber) == String(job.users)
      let left = try authorization.left(for: agent, settings, in: pool, at: now, connection)
      let renewed: NewConsoleSession?
      switch try authorization.admit(
        job.kind.action, request, by: holder, settings, isConfirmed ? [] : [.notConfirmed],
        in: pool, at: now, connection)
      {
      case .failure(let error): return .failure(.denied(error))
      case .success(let session): renewed = session
      }
      try start(job, request, settings, left: left, in: pool, at: now, connection)
      guard let begun = try BulkJob.find(id, in: pool, connection) else {
        throw BulkError.notFound
      }
      return .success(ActionOutcome(value: begun, renewed: renewed))
    }
    return try outcome.get()
  }

  private func start(
    _ job: BulkJob, _ request: ActionRequest, _ settings: SupportRules, left: Int, in pool: Pool,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let agent = request.agent.administrator.id
    let cause = try Approval.Cause(
      of: job, left: left, settings, in: pool, at: now, connection)
    try Self.decide(job, request, settings, waits: cause != nil, at: now, connection)
    guard let cause else {
      var entry = job.entry(job.kind == .links ? .bulkStartLinks : .bulkStart, in: pool)
      entry.add(.users, .number(job.users))
      try authorization.record(entry, request, settings, at: now, connection)
      for _ in 0..<job.users { try authorization.count(agent, in: pool, at: now, connection) }
      return
    }
    let expiry = try Approvals.ask(
      for: job, cause, request, settings, in: pool, at: now, connection)
    var entry = job.entry(.approvalAsk, in: pool)
    entry.add(.users, .number(job.users))
    entry.add(.approvalCause, .code(cause.rawValue))
    entry.add(.expiresAt, .instant(expiry))
    try authorization.record(entry, request, settings, at: now, connection)
    try authorization.count(agent, in: pool, at: now, connection)
  }

  private static func decide(
    _ job: BulkJob, _ request: ActionRequest, _ settings: SupportRules, waits: Bool,
    at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let proof = settings.identityProof.joined(separator: "\n")
    try connection.run(
      """
      UPDATE bulk_job SET state = \(waits ? "waiting" : "running"),
        started_at = \(waits ? nil : now), address = \(request.author.address),
        request_id = \(request.author.requestID), reason = \(request.reason),
        note = \(request.note), ticket = \(request.ticket), proof = \(proof)
      WHERE scope_key = \(job.poolKey) AND job_id = \(job.id)
      """)
  }

  /// - Returns: False if it had already ended.
  @discardableResult
  public func stop(
    _ id: Int64, in pool: Pool, _ request: ActionRequest
  ) async throws -> Bool {
    try await store.perform(
      .stopBulkRemoval, request, in: ActionTarget(pool)
    ) { context, connection in
      guard let job = try BulkJob.find(id, in: pool, connection), job.state != .draft else {
        throw BulkError.notFound
      }
      guard job.state == .running else { return false }
      try BulkJob.stop(
        id, of: pool.key, because: .stopped(by: context.author.actor.name), at: context.now,
        connection)
      var entry = job.entry(job.kind == .links ? .bulkStopLinks : .bulkStop, in: pool)
      entry.add(.usersDone, .number(job.usersDone))
      entry.add(.users, .number(job.users))
      try context.record(entry, connection)
      return true
    }.value
  }
}
