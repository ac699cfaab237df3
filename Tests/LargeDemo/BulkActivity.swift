import Database
import Identity

/// Counts code attempts that were inserted without `CodeAttemptRecorder`, many at a time.
struct BulkActivity: Sendable {
  private var tally = ActivityTally()
  private var reaches: [Int64: CodeReach] = [:]

  /// Counts a code of an authenticator app at sign-in; an account's codes are added in order of time.
  mutating func add(_ finding: CodeFinding, of account: Int64, at: Instant) {
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
  mutating func take() -> ActivityTally {
    defer { tally = ActivityTally() }
    return tally
  }

  func storeReaches(
    of accounts: ClosedRange<Int64>, _ connection: borrowing Connection
  ) throws {
    for account in accounts {
      guard let reach = reaches[account] else { continue }
      try connection.run(
        "UPDATE account SET reach = \(reach.text) WHERE account_key = \(account)")
    }
  }
}
