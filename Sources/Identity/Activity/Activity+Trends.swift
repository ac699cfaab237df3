import Database

extension Activity {
  /// Returns the share of enrolled users of pools at evenly spaced times, for sparklines.
  ///
  /// - Parameters:
  ///   - keys: The pools' keys.
  ///   - points: The number of times, at least 2.
  ///   - start: The first time, rounded down to the hour.
  ///   - now: The last time, which is the present.
  /// - Returns: The shares from 0 to 1 by key; nil where there were no users, or where nothing is
  ///   known.
  /// - Throws: ``ActivityError/unavailable(_:)``.
  public func trends(
    ofScopes keys: [Int64], points: Int = 12, from start: Instant, to now: Instant
  ) async throws(ActivityError) -> [Int64: [Double?]] {
    try await store.read(ActivityError.self) { connection in
      let counts = try connection.all(
        "SELECT scope_key, users, enrolled_users FROM scope WHERE scope_key IN (\(list: keys))"
      ) { row in (key: try row.value(0) as Int64, users: try Users(row, from: 1)) }
      let present = Dictionary(uniqueKeysWithValues: counts.map { ($0.key, $0.users) })
      var trends: [Int64: [Double?]] = [:]
      for key in keys {
        trends[key] = try trend(
          of: Subject(key: key, isWhole: false), present[key], points: points, from: start,
          to: now, connection)
      }
      return trends
    }
  }

  /// Returns the share of enrolled users of projects with all their tenants, as
  /// ``trends(ofScopes:points:from:to:)`` does for pools.
  ///
  /// - Throws: ``ActivityError/unavailable(_:)``.
  public func trends(
    ofProjects projects: [ID<Project>], points: Int = 12, from start: Instant, to now: Instant
  ) async throws(ActivityError) -> [ID<Project>: [Double?]] {
    try await store.read(ActivityError.self) { connection in
      let counts = try connection.all(
        """
        SELECT s.project_id, s.scope_key, p.users, p.enrolled_users
        FROM scope s \(SQL.orderedJoin) project p USING (project_id)
        WHERE s.project_id IN (\(list: projects.map(\.text))) AND s.tenant_id = ''
          AND s.deleted_at IS NULL
        """
      ) { row in
        (
          project: ID<Project>(try row.value(0)),
          subject: Subject(key: try row.value(1), isWhole: true), users: try Users(row, from: 2)
        )
      }
      var trends: [ID<Project>: [Double?]] = [:]
      for count in counts {
        trends[count.project] = try trend(
          of: count.subject, count.users, points: points, from: start, to: now, connection)
      }
      return trends
    }
  }

  /// The current numbers of users of a pool or project.
  private struct Users {
    let all: Int
    let enrolled: Int

    init(_ row: borrowing Row, from column: Int) throws {
      all = try row.value(column)
      enrolled = try row.value(column + 1)
    }
  }

  private func trend(
    of subject: Subject, _ present: Users?, points: Int, from start: Instant, to now: Instant,
    _ connection: borrowing Connection
  ) throws -> [Double?] {
    let step = max(1, (now.hour - start.hour) / Int64(max(points - 1, 1)))
    // The last point is the current state; those before it are in the past.
    let last = now.hour - step
    let first = now.hour - step * Int64(max(points - 1, 1))
    let period = PastPeriod(
      key: subject.key, isWhole: subject.isWhole, first: first, step: step, last: last)
    let past = try trendCache.value(period) {
      var shares = [Double?](repeating: nil, count: max(points - 1, 1))
      let states = try Self.states(of: subject, from: first, to: last, step: step, connection)
      for state in states {
        shares[Int((state.at.hour - first) / step)] = Self.share(state.enrolled, of: state.users)
      }
      return shares
    }
    return past + [present.flatMap { Self.share($0.enrolled, of: $0.all) }]
  }

  private static func share(_ enrolled: Int, of users: Int) -> Double? {
    users > 0 ? Double(enrolled) / Double(users) : nil
  }
}
