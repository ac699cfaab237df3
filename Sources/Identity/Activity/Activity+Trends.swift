import Database

extension Activity {
  /// Returns the share of enrolled users of pools at evenly spaced times, for sparklines.
  ///
  /// - Parameters:
  ///   - pools: The pools, whose summaries have the present numbers.
  ///   - points: The number of times, at least 2.
  ///   - start: The first time, rounded down to the hour.
  ///   - now: The last time, which is the present.
  /// - Returns: The shares from 0 to 1 by the pools' keys; nil where there were no users, or where
  ///   nothing is known.
  /// - Throws: ``ActivityError/unavailable(_:)``.
  public func trends(
    of pools: [PolicySummary], points: Int = 12, from start: Instant, to now: Instant
  ) async throws(ActivityError) -> [Int64: [Double?]] {
    try await store.read(ActivityError.self) { connection in
      let past = try past(
        of: pools.map(\.key), isWhole: false, points: points, from: start, to: now, connection)
      var trends = [Int64: [Double?]](minimumCapacity: pools.count)
      for (pool, past) in zip(pools, past) {
        trends[pool.key] = past + [Self.share(pool.enrolledUsers, of: pool.users)]
      }
      return trends
    }
  }

  /// Returns the share of enrolled users of projects with all their tenants, as
  /// ``trends(of:points:from:to:)`` does for pools.
  ///
  /// - Throws: ``ActivityError/unavailable(_:)``.
  public func trends(
    ofProjects projects: [ID<Project>], points: Int = 12, from start: Instant, to now: Instant
  ) async throws(ActivityError) -> [ID<Project>: [Double?]] {
    try await store.read(ActivityError.self) { connection in
      let counts = try connection.all(
        """
        SELECT s.project_id, s.scope_key, \(AccountCounts.current(ofProject: "users")),
          \(AccountCounts.current(ofProject: "enrolled_users"))
        FROM scope s \(SQL.orderedJoin) project p USING (project_id)
        WHERE s.project_id IN (\(list: projects.map(\.text))) AND s.tenant_id = ''
          AND s.deleted_at IS NULL
        """
      ) { row in
        (
          project: ID<Project>(try row.value(0)), key: try row.value(1) as Int64,
          share: Self.share(try row.value(3), of: try row.value(2))
        )
      }
      let past = try past(
        of: counts.map(\.key), isWhole: true, points: points, from: start, to: now, connection)
      var trends = [ID<Project>: [Double?]](minimumCapacity: counts.count)
      for (count, past) in zip(counts, past) {
        trends[count.project] = past + [count.share]
      }
      return trends
    }
  }

  /// The shares before the last point, which is the current state.
  private func past(
    of keys: [Int64], isWhole: Bool, points: Int, from start: Instant, to now: Instant,
    _ connection: borrowing Connection
  ) throws -> [[Double?]] {
    let step = max(1, (now.hour - start.hour) / Int64(max(points - 1, 1)))
    let last = now.hour - step
    let first = now.hour - step * Int64(max(points - 1, 1))
    let period = PastPeriod(isWhole: isWhole, first: first, step: step, last: last)
    return try trendCache.values(of: keys, in: period) { key in
      var shares = [Double?](repeating: nil, count: max(points - 1, 1))
      let states = try Self.states(
        of: Subject(key: key, isWhole: isWhole), from: first, to: last, step: step, connection)
      for state in states {
        shares[Int((state.at.hour - first) / step)] = Self.share(state.enrolled, of: state.users)
      }
      return shares
    }
  }

  private static func share(_ enrolled: Int, of users: Int) -> Double? {
    users > 0 ? Double(enrolled) / Double(users) : nil
  }
}
