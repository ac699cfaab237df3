import Database

/// The hourly limit of an agent's actions on the users of a pool.
enum HourlyLimit {
  static func count(
    _ agent: ID<Administrator>, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO support_action (action_id, administrator_id, scope_key, at)
      VALUES (\(SQL.nextNumber("action_id", of: "support_action")), \(agent), \(pool.key), \(now))
      """)
  }

  /// Returns how many actions an agent has left in this hour; 0 if the agent is blocked.
  static func left(
    for agent: ID<Administrator>, _ rules: SupportRules, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    try blockedSince(agent, in: pool, connection) == nil
      ? allowance(of: agent, rules, in: pool, at: now, connection) : 0
  }

  /// Returns how many actions an agent who isn't blocked has left in this hour.
  static func allowance(
    of agent: ID<Administrator>, _ rules: SupportRules, in pool: Pool, at now: Instant,
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
    return max(0, rules.actionsPerHour - done)
  }

  /// Blocks an agent without actions left until an owner unblocks them, and records the block the
  /// first time.
  static func block(
    _ request: ActionRequest, _ rules: SupportRules, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let administrator = request.agent.administrator
    let isNew =
      try connection.run(
        """
        INSERT INTO support_hold (administrator_id, scope_key, held_at)
        VALUES (\(administrator.id), \(pool.key), \(now))
        ON CONFLICT DO NOTHING
        """) == 1
    guard isNew else { return }
    var entry = AuditEntry(.supportHold, of: administrator, in: pool)
    entry.add(.actionsPerHour, .number(rules.actionsPerHour))
    var author = request.author
    author.actor = .server
    try entry.record(by: author, at: now, connection)
  }

  static func blockedSince(
    _ agent: ID<Administrator>, in pool: Pool, _ connection: borrowing Connection
  ) throws -> Instant? {
    try connection.first(
      """
      SELECT held_at FROM support_hold
      WHERE administrator_id = \(agent) AND scope_key = \(pool.key)
      """
    ) { try $0.next() }
  }
}

extension Store {
  /// Returns how an agent who has the permission can perform actions in a pool.
  func eligibility(
    _ agent: ConsoleSession, _ rules: SupportRules, in pool: Pool,
    _ refusal: ActionDenial? = nil, at now: Instant, _ connection: borrowing Connection
  ) throws -> SupportEligibility {
    let id = agent.administrator.id
    let isHeld = try HourlyLimit.blockedSince(id, in: pool, connection) != nil
    return SupportEligibility(
      settings: rules,
      asksForCode: try authorization.needsReauthentication(
        .secondFactor, agent, try SessionProofs.find(agent, at: now, connection), at: now,
        connection),
      actionsLeft: try isHeld
        ? 0 : HourlyLimit.allowance(of: id, rules, in: pool, at: now, connection),
      isHeld: isHeld, refusal: refusal)
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
