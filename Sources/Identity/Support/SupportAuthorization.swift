import Database

/// Stands before whatever agents do to users: who may, on whom, with which proof, how often.
struct SupportAuthorization: Sendable {
  let store: Store

  /// An action in its own transaction, with the one row in the log that it gets.
  ///
  /// What `body` throws takes everything back, the agent's code too; what the gate refuses is kept,
  /// since a wrong code counts.
  ///
  /// - Parameters:
  ///   - action: The action, for what it requires.
  ///   - request: Who acts, and what they have filled in.
  ///   - id: On whom.
  ///   - scope: The user pool.
  ///   - passingLock: True for what changes no second factor.
  ///   - answers: What is amiss of what this action asks for besides.
  ///   - body: The action.
  /// - Returns: What came of it.
  /// - Throws: ``ActionDenial``.
  func act<Value: Sendable>(
    _ action: ConsoleAction, _ request: ActionRequest, on id: ID<Account>, in scope: Scope,
    passingLock: Bool = false,
    answers: @escaping @Sendable (Account, Instant) -> [ActionInputError] = { _, _ in [] },
    _ body:
      @escaping @Sendable (Account, SupportRules, Instant, borrowing Connection) throws
      -> SupportAction<Value>
  ) async throws(ActionDenial) -> ActionOutcome<Value> {
    let now = store.clock.now()
    let outcome: Result<ActionOutcome<Value>, ActionDenial> = try await store.write(
      ActionDenial.self
    ) {
      connection in
      guard let account = try AccountRecord.find(scope, id, connection) else {
        throw ActionDenial.accountNotFound
      }
      let settings = try SupportRules.find(scope, connection)
      if let refusal = try refusal(
        of: request.agent.administrator.id, on: account, in: scope,
        needing: action.requirements.permission, passingLock: passingLock, connection)
      {
        return .failure(refusal)
      }
      let renewed: NewConsoleSession?
      let own = answers(account, now)
      switch try admit(action, request, settings, own, in: scope, at: now, connection) {
      case .failure(let error): return .failure(error)
      case .success(let session): renewed = session
      }
      let deed = try body(account, settings, now, connection)
      try record(deed.entry, request, settings, at: now, connection)
      try count(request.agent.administrator.id, in: scope, at: now, connection)
      return .success(ActionOutcome(value: deed.value, renewed: renewed))
    }
    return try outcome.get()
  }

  /// Why an agent may not act on an account, whatever they give; nil when they may.
  ///
  /// What changes no second factor passes the lock that a user has put on such changes.
  func refusal(
    of agent: ID<Administrator>, on account: Account, in scope: Scope,
    needing permission: Permission, passingLock: Bool = false, _ connection: borrowing Connection
  ) throws -> ActionDenial? {
    // The grants of this moment: the session was read before the write had its turn.
    guard let administrator = try Administrators.present(agent, connection) else {
      return .notAllowed
    }
    return try Self.refusal(
      of: administrator, on: account, in: scope, needing: permission,
      passingLock: passingLock, connection)
  }

  /// The same for an administrator who was just read.
  static func refusal(
    of administrator: Administrator, on account: Account, in scope: Scope,
    needing permission: Permission, passingLock: Bool = false, _ connection: borrowing Connection
  ) throws -> ActionDenial? {
    guard administrator.may(permission, in: scope) else { return .notAllowed }
    // The first address and those of providers count as well: the address is the user's to change.
    if account.hasOnFile(administrator.email) { return .ownAccount }
    let marks = try SupportMarks.find(account, connection)
    if marks.isProtected, !administrator.may(.protectUsers, in: scope) { return .protectedAccount }
    if marks.changesLockedAt != nil, !passingLock { return .changesLocked }
    return nil
  }

  /// Looks at what an agent gives, and at their hour.
  ///
  /// `own` are the validation errors of the action's own fields; see ``ActionInputError`` for their place.
  ///
  /// - Returns: The session under its new name, when a code was due and was right.
  func admit(
    _ action: ConsoleAction, _ request: ActionRequest, _ settings: SupportRules,
    _ own: [ActionInputError] = [], in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Result<NewConsoleSession?, ActionDenial> {
    // Before what is missing: whoever has no action left asks an owner with an empty form.
    if try isHeld(request, settings, in: scope, at: now, connection) { return .failure(.held) }
    return try store.authorization.authorize(
      action, request, in: ActionTarget(scope), settings, besides: own, at: now, connection)
  }

  /// Writes the row of an action, with why and on which proof it was done.
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

  /// Counts an action of an agent.
  func count(
    _ agent: ID<Administrator>, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO support_action (administrator_id, scope_key, at)
      VALUES (\(agent.text), \(scope.key), \(now.microseconds))
      """)
  }

  /// How many actions an agent has left in this hour; none for one that is held.
  func left(
    for agent: ID<Administrator>, _ settings: SupportRules, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    if try Self.hold(of: agent, in: scope, connection) != nil { return 0 }
    let since = now.advanced(bySeconds: -Support.hour)
    let done =
      try connection.first(
        """
        SELECT count(*) FROM support_action
        WHERE administrator_id = \(agent.text) AND scope_key = \(scope.key)
          AND at > \(since.microseconds)
        """
      ) { try $0.value(0) as Int } ?? 0
    return max(0, settings.actionsPerHour - done)
  }

  /// True when an agent has to wait for an owner; the first time that is put down.
  func isHeld(
    _ request: ActionRequest, _ settings: SupportRules, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Bool {
    let administrator = request.agent.administrator
    guard try left(for: administrator.id, settings, in: scope, at: now, connection) == 0 else {
      return false
    }
    let isNew =
      try connection.run(
        """
        INSERT INTO support_hold (administrator_id, scope_key, held_at)
        VALUES (\(administrator.id.text), \(scope.key), \(now.microseconds))
        ON CONFLICT DO NOTHING
        """) == 1
    guard isNew else { return true }
    var entry = AuditEntry(
      "support.hold", "administrator", administrator.id.text, name: administrator.displayName,
      in: scope)
    entry.to = "\(settings.actionsPerHour) actions in an hour"
    var author = request.author
    author.actor = .server
    try entry.record(by: author, at: now, connection)
    return true
  }

  /// Since when an agent is held in a pool.
  static func hold(
    of agent: ID<Administrator>, in scope: Scope, _ connection: borrowing Connection
  ) throws -> Instant? {
    try connection.first(
      """
      SELECT held_at FROM support_hold
      WHERE administrator_id = \(agent.text) AND scope_key = \(scope.key)
      """
    ) { Instant(microseconds: try $0.value(0)) }
  }
}

/// What the desk keeps of an account besides.
struct SupportMarks {
  let isProtected: Bool
  let changesLockedAt: Instant?

  static func find(_ account: Account, _ connection: borrowing Connection) throws -> SupportMarks {
    let marks = try connection.first(
      "SELECT protected, changes_locked_at FROM account WHERE account_key = \(account.key)"
    ) { row in
      SupportMarks(
        isProtected: try row.value(0),
        changesLockedAt: (try row.value(1) as Int64?).map(Instant.init(microseconds:)))
    }
    return marks ?? SupportMarks(isProtected: false, changesLockedAt: nil)
  }
}

extension AuditEntry {
  /// Says why somebody acted, and on which proof; what is empty is not said.
  mutating func justify(_ reason: SupportReason?, note: String, ticket: String, proof: String) {
    self.reason = reason?.rawValue
    self.note = note.isEmpty ? nil : note
    self.ticket = ticket.isEmpty ? nil : ticket
    self.proof = proof.isEmpty ? nil : proof
  }
}
