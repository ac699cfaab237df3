extension Identity {
  public var pools: Pools { Pools(store: store) }
  public var exemptions: Exemptions { Exemptions(store: store) }
  public var alerts: Alerts { Alerts(store: store) }
  public var messages: OutboxEntries { OutboxEntries(store: store) }
}
