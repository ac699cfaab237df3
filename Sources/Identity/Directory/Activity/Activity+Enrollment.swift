import Database

public struct EnrollmentPoint: Sendable, Equatable {
  public let at: Instant
  public let users: Int
  public let enrolled: Int

  public init(at: Instant, users: Int, enrolled: Int) {
    self.at = at
    self.users = users
    self.enrolled = enrolled
  }
}

extension Activity {
  /// Returns the numbers of users of a pool at one time, rounded down to the hour.
  ///
  /// - Returns: The numbers; nil if nothing is known about that time.
  public func enrollment(
    of pool: Pool, at instant: Instant
  ) async throws -> EnrollmentPoint? {
    try await store.read { connection in
      try Self.states(of: Subject(key: pool.key, isWhole: false), at: [instant.hour], connection)
        .first
    }
  }

  /// Returns a step function of the numbers of users: the state at each time about which something
  /// is known, rounded down to the hour, and the current state at `now`.
  ///
  /// If nothing is known about the first time, the function begins with the first known state.
  public func enrollment(
    of pool: Pool, isWhole: Bool = false, at instants: [Instant], until now: Instant
  ) async throws -> [EnrollmentPoint] {
    try await store.read { connection in
      let own = Subject(key: pool.key, isWhole: false)
      guard
        let subject = isWhole ? try Self.subject(pool.project, connection) : own
      else { return [] }
      let start: Int64? =
        try connection.first(
          """
          SELECT min(hour) FROM enrollment_hour
          WHERE scope_key = \(subject.key) AND whole = \(subject.isWhole)
          """
        ) { try $0.next() as Int64? } ?? nil
      // A state of an hour is known from its end.
      let first = start.map { $0 + 1 } ?? .max
      var hours = Set(instants.lazy.map(\.hour).filter { $0 >= first })
      if first <= now.hour, instants.first.map({ $0.hour < first }) ?? false { hours.insert(first) }
      var points = try Self.states(of: subject, at: hours.sorted(), connection)
      if let (users, enrolled) = try Self.users(of: subject, connection) {
        points.append(EnrollmentPoint(at: now, users: users, enrolled: enrolled))
      }
      return points
    }
  }

  /// Returns the last known state before each hour.
  private static func states(
    of subject: Subject, at hours: [Int64], _ connection: borrowing Connection
  ) throws -> [EnrollmentPoint] {
    guard !hours.isEmpty else { return [] }
    let rows: [SQL] = hours.map { "(CAST(\($0) AS BIGINT))" }
    return try states(of: subject, "VALUES \(rows.joined(separator: ", "))", connection)
  }

  static func states(
    of subject: Subject, from first: Int64, to last: Int64, step: Int64,
    _ connection: borrowing Connection
  ) throws -> [EnrollmentPoint] {
    guard first <= last else { return [] }
    return try states(
      of: subject,
      """
      SELECT CAST(\(first) AS BIGINT)
        UNION ALL SELECT hour + \(step) FROM chain WHERE hour + \(step) <= \(last)
      """, connection)
  }

  private static func states(
    of subject: Subject, _ hours: SQL, _ connection: borrowing Connection
  ) throws -> [EnrollmentPoint] {
    try connection.all(
      """
      WITH RECURSIVE chain (hour) AS (\(hours))
      SELECT chain.hour, e.users, e.enrolled_users FROM chain
        \(SQL.orderedJoin) enrollment_hour e
          ON e.scope_key = \(subject.key) AND e.whole = \(subject.isWhole)
            AND e.hour = (SELECT max(b.hour) FROM enrollment_hour b
              WHERE b.scope_key = \(subject.key) AND b.whole = \(subject.isWhole)
                AND b.hour < chain.hour)
      """
    ) { row in
      EnrollmentPoint(
        at: Instant(hour: try row.next()), users: try row.next(), enrolled: try row.next())
    }.sorted { $0.at < $1.at }
  }
}

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
