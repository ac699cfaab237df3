import Database

extension Policies {
  /// The maximum number of scheduled changes in a list.
  public static let mostScheduled = 50

  /// Returns the newest scheduled changes of a user pool, pending and ended, and whether those that
  /// are pending would be made.
  ///
  /// - Throws: ``PolicyError/scopeNotFound``, ``PolicyError/unavailable(_:)``.
  public func scheduled(
    _ scope: Scope
  ) async throws(PolicyError) -> [ScheduledPolicyChange] {
    let now = store.clock.now()
    return try await store.read(PolicyError.self) { connection in
      var changes = try ScheduledPolicyChange.all(
        in: scope, limit: Self.mostScheduled, connection)
      let pending = changes.indices.filter { changes[$0].state == .waiting }
      guard !pending.isEmpty else { return changes }
      let policy = try Self.find(scope.key, connection)
      for index in pending {
        changes[index].foreseenFailure = try failure(
          of: changes[index], policy, at: now, connection)
      }
      return changes
    }
  }

  /// Returns why a change can't be made; nil if it can.
  func failure(
    of change: ScheduledPolicyChange, _ policy: Policy, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ScheduledPolicyChange.Failure? {
    let author = try Administrators.present(ID(change.author.actor.id), at: now, connection)
    guard let author else { return .authorRemoved }
    guard author.may(.changePolicy, in: policy.scope) else { return .permissionLost }
    guard policy.version == change.version else { return .policyChanged }
    guard try !store.outbox.isMissing(for: change.edit, over: policy.edit, connection) else {
      return .refusalNeedsEmail
    }
    guard change.approverName == nil,
      try Approval.isNeeded(for: change.edit, over: policy, connection)
    else { return nil }
    return .approvalRequired
  }

  /// Returns the pending scheduled changes of all pools, first to take effect first, without those
  /// of earlier versions and of administrators who no longer have permission.
  ///
  /// - Parameters:
  ///   - administrator: The administrator who asks; only changes of policies they can read are
  ///     included.
  ///   - limit: The maximum number of changes.
  /// - Returns: The pools, and when their changes take effect.
  /// - Throws: ``PolicyError/unavailable(_:)``.
  public func upcoming(
    visibleTo administrator: Administrator, limit: Int
  ) async throws(PolicyError) -> [(scope: Scope, applyAt: Instant)] {
    guard !administrator.grants.isEmpty else { return [] }
    let restriction = administrator.restriction
    let now = store.clock.now()
    return try await store.read(PolicyError.self) { connection in
      let pending = try connection.all(
        """
        SELECT c.apply_at, \(Scope.columns), c.author_id
        FROM scheduled_change c \(index: "scheduled_change_due")
          \(SQL.orderedJoin) scope s ON s.scope_key = c.scope_key
          \(SQL.orderedJoin) project p ON p.project_id = s.project_id
        WHERE c.state = 'waiting' AND c.apply_at > 0 AND s.deleted_at IS NULL
          AND c.policy_version = s.policy_version \(restriction)
        ORDER BY c.apply_at LIMIT \(Self.mostPending)
        """
      ) { row in
        (
          scope: try Scope(row, from: 1),
          applyAt: Instant(microseconds: try row.value(0)), author: try row.value(8) as String
        )
      }
      var authors: [String: Administrator?] = [:]
      var upcoming: [(scope: Scope, applyAt: Instant)] = []
      for (scope, applyAt, author) in pending where administrator.may(.readPolicy, in: scope) {
        guard upcoming.count < limit else { break }
        let known = try authors[author] ?? Administrators.present(ID(author), at: now, connection)
        authors[author] = known
        if known?.may(.changePolicy, in: scope) == true { upcoming.append((scope, applyAt)) }
      }
      return upcoming
    }
  }

  /// The maximum number of pending changes read at a time.
  private static let mostPending = 1_000

  /// Cancels a pending scheduled change.
  ///
  /// - Throws: ``ActionError``, with ``PolicyError/changeNotFound`` or ``PolicyError/changeNotPending``.
  @discardableResult
  public func cancelScheduled(
    _ id: Int64, in scope: Scope, _ request: ActionRequest
  ) async throws(ActionError<PolicyError>) -> ActionOutcome<Void> {
    try await store.perform(
      .cancelScheduledChange, request, in: ActionTarget(scope), PolicyError.self
    ) { context, connection in
      guard let change = try ScheduledPolicyChange.find(id, in: scope, connection) else {
        throw PolicyError.changeNotFound
      }
      guard change.state == .waiting else { throw PolicyError.changeNotPending }
      try change.cancel(in: scope, context, connection)
    }
  }
}

extension Identity {
  /// Makes the scheduled changes that are due, including those that were due while no server ran.
  ///
  /// Each is one transaction, which checks again that its author may make it, that it's based on the
  /// current version, and that refused users can be sent enrollment links; otherwise it fails, and its author and the owners are notified. Nothing
  /// is made while the clock isn't trusted.
  ///
  /// - Throws: ``PolicyError/unavailable(_:)``; the next call tries again.
  public func makeScheduledChanges() async throws(PolicyError) {
    while clockGuard.doubt == nil {
      let now = clock.now()
      let isMore = try await store.read(PolicyError.self) { connection in
        try Self.due(at: now, connection) != nil
      }
      guard isMore else { return }
      try await store.write(PolicyError.self) { [self] connection in
        guard let change = try Self.due(at: now, connection) else { return }
        try make(change, at: now, connection)
      }
    }
  }

  private static func due(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> ScheduledPolicyChange? {
    try connection.first(
      """
      SELECT \(ScheduledPolicyChange.columns) FROM scheduled_change c
      WHERE c.state = 'waiting' AND c.apply_at <= \(now.microseconds)
      ORDER BY c.apply_at LIMIT 1
      """
    ) { try ScheduledPolicyChange($0) }
  }

  private func make(
    _ change: ScheduledPolicyChange, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let policy: Policy
    do {
      policy = try Policies.find(change.scopeKey, connection)
    } catch PolicyError.scopeNotFound {
      // Nothing is left to change, and no one to notify.
      return try change.end(.canceled, at: now, connection)
    }
    if let failure = try policies.failure(of: change, policy, at: now, connection) {
      try change.fail(failure, in: policy.scope, at: now, connection)
      let mail = ScheduledChangeFailedMail(
        scope: policy.scope, changes: PolicyChange.between(policy.edit, change.edit),
        by: change.authorName, applyAt: change.applyAt, failure: failure, at: now)
      return try store.outbox.notify(mail, author: change.author, connection)
    }
    var context = store.context(change.author, at: now, because: change.reason)
    context.approver = change.approverName
    context.scheduledFor = change.applyAt
    _ = try Policies.store(change.edit, over: policy, context, connection)
    try change.end(.applied, at: now, connection)
  }
}
