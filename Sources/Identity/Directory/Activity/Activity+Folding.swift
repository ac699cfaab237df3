package import Database
import Synchronization

extension Activity {
  private static let foldedAtOnce = 2_000
  /// The maximum number of pools per transaction whose numbers of users are recorded.
  private static let markedAtOnce = 200

  /// Adds a batch of changes to the counts by hour and day, and records the numbers of users that
  /// changed.
  ///
  /// Call it periodically, and again while it returns true. Reads include the changes that aren't
  /// folded yet, except ``attemptCounts(of:isWhole:since:at:)``. Numbers of users are recorded
  /// under the hour of the call, so only while the clock is trusted; code attempts keep their own
  /// hour.
  public func fold() async throws -> Bool {
    let isDue = try await isDue("SELECT EXISTS (SELECT 1 FROM count_change WHERE scope_key > 0)")
    // In a separate write, because it has to be short: it conflicts with each write that changes a number.
    let isMoreCounted =
      isDue ? try await store.write { try CountChanges.fold($0) } : false
    let isMoreDue = try await self.isDue(
      """
      SELECT EXISTS (SELECT 1 FROM activity_delta WHERE scope_key > 0)
        OR EXISTS (SELECT 1 FROM enrollment_mark WHERE scope_key > 0)
      """)
    guard isMoreDue else { return isMoreCounted }
    let now = store.expectedTime.isDoubted ? nil : store.clock.now()
    let (isMore, attempts) = try await store.write { connection in
      let (isMore, attempts) = try Self.foldDeltas("scope_key > 0", connection)
      guard let now else { return (isMore, attempts) }
      return (try Self.recordUsers(at: now, connection) || isMore, attempts)
    }
    foldedAttempts.add(attempts)
    return isMore || isMoreCounted
  }

  private func isDue(_ query: SQL) async throws -> Bool {
    try await store.read { connection in
      try connection.first(query) { try $0.next() as Bool } ?? false
    }
  }

  /// Returns the number of code attempts with an outcome that this server has folded.
  public func folded(_ outcome: CodeAttempt.Outcome) -> Int { foldedAttempts.count(outcome) }

  /// - Returns: Whether there may be more, and the code attempts among the changes.
  static func foldDeltas(
    _ condition: SQL, _ connection: borrowing Connection
  ) throws -> (isMore: Bool, attempts: ActivityTally.Checks) {
    let rows = try connection.all(
      """
      SELECT \(ActivityDelta.columns), scope_key FROM activity_delta WHERE \(condition)
      ORDER BY scope_key, number LIMIT \(foldedAtOnce)
      """
    ) { row in
      (delta: try ActivityDelta(&row), pool: try row.next() as Int64)
    }
    var attempts = ActivityTally.Checks()
    var start = 0
    while start < rows.count {
      let pool = rows[start].pool
      var end = start
      var tally = ActivityTally()
      while end < rows.count, rows[end].pool == pool {
        tally.add(rows[end].delta)
        end += 1
      }
      try store(tally, of: pool, connection)
      for checks in tally.hours.values { attempts.add(checks) }
      // Exactly those read: a change that is stored later, even one with a smaller number, isn't in
      // the snapshot of the transaction.
      try connection.run(
        """
        DELETE FROM activity_delta
        WHERE scope_key = \(pool) AND number <= \(rows[end - 1].delta.number)
        """)
      start = end
    }
    return (rows.count == foldedAtOnce, attempts)
  }

  package static func store(
    _ tally: ActivityTally, of pool: Int64, _ connection: borrowing Connection
  ) throws {
    let project = try connection.first(
      """
      SELECT o.scope_key FROM scope s
        \(SQL.orderedJoin) scope o ON o.project_id = s.project_id AND o.tenant_id = ''
      WHERE s.scope_key = \(pool) AND o.deleted_at IS NULL
      """
    ) { try $0.next() as Int64 }
    for (hour, checks) in tally.hours {
      try add(checks, to: hour, of: pool, isWhole: false, connection)
      if let project { try add(checks, to: hour, of: project, isWhole: true, connection) }
    }
    for (offset, counts) in tally.offsets {
      try connection.runLater(
        """
        INSERT INTO offset_day (scope_key, day, distance, accepted, confirmed, unconfirmed)
        VALUES (\(pool), \(offset.day), \(offset.distance), \(counts.accepted),
          \(counts.confirmed), \(counts.unconfirmed))
        ON CONFLICT (scope_key, day, distance) DO UPDATE SET
          accepted = offset_day.accepted + excluded.accepted,
          confirmed = offset_day.confirmed + excluded.confirmed,
          unconfirmed = offset_day.unconfirmed + excluded.unconfirmed
        """)
    }
    for (key, change) in tally.userDays where change != 0 {
      try connection.runLater(
        """
        INSERT INTO reach_day (scope_key, day, reach, users)
        VALUES (\(pool), \(key.day), \(key.reach), \(change))
        ON CONFLICT (scope_key, day, reach) DO UPDATE SET
          users = reach_day.users + excluded.users
        """)
    }
    for (key, change) in tally.users where change != 0 {
      try connection.runLater(
        """
        INSERT INTO reach_users (scope_key, reach, day, users)
        VALUES (\(pool), \(key.reach), \(key.day), \(change))
        ON CONFLICT (scope_key, reach, day) DO UPDATE SET
          users = reach_users.users + excluded.users
        """)
    }
    for (account, reach) in tally.accounts {
      try list(account, in: pool, from: reach.former, to: reach.current, connection)
    }
  }

