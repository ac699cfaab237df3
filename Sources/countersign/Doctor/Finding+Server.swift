import Database

extension Finding {
  /// The connections of a server ("node"), with room for its replacement.
  private static let connectionsOfNode = 20
  private static let otherConnections = 20
  private static let preparedTransactions = 1_000

  /// Returns a finding for each setting that isn't as docs/scaling.md says, or that all are.
  ///
  /// `nodes` is the number of servers that use the database; 0 counts as one.
  static func findings(_ settings: ServerSettings, nodes: Int) -> [Finding] {
    var found: [Finding] = []
    let wanted = Self.connectionsOfNode * max(nodes, 1) + otherConnections
    if settings.connections < wanted {
      found.append(.serverConnectionsFew(allowed: settings.connections, wanted: wanted))
    }
    if settings.preparedTransactions < preparedTransactions {
      found.append(.serverMemoryShort(preparedTransactions: settings.preparedTransactions))
    }
    if !settings.turnedOff.isEmpty { found.append(.serverUnsafe(settings.turnedOff)) }
    if settings.losesOnFailover { found.append(.standbyAsynchronous) }
    return found.isEmpty ? [.serverSettingsFine] : found
  }
}
