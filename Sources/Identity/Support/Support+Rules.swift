import Database

extension Support {
  // MARK: - What a pool asks for

  /// The settings of a pool.
  ///
  /// - Throws: ``SupportRulesError/unavailable(_:)``.
  public func settings(_ scope: Scope) async throws(SupportRulesError) -> SupportRules {
    try await store.read(SupportRulesError.self) { try SupportRules.find(scope, $0) }
  }

  /// Changes the settings of a pool, with a code of the agent's own when the last one is too old.
  ///
  /// - Parameters:
  ///   - scope: The pool.
  ///   - new: What it asks for from then on.
  ///   - request: Who changes them; of what an agent gives, only the code counts.
  /// - Returns: False when they were so before; then no code is looked at either.
  /// - Throws: ``SupportRulesError``.
  public func change(
    _ scope: Scope, to new: SupportRules, _ request: ActionRequest
  ) async throws(SupportRulesError) -> ActionOutcome<Bool> {
    let (new, faults) = new.checked()
    let now = store.clock.now()
    return try await loosen(.changeSupportRules, request, in: scope, faults, at: now) {
      connection in
      guard faults.isEmpty else { return nil }
      try Self.checkApproval(scope, new, request, connection)
      return try Self.difference(scope, new, connection)
    } doing: { connection in
      try new.store(scope, connection)
    }
  }

  /// The same for whoever has no session in the console, such as the command line.
  ///
  /// - Returns: False when they were so before.
  /// - Throws: ``SupportRulesError``.
  @discardableResult
  public func change(
    _ scope: Scope, to new: SupportRules, by author: Author
  ) async throws(SupportRulesError) -> Bool {
    let (new, faults) = new.checked()
    guard faults.isEmpty else { throw .answers(faults) }
    let now = store.clock.now()
    return try await store.write(SupportRulesError.self) { connection in
      guard let entry = try Self.difference(scope, new, connection) else { return false }
      try new.store(scope, connection)
      try entry.record(by: author, at: now, connection)
      return true
    }
  }

  /// Policy admins, whose changes need approval, can't loosen the rule that says so.
  private static func checkApproval(
    _ scope: Scope, _ new: SupportRules, _ request: ActionRequest,
    _ connection: borrowing Connection
  ) throws {
    let old = try SupportRules.find(scope, connection).policyApprovalOverUsers
    guard let old, new.policyApprovalOverUsers.map({ $0 > old }) ?? true,
      let agent = try Administrators.present(request.agent.administrator.id, connection),
      !agent.may(.protectUsers, in: scope)
    else { return }
    throw SupportRulesError.answers([.ownerRequired(.policyApproval)])
  }

  /// The row for the log of a change; nil when nothing is another.
  private static func difference(
    _ scope: Scope, _ new: SupportRules, _ connection: borrowing Connection
  ) throws -> AuditEntry? {
    do { _ = try Policies.find(scope.key, connection) } catch PolicyError.scopeNotFound {
      throw SupportRulesError.scopeNotFound
    }
    let old = try SupportRules.find(scope, connection)
    var entry = AuditEntry(
      "support.change", "scope", Policies.objectID(scope), name: scope.name, in: scope)
    (entry.from, entry.to) = Words.difference(old.words, new.words)
    return entry.from == nil ? nil : entry
  }

  // MARK: - How long an own code counts

  /// How long an agent's own code counts, in minutes.
  static func stepUpMinutes(_ connection: borrowing Connection) throws -> Int {
    try connection.first("SELECT value FROM instance WHERE name = 'step_up_minutes'") { row in
      Int(try row.value(0) as String)
    }.flatMap { $0 } ?? usualStepUp
  }

  /// How long an agent's own code counts, in minutes.
  ///
  /// - Throws: ``SupportRulesError/unavailable(_:)``.
  public func stepUpMinutes() async throws(SupportRulesError) -> Int {
    try await store.read(SupportRulesError.self) { try Self.stepUpMinutes($0) }
  }

