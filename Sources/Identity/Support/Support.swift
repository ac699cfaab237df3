import Database

/// An agent who has to wait for an owner.
public struct HeldAgent: Sendable {
  /// Who.
  public let agent: ID<Administrator>
  /// The name.
  public let name: String
  /// Where.
  public let scope: Scope
  /// Since when.
  public let since: Instant
}

/// How it stands with an agent who is about to act.
public struct SupportEligibility: Sendable {
  /// What the pool asks for.
  public let settings: SupportRules
  /// Whether a code of their own is due.
  public let asksForCode: Bool
  /// How many actions are left in this hour.
  public let actionsLeft: Int
  /// True when an owner has to release them first.
  public var isHeld: Bool
  /// Why they may not act on the account, whatever they give; nil when they may.
  public let refusal: ActionDenial?

  /// The same for an action that the hourly limit doesn't count.
  var unlimited: SupportEligibility {
    var standing = self
    standing.isHeld = false
    return standing
  }
}

/// The rules of the desk: what a pool asks of those who act for its users.
public struct Support: Sendable {
  let store: Store
  let gate: SupportAuthorization

  static let hour: Int64 = 3_600
  /// How long an agent's own code counts, in minutes, unless the instance says otherwise.
  public static let usualStepUp = 15
  /// What the instance may say, in minutes.
  public static let stepUpRange = 1...240

  /// How it stands with an agent before they act on an account, for the page that asks.
  ///
  /// - Throws: ``ActionDenial``.
  public func standing(
    _ agent: ConsoleSession, on id: ID<Account>, in scope: Scope,
    needing permission: Permission = .removeFactors, passingLock: Bool = false,
    as measure: SupportActionKind = .change
  ) async throws(ActionDenial) -> SupportEligibility {
    let now = store.clock.now()
    return try await store.read(ActionDenial.self) { connection in
      guard let account = try AccountRecord.find(scope, id, connection) else {
        throw ActionDenial.accountNotFound
      }
      if case .words = measure {
        return try gate.standingOfWords(agent, about: account, in: scope, connection)
      }
      let refusal = try gate.refusal(
        of: agent.administrator.id, on: account, in: scope, needing: permission,
        passingLock: passingLock, connection)
      return try gate.standing(agent, in: scope, refusal, at: now, connection)
    }
  }

  /// The agents that wait for an owner, the longest waiting first, at most fifty.
  ///
  /// - Throws: ``ActionDenial/unavailable(_:)``.
  public func held() async throws(ActionDenial) -> [HeldAgent] {
    try await store.read(ActionDenial.self) { connection in
      let rows = try connection.all(
        """
        SELECT h.administrator_id, a.display_name, h.scope_key, h.held_at
        FROM support_hold h CROSS JOIN administrator a USING (administrator_id)
        ORDER BY h.administrator_id, h.scope_key LIMIT 50
        """
      ) { row in
        (
          id: try row.value(0) as String, name: try row.value(1) as String,
          key: try row.value(2) as Int64, at: Instant(microseconds: try row.value(3))
        )
      }
      var held: [HeldAgent] = []
      for row in rows {
        do {
          let scope = try Policies.find(row.key, connection).scope
          held.append(
            HeldAgent(agent: ID(row.id), name: row.name, scope: scope, since: row.at))
        } catch PolicyError.scopeNotFound { continue }
      }
      return held.sorted { $0.since < $1.since }
    }
  }

  /// Forgets actions that no hour counts any more.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws {
    let oldest = now.advanced(bySeconds: -hour)
    try connection.run("DELETE FROM support_action WHERE at < \(oldest.microseconds)")
  }
}
