import Database

/// Counts an account's code attempts in the write that records them.
struct CodeAttemptCount {
  let account: Int64
  /// The account's reach, which the caller stores.
  private(set) var reach: CodeReach

  init(_ account: Account) {
    self.account = account.key
    reach = account.reach
  }

  /// Codes entered during enrollment have no distance: no one is rejected at sign-in because of them.
  mutating func add(
    _ finding: CodeFinding, _ way: CodeAttempt.Way, at: Instant, _ connection: borrowing Connection
  ) throws {
    let outcome = finding.result.outcome
    var distance: Int?
    if way == .app, finding.result == .accepted || outcome == .outside {
      distance = finding.distance
    }
    let former = outcome == .accepted ? distance.flatMap { move(distance: $0, day: at.day) } : nil
    try insert(
      ActivityDelta(
        account: account, hour: at.hour, .attempt(outcome), distance: distance, reach: former),
      connection)
  }

  mutating func confirm(
    _ nearMiss: CodeAttemptRecord.NearMiss, _ connection: borrowing Connection
  ) throws {
    guard nearMiss.way == .app, let distance = nearMiss.distance else {
      return
    }
    let former = move(distance: distance, day: nearMiss.at.day)
    try insert(
      ActivityDelta(
        account: account, hour: nearMiss.at.hour, .confirmed, distance: distance, reach: former),
      connection)
  }

  static func delete(_ account: Account, _ connection: borrowing Connection) throws {
    guard account.reach.text != nil else { return }
    try ActivityDelta(account: account.key, hour: 0, .deleted, reach: account.reach)
      .insert(in: account.poolKey, connection)
  }

  private mutating func move(distance: Int, day: Int64) -> CodeReach? {
    let former = reach
    return reach.add(distance: distance, day: day) ? former : nil
  }

  private func insert(_ delta: ActivityDelta, _ connection: borrowing Connection) throws {
    try delta.insert(in: Pool.key(ofAccount: account), connection)
  }
}
