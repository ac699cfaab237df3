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
      try Self.enrollment(of: Subject(key: pool.key, isWhole: false), at: instant, connection)
    }
  }

  /// Returns the numbers of users of a subject at one time, rounded down to the hour; nil if nothing is
  /// known about that time.
  static func enrollment(
    of subject: Subject, at instant: Instant, _ connection: borrowing Connection
  ) throws -> EnrollmentPoint? {
    try states(of: subject, at: [instant.hour], connection).first
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
