import Database

extension Activity {
  /// Returns the share of enrolled users of pools at evenly spaced times, for sparklines.
  ///
  /// There are at least 2 points. The first time is rounded down to the hour, and the last is the
  /// present, whose numbers are those of the summaries.
  ///
  /// - Returns: The shares from 0 to 1 by the pools' keys; nil where there were no users, or where
  ///   nothing is known.
  public func trends(
    of pools: [PolicySummary], points: Int = 12, from start: Instant, to now: Instant
  ) async throws -> [Int64: [Double?]] {
    try await trends(
      of: pools.map { ($0.key, Self.share($0.enrolledUsers, of: $0.users)) }, isWhole: false,
      points: points, from: start, to: now)
  }

  /// Returns the share of enrolled users of projects with all their tenants, as
  /// ``trends(of:points:from:to:)`` does for pools.
  ///
  /// Projects that are restricted to some tenants must be left out.
  public func trends(
    ofProjects projects: [ProjectSummary], points: Int = 12, from start: Instant, to now: Instant
  ) async throws -> [Int64: [Double?]] {
    try await trends(
      of: projects.filter(\.isWhole).map {
        ($0.key, Self.share($0.enrolledUsers, of: $0.users))
      },
      isWhole: true, points: points, from: start, to: now)
  }

  private func trends(
    of pools: [(key: Int64, share: Double?)], isWhole: Bool, points: Int, from start: Instant,
    to now: Instant
  ) async throws -> [Int64: [Double?]] {
    try await store.read { connection in
      let past = try past(
        of: pools.map(\.key), isWhole: isWhole, points: points, from: start, to: now, connection)
      var trends = [Int64: [Double?]](minimumCapacity: pools.count)
      for pool in pools { trends[pool.key] = (past[pool.key] ?? []) + [pool.share] }
      return trends
    }
  }

  private func past(
    of keys: [Int64], isWhole: Bool, points: Int, from start: Instant, to now: Instant,
    _ connection: borrowing Connection
  ) throws -> [Int64: [Double?]] {
    let step = max(1, (now.hour - start.hour) / Int64(max(points - 1, 1)))
    let last = now.hour - step
    let first = now.hour - step * Int64(max(points - 1, 1))
    let period = PastPeriod(
      isWhole: isWhole, first: first, step: step, last: last,
      clockChanges: store.expectedTime.changes)
    return try trendCache.values(of: keys, in: period) { keys in
      var found: [Int64: [Double?]] = [:]
      for key in keys {
        var shares = [Double?](repeating: nil, count: max(points - 1, 1))
        let states = try Self.states(
          of: Subject(key: key, isWhole: isWhole), from: first, to: last, step: step, connection)
        for state in states {
          shares[Int((state.at.hour - first) / step)] = Self.share(state.enrolled, of: state.users)
        }
        found[key] = shares
      }
      return found
    }
  }

  private static func share(_ enrolled: Int, of users: Int) -> Double? {
    users > 0 ? Double(enrolled) / Double(users) : nil
  }
}
