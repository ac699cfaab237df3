/// The settings of a database's server that decide how much it can do and what a failure loses.
public struct ServerSettings: Sendable, Equatable {
  /// How many connections it allows.
  public var connections: Int
  /// How many prepared transactions it allows, which decides how many writes it remembers.
  public var preparedTransactions: Int
  /// The settings that are off, although a power failure can destroy the database then.
  public var turnedOff: [String]
  /// Whether it has a standby, and doesn't wait until one has received what is stored.
  public var losesOnFailover: Bool

  /// Creates settings.
  public init(
    connections: Int, preparedTransactions: Int, turnedOff: [String], losesOnFailover: Bool
  ) {
    self.connections = connections
    self.preparedTransactions = preparedTransactions
    self.turnedOff = turnedOff
    self.losesOnFailover = losesOnFailover
  }
}
