public import Metrics

/// What a process measures of its connections to a database's server.
public struct ServerStatistics: Sendable, Equatable {
  /// Connections that reads use now.
  public var reading: Int
  /// Connections that writes use now.
  public var writing: Int
  /// Reads that wait for a connection.
  public var waitingReads: Int
  /// Runs of writes after the first, because they conflicted with others.
  public var retries: Int
  /// The seconds from sending statements to the last of their results.
  public var roundTrips: Distribution

  /// Creates measurements.
  public init(
    reading: Int, writing: Int, waitingReads: Int, retries: Int, roundTrips: Distribution
  ) {
    self.reading = reading
    self.writing = writing
    self.waitingReads = waitingReads
    self.retries = retries
    self.roundTrips = roundTrips
  }
}

/// What took long on a database's server.
public enum SlowUse: Sendable, Equatable {
  /// Statements that were sent together, with parameters instead of values, on one line.
  case statement(String, Duration)
  /// A read or a write that waited for a connection.
  case wait(Kind, Duration)

  /// What a connection is for.
  public enum Kind: String, Sendable, CaseIterable {
    /// A read.
    case read
    /// A write.
    case write
  }
}