  private static func add(
    _ checks: ActivityTally.Checks, to hour: Int64, of pool: Int64, isWhole: Bool,
    _ connection: borrowing Connection
  ) throws {
    try connection.runLater(
      """
      INSERT INTO activity_hour (scope_key, whole, hour, accepted, outside, incorrect, locked,
        other)
      VALUES (\(pool), \(isWhole), \(hour), \(checks.accepted), \(checks.outside),
        \(checks.incorrect), \(checks.locked), \(checks.other))
      ON CONFLICT (scope_key, whole, hour) DO UPDATE SET
        accepted = activity_hour.accepted + excluded.accepted,
        outside = activity_hour.outside + excluded.outside,
        incorrect = activity_hour.incorrect + excluded.incorrect,
        locked = activity_hour.locked + excluded.locked, other = activity_hour.other + excluded.other
      """)
  }

  private static func list(
    _ account: Int64, in pool: Int64, from former: CodeReach, to current: CodeReach,
    _ connection: borrowing Connection
  ) throws {
    for reach in CodeReach.range.dropFirst() {
      let old = reach < former.days.count ? former.days[reach] : nil
      let new = reach < current.days.count ? current.days[reach] : nil
      guard old != new else { continue }
      if let old {
        try connection.runLater(
          """
          DELETE FROM reach_account
          WHERE scope_key = \(pool) AND reach = \(reach) AND day = \(old)
            AND account_key = \(account)
          """)
      }
      if let new {
        try connection.runLater(
          """
          INSERT INTO reach_account (scope_key, reach, day, account_key)
          VALUES (\(pool), \(reach), \(new), \(account))
          """)
      }
    }
  }

  /// Records the numbers of users of marked pools and their projects under the current hour.
  private static func recordUsers(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let marked = try connection.all(
      "SELECT scope_key FROM enrollment_mark WHERE scope_key > 0 LIMIT \(markedAtOnce)"
    ) { try $0.next() as Int64 }
    for pool in marked {
      try connection.run(
        """
        INSERT INTO enrollment_hour (scope_key, whole, hour, users, enrolled_users)
        SELECT scope_key, 0, \(now.hour), users, enrolled_users FROM scope
        WHERE scope_key = \(pool) AND deleted_at IS NULL
        ON CONFLICT (scope_key, whole, hour) DO UPDATE SET
          users = excluded.users, enrolled_users = excluded.enrolled_users
        """)
      try connection.run(
        """
        INSERT INTO enrollment_hour (scope_key, whole, hour, users, enrolled_users)
        SELECT o.scope_key, 1, \(now.hour), p.users, p.enrolled_users
        FROM scope s \(SQL.orderedJoin) project p USING (project_id)
          \(SQL.orderedJoin) scope o ON o.project_id = s.project_id AND o.tenant_id = ''
        WHERE s.scope_key = \(pool) AND o.deleted_at IS NULL
        ON CONFLICT (scope_key, whole, hour) DO UPDATE SET
          users = excluded.users, enrolled_users = excluded.enrolled_users
        """)
      try connection.run("DELETE FROM enrollment_mark WHERE scope_key = \(pool)")
    }
    return marked.count == markedAtOnce
  }

  /// Deletes the counts of code attempts of a pool whose accounts are all deleted.
  ///
  /// Those of its project remain, and so does the history of the number of users.
  static func deleteCounts(of pool: Int64, _ connection: borrowing Connection) throws {
    while try foldDeltas("scope_key = \(pool)", connection).isMore {}
    try connection.run("DELETE FROM activity_hour WHERE scope_key = \(pool) AND whole = 0")
    try connection.run("DELETE FROM offset_day WHERE scope_key = \(pool)")
    try connection.run("DELETE FROM reach_day WHERE scope_key = \(pool)")
    try connection.run("DELETE FROM reach_users WHERE scope_key = \(pool)")
    try connection.run("DELETE FROM reach_account WHERE scope_key = \(pool)")
  }

