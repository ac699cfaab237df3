import Database

extension Support {
  /// Takes an hour's hold back, so that the agent may act again, with a code of one's own when the
  /// last one is too old.
  ///
  /// Nobody releases themselves; who is only held begins a new hour.
  ///
  /// - Parameters:
  ///   - agent: Who is held.
  ///   - scope: Where.
  ///   - request: Who releases them; of what an agent gives, only the code counts.
  /// - Returns: False when the agent was not held; then no code is looked at either.
  /// - Throws: ``ActionDenial``.
  public func release(
    _ agent: ID<Administrator>, in scope: Scope, _ request: ActionRequest
  ) async throws(ActionDenial) -> ActionOutcome<Bool> {
    let now = store.clock.now()
    let own = request.agent.administrator.id
    let outcome: Result<ActionOutcome<Bool>, ActionDenial> = try await store.write(
      ActionDenial.self
    ) {
      connection in
      // The grants of this moment: the session was read before the write had its turn.
      let requirements = ConsoleAction.unblockAgent.requirements
      guard own != agent, let owner = try Administrators.present(own, connection),
        owner.may(requirements.permission, in: scope)
      else { return .failure(.notAllowed) }
      guard let since = try SupportAuthorization.hold(of: agent, in: scope, connection) else {
        return .success(ActionOutcome(value: false, renewed: nil))
      }
      switch try store.authorization.authorize(
        .unblockAgent, request, in: ActionTarget(scope), at: now, connection)
      {
      case .failure(let error): return .failure(error)
      case .success(let renewed):
        try Self.release(agent, since, in: scope, by: request.author, at: now, connection)
        return .success(ActionOutcome(value: true, renewed: renewed))
      }
    }
    return try outcome.get()
  }

  /// The same for whoever has no session in the console, such as the command line.
  ///
  /// - Returns: False when the agent was not held.
  /// - Throws: ``ActionDenial``.
  @discardableResult
  public func release(
    _ agent: ID<Administrator>, in scope: Scope, by author: Author
  ) async throws(ActionDenial) -> Bool {
    let now = store.clock.now()
    return try await store.write(ActionDenial.self) { connection in
      if case .administrator(let own, _) = author.actor, own == agent {
        throw ActionDenial.notAllowed
      }
      guard let since = try SupportAuthorization.hold(of: agent, in: scope, connection) else {
        return false
      }
      try Self.release(agent, since, in: scope, by: author, at: now, connection)
      return true
    }
  }

  private static func release(
    _ agent: ID<Administrator>, _ since: Instant, in scope: Scope, by author: Author,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let record = try Administrators.record(agent, connection)
    try connection.run(
      """
      DELETE FROM support_hold
      WHERE administrator_id = \(agent.text) AND scope_key = \(scope.key)
      """)
    try connection.run(
      """
      DELETE FROM support_action
      WHERE administrator_id = \(agent.text) AND scope_key = \(scope.key)
      """)
    var entry = AuditEntry(
      "support.release", "administrator", agent.text, name: record.administrator.displayName,
      in: scope)
    entry.from = "held since \(since.formatted)"
    try entry.record(by: author, at: now, connection)
  }

  /// An agent who waits for an owner in a pool; nil for one who does not.
  ///
  /// - Throws: ``ActionDenial/unavailable(_:)``.
  public func held(
    _ agent: ID<Administrator>, in scope: Scope
  ) async throws(ActionDenial) -> HeldAgent? {
    try await store.read(ActionDenial.self) { connection in
      guard let since = try SupportAuthorization.hold(of: agent, in: scope, connection) else {
        return nil
      }
      let record = try Administrators.record(agent, connection)
      return HeldAgent(
        agent: agent, name: record.administrator.displayName, scope: scope, since: since)
    }
  }
}
