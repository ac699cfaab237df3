import Database

/// What it is that an agent does about an account.
public enum SupportActionKind: Sendable {
  /// A change of it: with the pool's identity proof and a code of the agent's own, as one action of
  /// their hour.
  case change
  /// Words about it, with a reason and nothing besides.
  case words
}

extension SupportAuthorization {
  /// Words about an account in their own transaction, with the one row in the log that they get.
  ///
  /// They change nothing about the account. So neither a code nor a proof is asked for, none of the
  /// agent's actions is used up, and neither a hold of the agent, the account's protection nor a lock
  /// on its changes keeps anybody from them; the role and the agent's own address do.
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

  /// Why an agent may not write about an account; nil when they may.
  func refusalOfWords(
    of agent: ID<Administrator>, about account: Account, in scope: Scope,
    _ connection: borrowing Connection
  ) throws -> ActionDenial? {
    let refusal = try refusal(
      of: agent, on: account, in: scope, needing: .removeFactors, passingLock: true, connection)
    if case .protectedAccount? = refusal { return nil }
    return refusal
  }

  /// How it stands with an agent who is about to write about an account.
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
