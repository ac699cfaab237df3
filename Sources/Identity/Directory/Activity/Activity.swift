import Database
import Synchronization

/// Counts of code attempts and users over time.
///
/// Every code attempt is counted in the write that records it, by hour, in UTC. The counts outlive
/// the attempts, and reading them costs the same for ten users as for a million.
public struct Activity: Sendable {
  let store: Store
  let trendCache = PastCache<[Double?]>()
  let countCache = PastCache<AttemptCounts>(limit: 100_000)
  let foldedAttempts = FoldedAttempts()

  struct Subject {
    let key: Int64
    let isWhole: Bool
  }

  static func subject(
    _ project: ID<Project>, _ connection: borrowing Connection
  ) throws -> Subject? {
    try connection.first(
      """
      SELECT scope_key FROM scope
      WHERE project_id = \(project) AND tenant_id = '' AND deleted_at IS NULL
      """
    ) { Subject(key: try $0.next(), isWhole: true) }
  }

  static func users(
    of subject: Subject, _ connection: borrowing Connection
  ) throws -> (users: Int, enrolled: Int)? {
    if subject.isWhole {
      return try connection.first(
        """
        SELECT \(AccountCounts.current(ofProject: "users")),
          \(AccountCounts.current(ofProject: "enrolled_users"))
        FROM scope s
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE s.scope_key = \(subject.key)
        """
      ) { (users: try $0.next(), enrolled: try $0.next()) }
    }
    return try connection.first(
      """
      SELECT \(AccountCounts.current("users")), \(AccountCounts.current("enrolled_users"))
      FROM scope s WHERE s.scope_key = \(subject.key)
      """
    ) { (users: try $0.next(), enrolled: try $0.next()) }
  }
}

/// The position of an entry in a pool's list by time, which is a number of microseconds or of days.
struct ActivityCursor: Comparable {
  let at: Int64
  let account: Int64

  static func < (left: ActivityCursor, right: ActivityCursor) -> Bool {
    (left.at, left.account) < (right.at, right.account)
  }

  var cursor: String { "\(at).\(account)" }

  init(at: Int64, account: Int64) {
    self.at = at
    self.account = account
  }

  init?(_ cursor: String) {
    let numbers = cursor.split(separator: ".").map { Int64($0) }
    guard numbers.count == 2, let at = numbers[0], let account = numbers[1] else { return nil }
    self.init(at: at, account: account)
  }

  init(_ row: inout Row) throws {
    self.init(at: try row.next(), account: try row.next())
  }
}

/// Past hours, of which the first and every `step`th are read.
struct PastPeriod: Hashable {
  let isWhole: Bool
  let first: Int64
  let step: Int64
  let last: Int64
  /// ``ExpectedTime/changes``: hours that a wrong clock showed as past may not be past.
  let clockChanges: Int

  /// The maximum number of pools whose hours a statement reads.
  static let mostPools = 1_000
}

/// A cache of what is known of past hours of pools, which doesn't change.
final class PastCache<Value: Sendable>: Sendable {
  private struct State {
    var values: [PastPeriod: [Int64: Value]] = [:]
    var count = 0
  }

  /// The maximum number of values; the cache is cleared when it's exceeded.
  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int = 10_000) { self.limit = limit }

  /// Values are kept if `isFinal` returns true after they were found, and `find` gets up to
  /// ``PastPeriod/mostPools`` keys at a time.
  func values(
    of keys: [Int64], in period: PastPeriod, keepingIf isFinal: () throws -> Bool = { true },
    _ find: ([Int64]) throws -> [Int64: Value]
  ) rethrows -> [Int64: Value] {
    var values: [Int64: Value] = state.withLock { state in
      guard let known = state.values[period] else { return [:] }
      return Dictionary(
        uniqueKeysWithValues: Set(keys).compactMap { key in
          known[key].map { (key, $0) }
        })
    }
    var rest = keys.filter { values[$0] == nil }[...]
    var new: [Int64: Value] = [:]
    while !rest.isEmpty {
      let part = rest.prefix(PastPeriod.mostPools)
      rest = rest.dropFirst(part.count)
      new.merge(try find(Array(part))) { $1 }
    }
    if !new.isEmpty, try isFinal() { keep(new, in: period) }
    values.merge(new) { $1 }
    return values
  }

  private func keep(_ new: [Int64: Value], in period: PastPeriod) {
    state.withLock { state in
      if state.count + new.count > limit { state = State() }
      for (key, value) in new.prefix(limit) {
        if state.values[period, default: [:]].updateValue(value, forKey: key) == nil {
          state.count += 1
        }
      }
    }
  }
}

extension Activity {
  /// How long the list of accounts by reach is kept, in days: the longest period of a histogram.
  static let reachDays: Int64 = 90
  private static let agedAtOnce = 500
  private static let agedDay = InstanceValue("reach_aged_day")

  /// Deletes what is known about single users from before the longest period, once a day, one batch
  /// of one pool per call; the counts by day remain.
  public func age() async throws -> Bool {
    let today = store.clock.now().day
    let due = try await store.read { connection in
      try Self.agedDay.read(connection) != String(today)
    }
    guard due else { return false }
    return try await store.write { connection in
      guard let pool = try Self.oldest(before: today - Self.reachDays, connection) else {
        try Self.agedDay.store(String(today), connection)
        return false
      }
      try Self.age(pool, before: today - Self.reachDays, connection)
      return true
    }
  }

  private static func oldest(
    before day: Int64, _ connection: borrowing Connection
  ) throws -> Int64? {
    var last: Int64 = 0
    while true {
      let next = try connection.first(
        """
        SELECT scope_key FROM reach_account WHERE scope_key > \(last) ORDER BY scope_key LIMIT 1
        """
      ) { try $0.next() as Int64 }
      guard let pool = next else { return nil }
      for reach in CodeReach.range.dropFirst() {
        let isOld = try connection.first(
          """
          SELECT 1 FROM reach_account
          WHERE scope_key = \(pool) AND reach = \(reach) AND day < \(day) LIMIT 1
          """
        ) { _ in true }
        if isOld == true { return pool }
      }
      last = pool
    }
  }

  private static func age(
    _ pool: Int64, before day: Int64, _ connection: borrowing Connection
  ) throws {
    // Changes that aren't folded yet contain what is deleted here.
    while try foldDeltas("scope_key = \(pool)", connection).isMore {}
    var left = agedAtOnce
    // An account's days never increase with the reach, so the largest reach goes first.
    for reach in CodeReach.range.dropFirst().reversed() {
      let rows = try connection.all(
        """
        SELECT day, account_key FROM reach_account
        WHERE scope_key = \(pool) AND reach = \(reach) AND day < \(day) ORDER BY day LIMIT \(left)
        """
      ) { (day: try $0.next() as Int64, account: try $0.next() as Int64) }
      for row in rows {
        try connection.run(
          """
          DELETE FROM reach_account
          WHERE scope_key = \(pool) AND reach = \(reach) AND day = \(row.day)
            AND account_key = \(row.account)
          """)
        try AccountRecord.set(
          "reach = substr(reach, 1, \(reach * CodeReach.digits))", of: row.account, connection)
        try connection.run(
          """
          UPDATE reach_users SET users = users - 1
          WHERE scope_key = \(pool) AND reach = \(reach) AND day = \(row.day)
          """)
      }
      left -= rows.count
      guard left > 0 else { return }
    }
  }
}
