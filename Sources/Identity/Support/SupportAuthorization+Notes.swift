import Database

/// The kind of a support action.
public enum SupportActionKind: Sendable {
  /// A change to an account: requires the pool's identity checks and re-authentication, and counts
  /// toward the hourly limit.
  case change
  /// A note about an account, which requires only a reason.
  case words
}

extension SupportAuthorization {
  /// Performs an action that only adds or deletes text about an account, in its own transaction
  /// with a single audit log entry.
  ///
  /// Because it doesn't change the account, it requires neither a code nor identity checks and
  /// doesn't count toward the hourly limit. It's allowed even if the agent is blocked, the account
  /// is protected, or its changes are locked; it's denied without the permission or if the account
  /// has the agent's own email.
  func remark<Value: Sendable>(
    _ action: ConsoleAction, _ request: ActionRequest, on id: ID<Account>, in scope: Scope,
    _ body:
      @escaping @Sendable (Account, Instant, borrowing Connection) throws -> SupportAction<Value>
  ) async throws(ActionDenial) -> Value {
    let now = store.clock.now()
    let result: Result<Value, ActionDenial> = try await store.write(ActionDenial.self) {
      connection in
      guard let account = try AccountRecord.find(scope, id, connection) else {
        throw ActionDenial.accountNotFound
      }
      if let refusal = try refusalOfWords(
        of: request.agent.administrator.id, about: account, in: scope, connection)
      {
        throw refusal
      }
      var settings = try SupportRules.find(scope, connection)
      settings.identityProof = []
      let authorized = try store.authorization.authorize(
        action, request, in: ActionTarget(scope), settings, at: now, connection)
      if case .failure(let refusal) = authorized { return .failure(refusal) }
      let deed = try body(account, now, connection)
      try record(deed.entry, request, settings, at: now, connection)
      return .success(deed.value)
    }
    return try result.get()
  }

  /// Returns why an agent can't write about an account; nil if they can.
  func refusalOfWords(
    of agent: ID<Administrator>, about account: Account, in scope: Scope,
    _ connection: borrowing Connection
  ) throws -> ActionDenial? {
    let refusal = try refusal(
      of: agent, on: account, in: scope, needing: .removeFactors, passingLock: true, connection)
    if case .protectedAccount? = refusal { return nil }
    return refusal
  }

  /// Returns whether and how an agent can write about an account.
  func standingOfWords(
    _ agent: ConsoleSession, about account: Account, in scope: Scope,
    _ connection: borrowing Connection
  ) throws -> SupportEligibility {
    var settings = try SupportRules.find(scope, connection)
    settings.identityProof = []
    return SupportEligibility(
      settings: settings, asksForCode: false, actionsLeft: settings.actionsPerHour, isHeld: false,
      refusal: try refusalOfWords(
        of: agent.administrator.id, about: account, in: scope, connection))
  }
}
