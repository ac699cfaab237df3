import Database

extension Support {
  /// Unblocks an agent who hit the hourly action limit; requires re-authentication if the last code
  /// is too old.
  ///
  /// Administrators can't unblock themselves. An unblocked agent starts a new hour.
  ///
  /// Only the request's code is used.
  ///
  /// - Returns: False if the agent wasn't blocked, in which case the code isn't checked either.
  public func unblock(
    _ agent: ID<Administrator>, in pool: Pool, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    let now = store.clock.now()
    let own = request.agent.administrator.id
    let outcome: Result<ActionOutcome<Bool>, ActionDenial> = try await store.write {
      connection in
      // Rereads the grants, because the session was read before the write began.
      let requirements = ConsoleAction.unblockAgent.requirements
      guard own != agent, let owner = try Administrators.present(own, at: now, connection),
        owner.may(requirements.permission, in: pool)
      else { return .failure(.notAllowed) }
      guard let since = try SupportAuthorization.hold(of: agent, in: pool, connection) else {
        return .success(ActionOutcome(value: false, renewed: nil))
      }
      switch try store.authorization.authorize(
        .unblockAgent, request, in: ActionTarget(pool), at: now, connection)
      {
      case .failure(let error): return .failure(error)
      case .success(let renewed):
        try Self.unblock(agent, since, in: pool, by: request.author, at: now, connection)
        return .success(ActionOutcome(value: true, renewed: renewed))
      }
    }
    return try outcome.get()
  }

  /// Unblocks an agent without a console session, such as from the command line.
  ///
  /// - Returns: False if the agent wasn't blocked.
  @discardableResult
  public func unblock(
    _ agent: ID<Administrator>, in pool: Pool, by author: Author
  ) async throws -> Bool {
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      if case .administrator(let own, _) = author.actor, own == agent {
        throw ActionDenial.notAllowed
      }
      guard let since = try SupportAuthorization.hold(of: agent, in: pool, connection) else {
        return false
      }
      try Self.unblock(agent, since, in: pool, by: author, at: now, connection)
      return true
    }
  }

  private static func unblock(
    _ agent: ID<Administrator>, _ since: Instant, in pool: Pool, by author: Author,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let record = try Administrators.record(agent, at: now, connection)
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
    try entry.record(by: author, at: now, connection)
  }

  public func held(
    _ agent: ID<Administrator>, in pool: Pool
  ) async throws -> HeldAgent? {
    let now = store.clock.now()
    return try await store.read { connection in
      guard let since = try SupportAuthorization.hold(of: agent, in: pool, connection) else {
        return nil
      }
      let record = try Administrators.record(agent, at: now, connection)
      return HeldAgent(
        agent: agent, name: record.administrator.displayName, pool: pool, since: since)
    }
  }
}
