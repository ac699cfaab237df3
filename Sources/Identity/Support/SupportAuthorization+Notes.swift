import Database

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
      if let denial = try denial(
        of: action, by: request.agent.administrator.id, on: account, in: scope, at: now, connection)
      {
        throw denial
      }
      var settings = try SupportRules.find(scope, connection)
      settings.identityProof = []
      let authorized = try store.authorization.authorize(
        action, request, in: ActionTarget(scope), settings, at: now, connection)
      if case .failure(let refusal) = authorized { return .failure(refusal) }
      let change = try body(account, now, connection)
      try record(change.entry, request, settings, at: now, connection)
      return .success(change.value)
    }
    return try result.get()
  }

  /// Returns whether and how an agent can write about an account.
  func eligibilityForText(
    _ action: ConsoleAction, _ agent: ConsoleSession, about account: Account, in scope: Scope,
    _ connection: borrowing Connection
  ) throws -> SupportEligibility {
    var settings = try SupportRules.find(scope, connection)
    settings.identityProof = []
    return SupportEligibility(
      settings: settings, asksForCode: false, actionsLeft: settings.actionsPerHour, isHeld: false,
      refusal: try denial(
        of: action, by: agent.administrator.id, on: account, in: scope, at: store.clock.now(),
        connection))
  }
}
