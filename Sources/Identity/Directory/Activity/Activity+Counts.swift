import Database

public struct AttemptCounts: Hashable, Sendable {
  public var accepted = 0
  public var rejected = 0

  public var all: Int { accepted + rejected }

  public init(accepted: Int = 0, rejected: Int = 0) {
    (self.accepted, self.rejected) = (accepted, rejected)
  }

  mutating func add(_ more: AttemptCounts) {
    accepted += more.accepted
    rejected += more.rejected
  }
}

extension Activity {
  /// Counts the code attempts of pools since a time.
  ///
  /// Attempts of the last minute may be missing: only folded ones are counted. If `isWhole`, the
  /// keys are those of projects, which are counted with all their tenants.
  ///
  /// - Returns: The counts by key; pools without attempts are missing.
  public func attemptCounts(
    of keys: [Int64], isWhole: Bool = false, since start: Instant, at now: Instant
  ) async throws -> [Int64: AttemptCounts] {
    try await store.read {
      try attemptCounts(of: keys, isWhole: isWhole, since: start, at: now, $0)
    }
  }

  func attemptCounts(
    of keys: [Int64], isWhole: Bool, since start: Instant, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> [Int64: AttemptCounts] {
    guard !keys.isEmpty else { return [:] }
    // Attempts are counted by the hours that begin in the period, as in charts.
    let first = start.advanced(bySeconds: 3_599).hour
    // Sums of the hours before this one are known until the next hour, if they're final.
    let recent = now.hour - 2
    var counts: [Int64: AttemptCounts] = [:]
    let period = PastPeriod(
      isWhole: isWhole, first: first, step: 1, last: recent,
      clockChanges: store.expectedTime.changes)
    let past = try countCache.values(
      of: keys, in: period, keepingIf: { try Self.isFinal(before: recent, connection) }
    ) { try Self.counts(of: $0, isWhole: isWhole, from: first, before: recent, connection) }
    for key in keys {
      if let count = past[key], count.all > 0 { counts[key] = count }
    }
    for start in stride(from: 0, to: keys.count, by: PastPeriod.mostPools) {
      let part = keys[start..<min(start + PastPeriod.mostPools, keys.count)]
      let hours = try connection.all(
        """
        SELECT scope_key, accepted, outside + incorrect + locked + other FROM activity_hour
        WHERE scope_key IN (\(list: Array(part))) AND whole = \(isWhole) AND hour >= \(recent)
        """
      ) { row in
        (
          key: try row.next() as Int64,
          counts: AttemptCounts(accepted: try row.next(), rejected: try row.next())
        )
      }
      for hour in hours { counts[hour.key, default: AttemptCounts()].add(hour.counts) }
    }
    return counts
  }

  /// Returns whether the counts of the hours before one are final: the snapshot has all attempts of
  /// these hours, and they're folded.
  ///
  /// One more hour has to have passed by the time that servers store every minute, because of writes
  /// in progress and clocks of other servers.
  private static func isFinal(before hour: Int64, _ connection: borrowing Connection) throws -> Bool
  {
    if let seen = try ClockGuard.stored(connection), seen.hour <= hour { return false }
    let unfolded = try connection.first(
      "SELECT 1 FROM activity_delta WHERE scope_key > 0 AND hour < \(hour) LIMIT 1"
    ) { _ in true }
    return unfolded == nil
  }

  /// Returns the counts of all pools, also of those without attempts.
  private static func counts(
    of keys: [Int64], isWhole: Bool, from first: Int64, before last: Int64,
    _ connection: borrowing Connection
  ) throws -> [Int64: AttemptCounts] {
    let sums = try connection.all(
      """
      SELECT scope_key, sum(accepted), sum(outside + incorrect + locked + other)
      FROM activity_hour
      WHERE scope_key IN (\(list: keys)) AND whole = \(isWhole) AND hour >= \(first)
        AND hour < \(last)
      GROUP BY scope_key
      """
    ) { row in
      (
        key: try row.next() as Int64,
        counts: AttemptCounts(accepted: try row.next(), rejected: try row.next())
      )
    }
    var counts = Dictionary(keys.map { ($0, AttemptCounts()) }) { first, _ in first }
    for sum in sums { counts[sum.key] = sum.counts }
    return counts
  }
}

/// The code attempts of one hour, by outcome.
public struct HourlyChecks: Sendable, Equatable {
  /// The beginning of the hour, in UTC.
  public let hour: Instant
  public let accepted: Int
  public let outside: Int
  public let incorrect: Int
  public let locked: Int
  public let other: Int
}

extension HourlyChecks {
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

  static func checks(
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
