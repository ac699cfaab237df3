package import Database

/// Counts code attempts that were inserted without ``CodeAttemptRecorder``, many at a time.
package struct BulkActivity: Sendable {
  private var tally = ActivityTally()
  private var reaches: [Int64: CodeReach] = [:]

  package init() {}

  /// Counts a code of an authenticator app at sign-in; an account's codes are added in order of time.
  package mutating func add(_ finding: CodeFinding, of account: Int64, at: Instant) {
    let outcome = finding.result.outcome
    let isNear = finding.result == .accepted || outcome == .outside
    var former: CodeReach?
    if finding.result == .accepted, let distance = finding.distance {
      let known = reaches[account] ?? CodeReach(nil)
      var reach = known
      if reach.add(distance: distance, day: at.day) {
        former = known
        reaches[account] = reach
      }
    }
    tally.add(
      ActivityDelta(
        account: account, hour: at.hour, .attempt(outcome),
        distance: isNear ? finding.distance : nil, reach: former))
  }

  /// Returns the counts of the codes since the last call.
  package mutating func take() -> ActivityTally {
    defer { tally = ActivityTally() }
    return tally
  }

  package func storeReaches(
    of accounts: ClosedRange<Int64>, _ connection: borrowing Connection
  ) throws {
    for account in accounts {
      guard let reach = reaches[account] else { continue }
      try connection.run(
        "UPDATE account SET reach = \(reach.text) WHERE account_key = \(account)")
    }
  }
}

extension Activity {
  /// Stores the numbers of users at the end of an hour that was never observed.
  package static func record(
    users: Int, enrolled: Int, of pool: Pool, isWhole: Bool, at: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO enrollment_hour (scope_key, whole, hour, users, enrolled_users)
      VALUES (\(pool.key), \(isWhole), \(at.hour), \(users), \(enrolled))
      ON CONFLICT (scope_key, whole, hour) DO NOTHING
      """)
  }
}
