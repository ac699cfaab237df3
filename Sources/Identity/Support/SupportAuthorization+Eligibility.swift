import Database

extension SupportAuthorization {
  func eligibility(
    _ agent: ConsoleSession, in scope: Scope, _ refusal: ActionDenial? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> SupportEligibility {
    let settings = try SupportRules.find(scope, connection)
    let administrator = agent.administrator.id
    return SupportEligibility(
      settings: settings,
      asksForCode: try store.authorization.needsReauthentication(
        .secondFactor, agent, at: now, connection),
      actionsLeft: try left(for: administrator, settings, in: scope, at: now, connection),
      isHeld: try Self.hold(of: administrator, in: scope, connection) != nil,
      refusal: refusal)
  }
}
