import Database

/// The code attempts of one hour, by outcome.
public struct HourlyChecks: Sendable, Equatable {
  /// The beginning of the hour, in UTC.
  public let hour: Instant
  public let accepted: Int
  public let outside: Int
  public let incorrect: Int
  public let locked: Int
  public let other: Int

  public init(
    hour: Instant, accepted: Int = 0, outside: Int = 0, incorrect: Int = 0, locked: Int = 0,
    other: Int = 0
  ) {
    self.hour = hour
    self.accepted = accepted
    self.outside = outside
    self.incorrect = incorrect
    self.locked = locked
    self.other = other
  }

  init(_ hour: Int64, _ checks: ActivityTally.Checks) {
    self.hour = Instant(hour: hour)
    accepted = checks.accepted
    outside = checks.outside
    incorrect = checks.incorrect
    locked = checks.locked
    other = checks.other
  }
}

extension Activity {
  /// Returns the code attempts of a pool by hour, up to the last one.
  ///
  /// The hour that contains the end is included.
  ///
  /// - Returns: The hours with attempts, in order.
  public func checks(
    in pool: Pool, from start: Instant, to end: Instant
  ) async throws -> [HourlyChecks] {
    try await store.read { connection in
      let tail = try ActivityDelta.all(in: pool.key, connection)
      return try Self.checks(
        in: Subject(key: pool.key, isWhole: false), from: start.hour, to: end.hour, tail,
        connection)
    }
  }

  /// Returns the code attempts of a project with all its tenants by hour, as
  /// ``checks(in:from:to:)`` does for a pool; empty if the project doesn't exist.
  public func checks(
    inProject project: ID<Project>, from start: Instant, to end: Instant
  ) async throws -> [HourlyChecks] {
    try await store.read { connection in
      guard let subject = try Self.subject(project, connection) else { return [] }
      let tail = try connection.all(
        """
        SELECT \(ActivityDelta.columns)
        FROM scope s \(SQL.orderedJoin) activity_delta d ON d.scope_key = s.scope_key
        WHERE s.project_id = \(project)
        """
      ) { try ActivityDelta(&$0) }
      return try Self.checks(in: subject, from: start.hour, to: end.hour, tail, connection)
    }
  }

  private static func checks(
    in subject: Subject, from first: Int64, to last: Int64, _ tail: [ActivityDelta],
    _ connection: borrowing Connection
  ) throws -> [HourlyChecks] {
    var late: [Int64: ActivityTally.Checks] = [:]
    for delta in tail where delta.hour >= first && delta.hour <= last {
      if case .attempt(let outcome) = delta.kind { late[delta.hour, default: .init()].add(outcome) }
    }
    var hours = try connection.all(
      """
      SELECT hour, accepted, outside, incorrect, locked, other FROM activity_hour
      WHERE scope_key = \(subject.key) AND whole = \(subject.isWhole)
        AND hour >= \(first) AND hour <= \(last)
      ORDER BY hour
      """
    ) { row in
      let hour: Int64 = try row.next()
      var checks = ActivityTally.Checks(
        accepted: try row.next(), outside: try row.next(), incorrect: try row.next(),
        locked: try row.next(), other: try row.next())
      if let more = late.removeValue(forKey: hour) { checks.add(more) }
      return HourlyChecks(hour, checks)
    }
    guard !late.isEmpty else { return hours }
    hours += late.map { HourlyChecks($0.key, $0.value) }
    return hours.sorted { $0.hour < $1.hour }
  }
}
