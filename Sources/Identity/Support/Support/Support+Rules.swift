import Database

extension Support {
  // MARK: - Support rules

  public func settings(_ pool: Pool) async throws -> SupportRules {
    try await store.read { try SupportRules.find(pool, $0) }
  }

  /// Changes the support rules of a pool; requires re-authentication if the agent's last code is
  /// too old.
  ///
  /// `version` is that of the rules when an administrator began to edit. Only the request's code is
  /// used.
  ///
  /// - Returns: False if the rules don't change, in which case the code isn't checked either.
  @discardableResult
  public func change(
    _ pool: Pool, to new: SupportRules, expecting version: SettingsVersion? = nil,
    by caller: Caller
  ) async throws -> ActionOutcome<Bool> {
    let (new, faults) = new.checked()
    return try await loosen(.changeSupportRules, by: caller, in: pool, faults) {
      context, connection in
      // The pool may be deleted meanwhile.
      _ = try Policies.stored(pool.key, connection)
      let old = try SupportRules.find(pool, connection)
      guard let entry = Self.difference(pool, from: old, to: new) else {
        throw ActionDenial.nothingToDo
      }
      let isStale = context.request != nil && old.version != version
      // A stale form is refused below, and may loosen what its sender hasn't seen.
      if !isStale { try Self.checkApproval(of: new, over: old, in: pool, context.holder) }
      return Loosening(entry: entry) { connection in
        guard !isStale else { throw SupportRulesError.changedMeanwhile(old) }
        try new.store(pool, connection)
      }
    }
  }

  /// Policy admins, whose changes need approval, can't loosen the rule that requires it, nor
  /// choose how callers are verified.
  private static func checkApproval(
    of new: SupportRules, over old: SupportRules, in pool: Pool, _ agent: Administrator?
  ) throws(ActionDenial) {
    var loosened: [SupportRulesError.Field] = []
    if new.callerVerification != old.callerVerification { loosened.append(.callerVerification) }
    if let least = old.policyApprovalOverUsers,
      new.policyApprovalOverUsers.map({ $0 > least }) ?? true
    {
      loosened.append(.policyApproval)
    }
    guard !loosened.isEmpty, let agent, !agent.may(.protectUsers, in: pool) else { return }
    throw .answers(loosened.map { .ownerRequired($0) })
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

  public func stepUpMinutes() async throws -> Int {
    try await store.read { try ReauthenticationInterval.minutes($0) }
  }

  /// Returns whether the administrator's last code is older than the re-authentication interval.
  public func asksForCode(_ session: ConsoleSession) async throws -> Bool {
    try await store.read { now, connection in
      try store.authorization.needsReauthentication(
        .secondFactor, session, try SessionProofs.find(session, at: now, connection), at: now,
        connection)
    }
  }

  /// Changes the re-authentication interval; requires re-authentication if the last code is older
  /// than the current interval.
  ///
  /// - Returns: False if the interval doesn't change, in which case the code isn't checked either.
  @discardableResult
  public func setStepUp(
    minutes: Int, by caller: Caller
  ) async throws -> ActionOutcome<Bool> {
    let faults: [ActionInputError] =
      ReauthenticationInterval.range.contains(minutes) ? [] : [.outOfRange(.stepUp)]
    return try await loosen(.changeReauthenticationInterval, by: caller, in: nil, faults) {
      _, connection in
      let old = try ReauthenticationInterval.minutes(connection)
      guard old != minutes else { throw ActionDenial.nothingToDo }
      var entry = AuditEntry(.supportStepUp, .instance, "step-up", name: "")
      entry.add(
        .reauthenticationInterval, from: .duration(old * 60), to: .duration(minutes * 60))
      return Loosening(entry: entry) {
        try ReauthenticationInterval.stored.store(String(minutes), $0)
      }
    }
  }

  /// A change that isn't made yet.
  private struct Loosening: Sendable {
    let entry: AuditEntry
    let make: @Sendable (borrowing Connection) throws -> Void
  }

  /// Performs a change that may loosen a restriction; invalid input isn't compared with what's stored.
  private func loosen(
    _ action: ConsoleAction, by caller: Caller, in pool: Pool?, _ faults: [ActionInputError],
    _ read: @escaping @Sendable (ActionContext, borrowing Connection) throws -> Loosening
  ) async throws -> ActionOutcome<Bool> {
    guard faults.isEmpty || caller.request != nil else { throw ActionDenial.answers(faults) }
    let change = ActionSubject<Loosening?>(
      target: ActionTarget(pool), isReadWithPermission: true
    ) { context, connection in
      ActionSubject.Found(
        content: faults.isEmpty ? try read(context, connection) : nil, inputErrors: faults)
    }
    return try await ActionOutcome.falseIfNothingToDo {
      try await store.run(action, by: caller, on: change) { change, context, connection in
        guard let change else { return false }
        try change.make(connection)
        try context.record(change.entry, connection)
        return true
      }
    }
  }
}

extension ActionOutcome<Bool> {
  static func falseIfNothingToDo(_ body: () async throws -> Self) async throws -> Self {
    do { return try await body() } catch ActionDenial.nothingToDo {
      return Self(value: false, renewed: nil)
    }
  }
}