  /// Deletes everything that was counted of a deleted pool, and of its project if the pool is the
  /// project's own.
  static func deleteAll(of pool: Int64, _ connection: borrowing Connection) throws {
    try deleteCounts(of: pool, connection)
    try connection.run("DELETE FROM activity_hour WHERE scope_key = \(pool)")
    try connection.run("DELETE FROM enrollment_hour WHERE scope_key = \(pool)")
    try connection.run("DELETE FROM enrollment_mark WHERE scope_key = \(pool)")
  }
}

extension Identity {
  /// Folds a batch of activity, and deletes a batch of what is too old, unless the clock isn't
  /// trusted.
  public func foldActivity() async throws -> Bool {
    let isMore = try await activity.fold()
    guard clockGuard.doubt == nil else { return isMore }
    return try await activity.age() || isMore
  }
}

/// The code attempts that were folded since the start, by outcome.
final class FoldedAttempts: Sendable {
  private let checks = Mutex(ActivityTally.Checks())

  func add(_ more: ActivityTally.Checks) { checks.withLock { $0.add(more) } }

  func count(_ outcome: CodeAttempt.Outcome) -> Int {
    let checks = checks.withLock { $0 }
    return switch outcome {
    case .accepted: checks.accepted
    case .outside: checks.outside
    case .incorrect: checks.incorrect
    case .locked: checks.locked
    case .other: checks.other
    }
  }
}

package struct ActivityTally: Sendable {
  struct Checks: Equatable {
    var accepted = 0
    var outside = 0
    var incorrect = 0
    var locked = 0
    var other = 0

    mutating func add(_ outcome: CodeAttempt.Outcome) {
      switch outcome {
      case .accepted: accepted += 1
      case .outside: outside += 1
      case .incorrect: incorrect += 1
      case .locked: locked += 1
      case .other: other += 1
      }
    }

    mutating func add(_ more: Checks) {
      accepted += more.accepted
      outside += more.outside
      incorrect += more.incorrect
      locked += more.locked
      other += more.other
    }
  }

  struct Offset: Hashable {
    let day: Int64
    let distance: Int
  }

  struct ReachDay: Hashable {
    let reach: Int
    let day: Int64
  }

  private(set) var hours: [Int64: Checks] = [:]
  /// Codes of authenticator apps at sign-in, by day and distance.
  private(set) var offsets: [Offset: OffsetCounts] = [:]
  /// The change of the numbers of users by day and by their largest distance on it.
  private(set) var userDays: [ReachDay: Int] = [:]
  /// The change of the numbers of users by distance and by the last day on which they reached it.
  private(set) var users: [ReachDay: Int] = [:]
  private(set) var accounts: [Int64: (former: CodeReach, current: CodeReach)] = [:]

  package init() {}

  init(_ deltas: [ActivityDelta]) { for delta in deltas { add(delta) } }

  package mutating func add(_ delta: ActivityDelta) {
    switch delta.kind {
    case .attempt(let outcome):
      hours[delta.hour, default: Checks()].add(outcome)
      if let distance = delta.distance {
        let offset = Offset(day: delta.day, distance: distance)
        if outcome == .accepted {
          offsets[offset, default: OffsetCounts()].accepted += 1
        } else {
          offsets[offset, default: OffsetCounts()].unconfirmed += 1
        }
      }
    case .confirmed:
      guard let distance = delta.distance else { break }
      let offset = Offset(day: delta.day, distance: distance)
      offsets[offset, default: OffsetCounts()].confirmed += 1
      offsets[offset, default: OffsetCounts()].unconfirmed -= 1
    case .deleted: break
    }
    guard let former = delta.reach else { return }
    change(delta, from: former)
  }

  private mutating func change(_ delta: ActivityDelta, from former: CodeReach) {
    var current = CodeReach(nil)
    if delta.kind != .deleted, let distance = delta.distance {
      current = former
      _ = current.add(distance: distance, day: delta.day)
      if let reach = former.reach(on: delta.day) {
        userDays[ReachDay(reach: reach, day: delta.day), default: 0] -= 1
      }
      if let reach = current.reach(on: delta.day) {
        userDays[ReachDay(reach: reach, day: delta.day), default: 0] += 1
      }
    }
    for (reach, day) in former.days.enumerated() {
      users[ReachDay(reach: reach, day: day), default: 0] -= 1
    }
    for (reach, day) in current.days.enumerated() {
      users[ReachDay(reach: reach, day: day), default: 0] += 1
    }
    accounts[delta.account] = (accounts[delta.account]?.former ?? former, current)
  }
}
