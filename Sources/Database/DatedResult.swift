/// The result of reads that may be from a replica.
public struct DatedResult<Value> {
  /// The result.
  public let value: Value
  /// The time up to which the data has all changes, in microseconds since 1970; nil for data of the
  /// database itself.
  public let microseconds: Int64?

  /// Creates a result.
  public init(_ value: Value, microseconds: Int64?) {
    (self.value, self.microseconds) = (value, microseconds)
  }
}

extension DatedResult: Sendable where Value: Sendable {}

extension Database {
  /// Runs the reads as if this weren't called: a file has no replica.
  public nonisolated(nonsending) func replicaSnapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> DatedResult<T> {
    DatedResult(try await body(), microseconds: nil)
  }
}

/// What's known of a replica.
public struct ReplicaState: Sendable, Equatable {
  /// What the latest look at it found; nil before the first.
  public var status: ReplicaStatus?
  /// The time up to which it had all changes, in microseconds since 1970; nil if that isn't known.
  public var microseconds: Int64?

  /// Creates a state.
  public init(status: ReplicaStatus? = nil, microseconds: Int64? = nil) {
    (self.status, self.microseconds) = (status, microseconds)
  }
}

/// Whether a replica serves the reads that may be from one.
public enum ReplicaStatus: Sendable, Equatable {
  /// It does.
  case inUse
  /// Its data is too old; nil seconds if it isn't known how old.
  case behind(seconds: Int?)
  /// It can't be reached.
  case unreachable(reason: String)
  /// The server isn't a replica, or no longer.
  case notReplica
  /// The server has another database.
  case otherDatabase
}
