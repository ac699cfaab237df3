import Database

extension Support {
  // MARK: - Support rules

  public func settings(_ pool: Pool) async throws -> SupportRules {
    try await store.read { try SupportRules.find(pool, $0) }
  }

  /// Changes the support rules of a pool; requires re-authentication if the agent's last code is
  /// too old.
  ///
  /// `version` is that of the rules when editing began. Only the request's code is used.
  ///
  /// - Returns: False if the rules don't change, in which case the code isn't checked either.
  public func change(
    _ pool: Pool, to new: SupportRules, expecting version: SettingsVersion,
    _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    let (new, faults) = new.checked()
    let now = store.clock.now()
    return try await loosen(.changeSupportRules, request, in: pool, faults, at: now) {
      connection in
      let old = try Self.present(pool, connection)
      guard let entry = Self.difference(pool, from: old, to: new) else { return nil }
      // A stale form is refused below, and may loosen what its sender hasn't seen.
      if old.version == version {
        try Self.checkApproval(of: new, over: old, in: pool, request, at: now, connection)
      }
      return PlannedChange(entry: entry) { connection in
        guard old.version == version else { throw SupportRulesError.changedMeanwhile(old) }
        try new.store(pool, connection)
      }
    }
  }

  /// Changes the support rules without a console session, such as from the command line.
  ///
  /// - Returns: False if the rules don't change.
  @discardableResult
  public func change(
    _ pool: Pool, to new: SupportRules, by author: Author
  ) async throws -> Bool {
    let (new, faults) = new.checked()
    guard faults.isEmpty else { throw SupportRulesError.answers(faults) }
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      let old = try Self.present(pool, connection)
      guard let entry = Self.difference(pool, from: old, to: new) else { return false }
      try new.store(pool, connection)
      try entry.record(by: author, at: now, connection)
      return true
    }
  }

  /// Policy admins, whose changes need approval, can't loosen the rule that requires it, nor
  /// choose how callers are verified.
  private static func checkApproval(
    of new: SupportRules, over old: SupportRules, in pool: Pool, _ request: ActionRequest,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    var loosened: [SupportRulesError.Field] = []
    if new.callerVerification != old.callerVerification { loosened.append(.callerVerification) }
    if let least = old.policyApprovalOverUsers,
      new.policyApprovalOverUsers.map({ $0 > least }) ?? true
    {
      loosened.append(.policyApproval)
    }
    guard !loosened.isEmpty,
      let agent = try Administrators.present(request.agent.administrator.id, at: now, connection),
      !agent.may(.protectUsers, in: pool)
    else { return }
    throw SupportRulesError.answers(loosened.map { .ownerRequired($0) })
  }

  /// Reads the rules of a pool, which still exists.
  private static func present(
    _ pool: Pool, _ connection: borrowing Connection
  ) throws -> SupportRules {
    do { _ = try Policies.stored(pool.key, connection) } catch PolicyError
      .poolNotFound
    {
      throw SupportRulesError.poolNotFound
    }
    return try SupportRules.find(pool, connection)
  }

  private static func difference(
    _ pool: Pool, from old: SupportRules, to new: SupportRules
  ) -> AuditEntry? {
    var entry = AuditEntry(
      .supportChange, .pool, pool.objectID, name: pool.name, in: pool)
    entry.compare(old.auditFields, new.auditFields)
    return entry.changes.isEmpty ? nil : entry
  }

  // MARK: - Re-authentication interval

  private static let stepUp = InstanceValue("step_up_minutes")

  /// Reads the re-authentication interval, in minutes.
  static func stepUpMinutes(_ connection: borrowing Connection) throws -> Int {
    try stepUp.readNumber(connection).map { Int($0) } ?? usualStepUp
  }

  public func stepUpMinutes() async throws -> Int {
    try await store.read { try Self.stepUpMinutes($0) }
  }

  /// Returns whether the administrator's last code is older than the re-authentication interval.
  public func asksForCode(_ session: ConsoleSession) async throws -> Bool {
    let now = store.clock.now()
    return try await store.read { connection in
      try store.authorization.needsReauthentication(
        .secondFactor, session, at: now, connection)
    }
  }

  /// Changes the re-authentication interval; requires re-authentication if the last code is older
  /// than the current interval.
  ///
  /// - Returns: False if the interval doesn't change, in which case the code isn't checked either.
  public func setStepUp(
    minutes: Int, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    let faults: [ActionInputError] =
      Self.stepUpRange.contains(minutes) ? [] : [.outOfRange(.stepUp)]
    let now = store.clock.now()
    return try await loosen(.changeReauthenticationInterval, request, in: nil, faults, at: now) {
      connection in
      try Self.difference(minutes, connection).map { entry in
        PlannedChange(entry: entry) { try Self.storeStepUp(minutes, $0) }
      }
    }
  }

  /// Changes the re-authentication interval without a console session.
  ///
  /// - Returns: False if the interval doesn't change.
  @discardableResult
  public func setStepUp(
    minutes: Int, by author: Author
  ) async throws -> Bool {
    guard Self.stepUpRange.contains(minutes) else {
      throw SupportRulesError.answers([.outOfRange(.stepUp)])
    }
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
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
    var entry = AuditEntry(.supportStepUp, .instance, "step-up", name: "")
    entry.add(
      .reauthenticationInterval, from: .duration(old * 60), to: .duration(minutes * 60))
    return entry
  }

  private static func storeStepUp(
    _ minutes: Int, _ connection: borrowing Connection
  ) throws {
    try stepUp.store(String(minutes), connection)
  }

  /// A change that isn't made yet.
  private struct PlannedChange {
    let entry: AuditEntry
    let make: (borrowing Connection) throws -> Void
  }

  /// Performs a change that loosens a restriction, after checking the permission and, if required,
  /// the administrator's code.
  ///
  /// `plan` returns the change, or nil if there is nothing to change.
  private func loosen(
    _ action: ConsoleAction, _ request: ActionRequest, in pool: Pool?,
    _ faults: [ActionInputError], at now: Instant,
    _ plan: @escaping @Sendable (borrowing Connection) throws -> PlannedChange?
  ) async throws -> ActionOutcome<Bool> {
    let outcome: Result<ActionOutcome<Bool>, SupportRulesError> = try await store.write {
      connection in
      // Rereads the grants, because the session was read before the write began.
      let agent = try Administrators.present(request.agent.administrator.id, at: now, connection)
      guard let agent, agent.may(action.requirements.permission, in: pool) else {
        return .failure(.notAllowed)
      }
      let change = faults.isEmpty ? try plan(connection) : nil
      if change == nil, faults.isEmpty {
        return .success(ActionOutcome(value: false, renewed: nil))
      }
      switch try store.authorization.authorize(
        action, request, in: ActionTarget(pool), inputErrors: faults, at: now, connection)
      {
      case .failure(let error): return .failure(SupportRulesError(error))
      case .success(let renewed):
        try change?.make(connection)
        try change?.entry.record(by: request.author, at: now, connection)
        return .success(ActionOutcome(value: true, renewed: renewed))
      }
    }
    return try outcome.get()
  }
}

extension SupportRulesError {
  fileprivate init(_ error: ActionDenial) {
    self =
      switch error {
      case .answers(let faults): .answers(faults)
      case .noSecondFactor: .noSecondFactor
      case .sessionEnded: .sessionEnded
      default: .notAllowed
      }
  }
}
