import Database

/// The numbers of users at one time.
public struct EnrollmentPoint: Sendable, Equatable {
  /// The time.
  public let at: Instant
  /// All users.
  public let users: Int
  /// Users with a second factor.
  public let enrolled: Int

  /// Creates a point.
  public init(at: Instant, users: Int, enrolled: Int) {
    self.at = at
    self.users = users
    self.enrolled = enrolled
  }
}

extension Activity {
  /// The maximum number of intervals that a period is divided into.
  static let mostPoints: Int64 = 400

  /// Returns the numbers of users of a pool over time.
  ///
  /// Long periods are divided into at most 400 equal intervals of whole hours.
  ///
  /// - Parameters:
  ///   - scope: The pool.
  ///   - start: The first time.
  ///   - end: The last time.
  /// - Returns: A step function: the state at `start`, rounded down to the hour, then the state at
  ///   the end of each interval in which it changed, and the current state if `end` isn't in the
  ///   past. The first point is later than `start` if nothing is known about that time.
  /// - Throws: ``ActivityError/unavailable(_:)``.
  public func enrollment(
    of scope: Scope, from start: Instant, to end: Instant
  ) async throws(ActivityError) -> [EnrollmentPoint] {
    let now = store.clock.now()
    return try await store.read(ActivityError.self) { connection in
      try Self.enrollment(
        of: Subject(key: scope.key, isWhole: false), from: start, to: end, at: now, connection)
    }
  }

  /// Returns the numbers of users of a project with all its tenants over time, as
  /// ``enrollment(of:from:to:)`` does for a pool; empty if the project doesn't exist.
  ///
  /// - Throws: ``ActivityError/unavailable(_:)``.
  public func enrollment(
    ofProject project: ID<Project>, from start: Instant, to end: Instant
  ) async throws(ActivityError) -> [EnrollmentPoint] {
    let now = store.clock.now()
    return try await store.read(ActivityError.self) { connection in
      guard let subject = try Self.subject(project, connection) else { return [] }
      return try Self.enrollment(of: subject, from: start, to: end, at: now, connection)
    }
  }

  /// Returns the numbers of users of a pool at some times and at present.
  ///
  /// - Parameters:
  ///   - scope: The pool.
  ///   - isWhole: Whether to include the tenants of a project.
  ///   - instants: The times, oldest first.
  ///   - now: The present.
  /// - Returns: A step function: the state at each time about which something is known, rounded down
  ///   to the hour, and the current state at `now`. If nothing is known about the first time, the
  ///   function begins with the first known state.
  /// - Throws: ``ActivityError/unavailable(_:)``.
  public func enrollment(
    of scope: Scope, isWhole: Bool = false, at instants: [Instant], until now: Instant
  ) async throws(ActivityError) -> [EnrollmentPoint] {
    try await store.read(ActivityError.self) { connection in
      let own = Subject(key: scope.key, isWhole: false)
      guard
        let subject = isWhole ? try Self.subject(scope.project, connection) : own
      else { return [] }
      let start: Int64? =
        try connection.first(
          """
          SELECT min(hour) FROM enrollment_hour
          WHERE scope_key = \(subject.key) AND whole = \(subject.isWhole)
          """
        ) { try $0.value(0) as Int64? } ?? nil
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

  static func enrollment(
    of subject: Subject, from start: Instant, to end: Instant, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> [EnrollmentPoint] {
    let (first, last) = (start.hour, min(end, now).hour)
    let step = max(1, (last - first + mostPoints - 1) / mostPoints)
    var points: [EnrollmentPoint] = []
    func add(_ point: EnrollmentPoint) {
      if let last = points.last, (last.users, last.enrolled) == (point.users, point.enrolled) {
        return
      }
      points.append(point)
    }
    for point in try states(of: subject, from: first, to: last, step: step, connection) {
      add(point)
    }
    if end >= now, start <= now, let (users, enrolled) = try Self.users(of: subject, connection) {
      add(EnrollmentPoint(at: now, users: users, enrolled: enrolled))
    }
    return points
  }

  /// Returns the last known state before each hour.
  private static func states(
    of subject: Subject, at hours: [Int64], _ connection: borrowing Connection
  ) throws -> [EnrollmentPoint] {
    guard !hours.isEmpty else { return [] }
    let rows: [SQL] = hours.map { "(CAST(\($0) AS BIGINT))" }
    return try states(of: subject, "VALUES \(rows.joined(separator: ", "))", connection)
  }

  /// Returns the last known state before each hour of a series.
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
        at: Instant(hour: try row.value(0)), users: try row.value(1), enrolled: try row.value(2))
    }.sorted { $0.at < $1.at }
  }
}