  /// True when the last code of a session's administrator is older than the instance allows.
  ///
  /// - Throws: ``SupportRulesError/unavailable(_:)``.
  public func asksForCode(_ session: ConsoleSession) async throws(SupportRulesError) -> Bool {
    let now = store.clock.now()
    return try await store.read(SupportRulesError.self) { connection in
      try store.authorization.needsReauthentication(
        .secondFactor, session, at: now, connection)
    }
  }

  /// Changes for how long an agent's own code counts, with such a code when the last one is older
  /// than it was until now.
  ///
  /// - Returns: False when it was so before; then no code is looked at either.
  /// - Throws: ``SupportRulesError``.
  public func setStepUp(
    minutes: Int, _ request: ActionRequest
  ) async throws(SupportRulesError) -> ActionOutcome<Bool> {
    let faults: [ActionInputError] =
      Self.stepUpRange.contains(minutes) ? [] : [.outOfRange(.stepUp)]
    let now = store.clock.now()
    return try await loosen(.changeReauthenticationInterval, request, in: nil, faults, at: now) {
      connection in
      try Self.difference(minutes, connection)
    } doing: { connection in
      try Self.storeStepUp(minutes, connection)
    }
  }

  /// The same for whoever has no session in the console.
  ///
  /// - Returns: False when it was so before.
  /// - Throws: ``SupportRulesError``.
  @discardableResult
  public func setStepUp(
    minutes: Int, by author: Author
  ) async throws(SupportRulesError) -> Bool {
    guard Self.stepUpRange.contains(minutes) else { throw .answers([.outOfRange(.stepUp)]) }
    let now = store.clock.now()
    return try await store.write(SupportRulesError.self) { connection in
      guard let entry = try Self.difference(minutes, connection) else { return false }
      try Self.storeStepUp(minutes, connection)
      try entry.record(by: author, at: now, connection)
      return true
    }
  }

  private static func difference(
    _ minutes: Int, _ connection: borrowing Connection
  ) throws -> AuditEntry? {
    let old = try stepUpMinutes(connection)
    guard old != minutes else { return nil }
    var entry = AuditEntry("support.step-up", "instance", "step-up", name: "own codes at the desk")
    entry.from = "asked for after \(old) min"
    entry.to = "asked for after \(minutes) min"
    return entry
  }

  private static func storeStepUp(
    _ minutes: Int, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO instance (name, value) VALUES ('step_up_minutes', \(String(minutes)))
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """)
  }

  /// Does what loosens a guard rail: who may, with their own code when one is due.
  ///
  /// `entry` gives the row for the log, or nil when there is nothing to change.
  private func loosen(
    _ action: ConsoleAction, _ request: ActionRequest, in scope: Scope?,
    _ faults: [ActionInputError], at now: Instant,
    _ entry: @escaping @Sendable (borrowing Connection) throws -> AuditEntry?,
    doing change: @escaping @Sendable (borrowing Connection) throws -> Void
  ) async throws(SupportRulesError) -> ActionOutcome<Bool> {
    let outcome: Result<ActionOutcome<Bool>, SupportRulesError> = try await store.write(
      SupportRulesError.self
    ) { connection in
      // The grants of this moment: the session was read before the write had its turn.
      let agent = try Administrators.present(request.agent.administrator.id, connection)
      guard let agent, agent.may(action.requirements.permission, in: scope) else {
        return .failure(.notAllowed)
      }
      let entry = try entry(connection)
      if entry == nil, faults.isEmpty {
        return .success(ActionOutcome(value: false, renewed: nil))
      }
      switch try store.authorization.authorize(
        action, request, in: ActionTarget(scope), besides: faults, at: now, connection)
      {
      case .failure(let error): return .failure(SupportRulesError(error))
      case .success(let renewed):
        try change(connection)
        try entry?.record(by: request.author, at: now, connection)
        return .success(ActionOutcome(value: true, renewed: renewed))
      }
    }
    return try outcome.get()
  }
}

extension SupportRulesError {
  /// What the gate says of an agent's own code.
  fileprivate init(_ error: ActionDenial) {
    self =
      switch error {
      case .answers(let faults): .answers(faults)
      case .noSecondFactor: .noSecondFactor
      default: .notAllowed
      }
  }
}
