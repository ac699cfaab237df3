public import Database

/// A replica of a database, made by PostgreSQL's streaming replication with hot standby.
public struct ReplicaSettings: Sendable {
  /// Where the replica is.
  public var address: PostgreSQLAddress
  /// How old its data may be, in seconds; older data isn't read.
  public var mostSecondsBehind: Int
  /// Receives the status when it's first known, and each time it changes.
  public var report: @Sendable (ReplicaStatus) -> Void

  /// Creates the settings.
  public init(
    _ address: PostgreSQLAddress, mostSecondsBehind: Int,
    report: @escaping @Sendable (ReplicaStatus) -> Void
  ) {
    (self.address, self.mostSecondsBehind) = (address, mostSecondsBehind)
    self.report = report
  }
}
