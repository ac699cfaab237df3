import Database

/// Authorizes support actions: by role, by account, by identity checks, and by the hourly limit.
struct SupportAuthorization: Sendable {
  let store: Store

  /// Performs an action in its own transaction with a single audit log entry.
  ///
  /// An error thrown by `body` rolls everything back, including the use of the agent's code. A
  /// denial by the authorization doesn't, because a wrong code has to be counted.
  ///
  /// `guarded` returns the action whose requirements apply instead, where the input makes one
  /// action another one; nil for the action itself. `answers` returns the validation errors of the
  /// action's own fields.
  func act<Value: Sendable>(
    _ action: ConsoleAction, _ request: ActionRequest, on id: ID<Account>, in pool: Pool,
    guardedAs guarded: @escaping @Sendable (Account, Instant) -> ConsoleAction? = { _, _ in nil },
    answers: @escaping @Sendable (Account, Instant) -> [ActionInputError] = { _, _ in [] },
    _ body:
      @escaping @Sendable (Account, SupportRules, Instant, borrowing Connection) throws
      -> CompletedAction<Value>
  ) async throws -> ActionOutcome<Value> {
    let now = store.clock.now()
    let outcome: Result<ActionOutcome<Value>, ActionDenial> = try await store.write {
      connection in
      guard let account = try AccountRecord.find(pool, id, connection) else {
        throw ActionDenial.accountNotFound
      }
      let action = guarded(account, now) ?? action
      let settings = try SupportRules.find(pool, connection)
      let holder = try ActionAuthorization.holder(
        of: action.requirements.permission, request.agent, in: ActionTarget(pool), at: now,
        connection
      ).get()
      if let denial = holder.denial(of: action, on: account, in: pool) {
        return .failure(denial)
      }
      let renewed: NewConsoleSession?
      let caller = try checkCaller(
        action, request, of: account, settings, in: pool, at: now, connection)
      if case .impossible = caller { return .failure(.callerUnverifiable) }
      let own = [caller.fault].compactMap(\.self) + answers(account, now)
      switch try admit(
        action, request, by: holder, settings, own, in: pool, at: now, connection)
      {
      case .failure(let error): return .failure(error)
      case .success(let session): renewed = session
      }
      let change = try body(account, settings, now, connection)
      var entry = change.entry
      if let proof = caller.proof {
        entry.add(.callerVerification, .code(proof.rawValue))
        if change.isDone {
          try CallerCode.delete(account, by: request.agent.administrator.id, connection)
        }
      }
      try record(entry, request, settings, at: now, connection)
      try count(request.agent.administrator.id, in: pool, at: now, connection)
      return .success(ActionOutcome(value: change.value, renewed: renewed))
    }
    return try outcome.get()
  }

  /// Checks the input and the hourly limit of an agent who has the permission.
  ///
  /// `own` are the validation errors of the action's own fields; ``ActionInputError`` determines
  /// where they're inserted.
  ///
  /// - Returns: The renewed session if re-authentication was required and passed.
  func admit(
    _ action: ConsoleAction, _ request: ActionRequest, by holder: Administrator,
    _ settings: SupportRules, _ own: [ActionInputError] = [], in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Result<NewConsoleSession?, ActionDenial> {
    // Checked before the input, so that an agent without any actions left needn't fill in the form
    // to ask an owner.
    if try isHeld(request, settings, in: pool, at: now, connection) { return .failure(.held) }
    return try store.authorization.verify(
      action, request, by: holder, settings, inputErrors: own, at: now, connection)
  }

  func record(
    _ entry: AuditEntry, _ request: ActionRequest, _ settings: SupportRules, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    var entry = entry
    entry.justify(
      request.reason, note: request.note, ticket: request.ticket,
      proof: settings.identityProof.joined(separator: "\n"))
    try entry.record(by: request.author, at: now, connection)
  }

  func count(
    _ agent: ID<Administrator>, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO support_action (action_id, administrator_id, scope_key, at)
      VALUES (\(SQL.nextNumber("action_id", of: "support_action")), \(agent), \(pool.key), \(now))
      """)
  }

  /// Returns how an agent who has the permission can perform actions in a pool.
  func eligibility(
    _ agent: ConsoleSession, _ settings: SupportRules, in pool: Pool,
    _ refusal: ActionDenial? = nil, at now: Instant, _ connection: borrowing Connection
  ) throws -> SupportEligibility {
    let id = agent.administrator.id
    let isHeld = try Self.hold(of: id, in: pool, connection) != nil
    return SupportEligibility(
      settings: settings,
      asksForCode: try store.authorization.needsReauthentication(
        .secondFactor, agent, at: now, connection),
      actionsLeft: try isHeld ? 0 : allowance(of: id, settings, in: pool, at: now, connection),
      isHeld: isHeld, refusal: refusal)
  }

  /// Returns how many actions an agent has left in this hour; 0 if the agent is blocked.
  func left(
    for agent: ID<Administrator>, _ settings: SupportRules, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    try Self.hold(of: agent, in: pool, connection) != nil
      ? 0 : allowance(of: agent, settings, in: pool, at: now, connection)
  }

  private func allowance(
    of agent: ID<Administrator>, _ settings: SupportRules, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    let since = now.advanced(bySeconds: -Support.hour)
    let done =
      try connection.first(
        """
        SELECT count(*) FROM support_action
        WHERE administrator_id = \(agent) AND scope_key = \(pool.key)
          AND at > \(since)
          AND at <= \(Instant.latest(at: now))
        """
      ) { try $0.next() as Int } ?? 0
    return max(0, settings.actionsPerHour - done)
  }

  /// Returns whether an owner has to unblock an agent, and records the block the first time.
  func isHeld(
    _ request: ActionRequest, _ settings: SupportRules, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Bool {
    let administrator = request.agent.administrator
    guard try left(for: administrator.id, settings, in: pool, at: now, connection) == 0 else {
      return false
    }
    let isNew =
      try connection.run(
        """
        INSERT INTO support_hold (administrator_id, scope_key, held_at)
        VALUES (\(administrator.id), \(pool.key), \(now))
        ON CONFLICT DO NOTHING
        """) == 1
    guard isNew else { return true }
    var entry = AuditEntry(.supportHold, of: administrator, in: pool)
    entry.add(.actionsPerHour, .number(settings.actionsPerHour))
    var author = request.author
    author.actor = .server
    try entry.record(by: author, at: now, connection)
    return true
  }

  static func hold(
    of agent: ID<Administrator>, in pool: Pool, _ connection: borrowing Connection
  ) throws -> Instant? {
    try connection.first(
      """
      SELECT held_at FROM support_hold
      WHERE administrator_id = \(agent) AND scope_key = \(pool.key)
      """
    ) { try $0.next() }
  }
}

extension AuditEntry {
  /// Adds the reason and proof of an action; empty values are omitted.
  mutating func justify(_ reason: SupportReason?, note: String, ticket: String, proof: String) {
    self.reason = reason?.rawValue
    self.note = note.isEmpty ? nil : note
    self.ticket = ticket.isEmpty ? nil : ticket
    self.proof = proof.isEmpty ? nil : proof
  }
}
