import Database

extension BulkRemovals {
  /// What deciding a job asks of an agent, for the page that asks.
  ///
  /// - Returns: The rules of the desk, and why a second administrator would have to approve.
  /// - Throws: ``BulkError``.
  public func standing(
    _ agent: ConsoleSession, on job: BulkJob, in scope: Scope
  ) async throws(BulkError) -> (support: SupportEligibility, approval: Approval.Cause?) {
    let now = store.clock.now()
    return try await store.read(BulkError.self) { connection in
      let support = try gate.standing(agent, in: scope, at: now, connection)
      let cause = try Approval.Cause(
        users: job.users, left: support.actionsLeft, support.settings, in: scope, at: now,
        connection)
      return (support, cause)
    }
  }

  /// Decides a draft: the job begins, or waits for a second administrator.
  ///
  /// Each user counts as an action of the agent's hour. What exceeds the hour needs a second
  /// administrator, so that a list is no way around the limit; what one has approved does not count.
  ///
  /// - Parameters:
  ///   - id: The draft.
  ///   - scope: The user pool.
  ///   - number: The number of users as the agent typed it, where ``BulkJob/asksForNumber(_:_:)``.
  ///   - request: Who decides, and why.
  /// - Returns: The job. One that was decided before stays as it is.
  /// - Throws: ``BulkError``.
  public func begin(
    _ id: Int64, in scope: Scope, number: String, _ request: ActionRequest
  ) async throws(BulkError) -> ActionOutcome<BulkJob> {
    let now = store.clock.now()
    let (agent, gate) = (request.agent.administrator.id, gate)
    let outcome: Result<ActionOutcome<BulkJob>, BulkError> = try await store.write(BulkError.self) {
      connection in
      guard let job = try BulkJob.find(id, in: scope, connection) else {
        throw BulkError.notFound
      }
      guard job.state == .draft else { return .success(ActionOutcome(value: job, renewed: nil)) }
      guard job.requester == agent else { throw BulkError.notFound }
      guard job.users > 0 else { throw BulkError.nothingToDo }
      // The grants of this moment: the session was read before the write had its turn.
      guard let administrator = try Administrators.present(agent, connection),
        administrator.may(.removeFactors, in: scope)
      else { throw BulkError.denied(.notAllowed) }
      let settings = try SupportRules.find(scope, connection)
      let isConfirmed =
        !job.asksForNumber(request.reason, settings)
        || number.filter(\.isWholeNumber) == String(job.users)
      let left = try gate.left(for: agent, settings, in: scope, at: now, connection)
      let renewed: NewConsoleSession?
      switch try gate.admit(
        .startBulkRemoval, request, settings, isConfirmed ? [] : [.notConfirmed], in: scope,
        at: now, connection)
      {
      case .failure(let error): return .failure(.denied(error))
      case .success(let session): renewed = session
      }
      let cause = try Approval.Cause(
        users: job.users, left: left, settings, in: scope, at: now, connection)
      try Self.decide(job, request, settings, waits: cause != nil, at: now, connection)
      if let cause {
        let expiry = try Approvals.ask(
          for: job, cause, request, settings, in: scope, at: now, connection)
        var entry = AuditEntry(
          "approval.ask", "bulk removal", String(id), name: job.name, in: scope)
        entry.to = "\(cause.words), waits until \(expiry.formatted)"
        try gate.record(entry, request, settings, at: now, connection)
        try gate.count(agent, in: scope, at: now, connection)
      } else {
        var entry = AuditEntry("bulk.start", "bulk removal", String(id), name: job.name, in: scope)
        entry.to = Words.count(job.users, "user", "users")
        try gate.record(entry, request, settings, at: now, connection)
        for _ in 0..<job.users { try gate.count(agent, in: scope, at: now, connection) }
      }
      guard let begun = try BulkJob.find(id, in: scope, connection) else {
        throw BulkError.notFound
      }
      return .success(ActionOutcome(value: begun, renewed: renewed))
    }
    return try outcome.get()
  }

  /// Writes down who decided a job, and why.
  private static func decide(
    _ job: BulkJob, _ request: ActionRequest, _ settings: SupportRules, waits: Bool,
    at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let proof = settings.identityProof.joined(separator: "\n")
    try connection.run(
      """
      UPDATE bulk_job SET state = \(waits ? "waiting" : "running"),
        started_at = \(waits ? nil : now.microseconds), address = \(request.author.address),
        request_id = \(request.author.requestID), reason = \(request.reason?.rawValue),
        note = \(request.note), ticket = \(request.ticket), proof = \(proof)
      WHERE job_id = \(job.id)
      """)
  }

  /// Stops a job that runs; what was not come to is not done.
  ///
  /// - Returns: False when it had ended before.
  /// - Throws: ``ActionError``.
  @discardableResult
  public func stop(
    _ id: Int64, in scope: Scope, _ request: ActionRequest
  ) async throws(ActionError<BulkError>) -> Bool {
    try await store.perform(
      .stopBulkRemoval, request, in: ActionTarget(scope), BulkError.self
    ) { context, connection in
      guard let job = try BulkJob.find(id, in: scope, connection), job.state != .draft else {
        throw BulkError.notFound
      }
      guard job.state == .running else { return false }
      try BulkJob.stop(
        id, because: "Stopped by \(context.author.actor.name).", at: context.now, connection)
      var entry = AuditEntry("bulk.stop", "bulk removal", String(id), name: job.name, in: scope)
      entry.to = "\(job.usersDone) of \(Words.count(job.users, "user", "users")) done"
      try context.record(entry, connection)
      return true
    }.value
  }
}
