import Database

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
        try connection.run(
          """
          UPDATE account SET reach = substr(reach, 1, \(reach * CodeReach.digits))
          WHERE account_key = \(row.account)
          """)
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
