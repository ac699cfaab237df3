import Database

/// An agent who hit the hourly action limit and has to be unblocked by an owner.
public struct HeldAgent: Sendable {
  public let agent: ID<Administrator>
  public let name: String
  public let pool: Pool
  public let since: Instant
}

/// Whether and how an agent can perform an action.
public struct SupportEligibility: Sendable {
  public let settings: SupportRules
  /// Whether re-authentication is required.
  public let asksForCode: Bool
  /// The number of actions left in this hour.
  public internal(set) var actionsLeft: Int
  /// Whether an owner has to unblock the agent first.
  public var isHeld: Bool
  /// How the agent can verify the caller; nil where the pool or the action doesn't offer it.
  public internal(set) var caller: CallerStatus?
  /// Why the agent can't act on the account regardless of the input; nil if they can.
  public let refusal: ActionDenial?

  /// The eligibility for an action that the hourly limit doesn't count.
  var unlimited: SupportEligibility {
    var eligibility = self
    eligibility.actionsLeft = settings.actionsPerHour
    eligibility.isHeld = false
    return eligibility
  }
}

/// Manages a pool's support rules and performs support actions on users.
public struct Support: Sendable {
  let store: Store

  static let hour: Int64 = 3_600

  /// Returns whether and how an agent can perform an action on an account, for its page; the action
  /// checks it again.
  ///
  /// `rules` are the support rules of the pool, if the page has read them.
  public func eligibility(
    _ agent: ConsoleSession, on account: Account, in pool: Pool,
    performing action: ConsoleAction = .removeFactor, _ rules: SupportRules? = nil
  ) async throws -> SupportEligibility {
    try await store.read { now, connection in
      let settings = try rules ?? SupportRules.find(pool, connection)
      var refusal = agent.administrator.denial(of: action, on: account, in: pool)
      let caller = try CallerStatus.find(
        action, agent.administrator.id, about: account, settings, at: now, connection)
      if refusal == nil, let caller, caller.isRequired, caller.email == nil,
        !action.canWaitForApproval
      {
        refusal = .callerUnverifiable
      }
      var eligibility = try store.eligibility(
        agent, settings, in: pool, refusal, at: now, connection)
      eligibility.caller = caller
      return eligibility
    }
  }

  /// Returns the blocked agents, longest blocked first, at most fifty; or where one is blocked.
  public func held(
    _ agent: ID<Administrator>? = nil
  ) async throws -> [HeldAgent] {
    let condition: SQL = agent.map { "WHERE h.administrator_id = \($0)" } ?? ""
    return try await store.read { connection in
      let rows = try connection.all(
        """
        SELECT h.administrator_id, a.display_name, h.scope_key, h.held_at
        FROM support_hold h \(SQL.orderedJoin) administrator a USING (administrator_id)
        \(condition)
        ORDER BY h.held_at, h.administrator_id, h.scope_key LIMIT \(agent == nil ? 50 : Int.max)
        """
      ) { row in
        (
          id: try row.next() as ID<Administrator>, name: try row.next() as String,
          key: try row.next() as Int64, at: try row.next() as Instant
        )
      }
      var held: [HeldAgent] = []
      for row in rows {
        do {
          let pool = try Policies.stored(row.key, connection).pool
          held.append(HeldAgent(agent: row.id, name: row.name, pool: pool, since: row.at))
        } catch PolicyError.poolNotFound { continue }
      }
      return held.sorted { $0.since < $1.since }
    }
  }

  /// Deletes actions that no longer count toward the hourly limit.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let oldest = now.advanced(bySeconds: -hour)
    return try connection.deletePart(
      "FROM support_action WHERE at < \(oldest)", of: "support_action",
      by: "scope_key, action_id")
  }
}

extension Support {
  /// Unblocks an agent who hit the hourly action limit; requires re-authentication if the last code
  /// is too old.
  ///
  /// Administrators can't unblock themselves. An unblocked agent starts a new hour.
  ///
  /// Only the request's code is used.
  ///
  /// - Returns: False if the agent wasn't blocked, in which case the code isn't checked either.
  @discardableResult
  public func unblock(
    _ agent: ID<Administrator>, in pool: Pool, by caller: Caller
  ) async throws -> ActionOutcome<Bool> {
    let hold = ActionSubject<Instant>(
      target: ActionTarget(pool), isReadWithPermission: true
    ) { context, connection in
      if case .administrator(let own, _) = context.author.actor, own == agent {
        throw ActionDenial.notAllowed
      }
      guard context.holder?.id != agent else { throw ActionDenial.notAllowed }
      guard let since = try HourlyLimit.blockedSince(agent, in: pool, connection) else {
        throw ActionDenial.nothingToDo
      }
      return ActionSubject.Found(content: since)
    }
    return try await ActionOutcome.falseIfNothingToDo {
      try await store.run(.unblockAgent, by: caller, on: hold) { since, context, connection in
        let record = try Administrators.record(agent, at: context.now, connection)
        try connection.run(
          """
          DELETE FROM support_hold
          WHERE administrator_id = \(agent) AND scope_key = \(pool.key)
          """)
        try connection.run(
          """
          DELETE FROM support_action
          WHERE administrator_id = \(agent) AND scope_key = \(pool.key)
          """)
        var entry = AuditEntry(
          .supportRelease, .administrator, agent.text, name: record.administrator.displayName,
          in: pool)
        entry.add(.blockedSince, lost: .instant(since))
        try context.record(entry, connection)
        return true
      }
    }
  }

  public func held(
    _ agent: ID<Administrator>, in pool: Pool
  ) async throws -> HeldAgent? {
    try await store.read { now, connection in
      guard let since = try HourlyLimit.blockedSince(agent, in: pool, connection) else {
        return nil
      }
      let record = try Administrators.record(agent, at: now, connection)
      return HeldAgent(
        agent: agent, name: record.administrator.displayName, pool: pool, since: since)
    }
  }
}
