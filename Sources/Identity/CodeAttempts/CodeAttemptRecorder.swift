package import Database
package import OTP

/// Records an attempt to enter a code for an account.
///
/// Each method writes the attempt and its effects on the account in the transaction that checked
/// the code.
package struct CodeAttemptRecorder {
  let account: Account
  let pool: Pool
  let way: CodeAttempt.Way
  var enrollment: ID<Factor>?
  var window: Window?
  let origin: RequestOrigin
  /// Whether the clock isn't trusted, so that correct codes may be rejected.
  let isClockDoubted: Bool

  package init(
    account: Account, pool: Pool, way: CodeAttempt.Way, enrollment: ID<Factor>? = nil,
    window: Window? = nil, origin: RequestOrigin, isClockDoubted: Bool = false
  ) {
    self.account = account
    self.pool = pool
    self.way = way
    self.enrollment = enrollment
    self.window = window
    self.origin = origin
    self.isClockDoubted = isClockDoubted
  }

  /// Records an accepted code and resets the count of incorrect codes.
  ///
  /// A correct password or a new session doesn't reset it, because neither proves possession of the
  /// device.
  package func pass(
    _ finding: CodeFinding, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let change = try accept(finding, at: now, connection)
    try connection.runLater("UPDATE account SET \(change) WHERE account_key = \(account.key)")
  }

  /// Does the same as ``pass(_:at:_:)``, except for the account's row.
  ///
  /// - Returns: The columns of the account to set.
  func accept(
    _ finding: CodeFinding, at now: Instant, _ connection: borrowing Connection
  ) throws -> SQL {
    var count = CodeAttemptCount(account)
    let confirmed = try CodeAttemptRecord.confirmNearMisses(
      of: account, in: pool, at: now, connection)
    for nearMiss in confirmed { try count.confirm(nearMiss, connection) }
    let at = try insert(finding, at: now, &count, connection)
    if account.codesBlockedUntil != nil {
      try AccountRecord.unlockCodes(account.key, connection)
    }
    return "wrong_codes = 0, last_code_attempt_at = \(at), reach = \(count.reach.text)"
  }

  /// Records a rejected code and counts it as incorrect, unless it's the correct code of a
  /// suspended factor.
  ///
  /// That code gets the same response as an incorrect one. It isn't a guess, regardless of who has
  /// the device, so it must not lock the account's codes: until the suspension ends, only backup
  /// codes work.
  package func fail(
    _ finding: CodeFinding, at now: Instant, _ connection: borrowing Connection
  ) throws -> SignInError {
    guard finding.result != .suspended else {
      let full = try note(finding, at: now, connection)
      return full.map { .quotaExceeded(until: $0) } ?? .invalidCode
    }
    var count = CodeAttemptCount(account)
    let full = try OwnChange.row.take(of: account.key, at: now, connection)
    // Counted as incorrect even if there's no room to record it.
    let at =
      try full == nil ? insert(finding, at: now, &count, connection) : account.lastCodeAttemptAt
    let wrong = account.wrongCodes + 1
    try connection.runLater(
      """
      UPDATE account SET wrong_codes = \(wrong), last_code_attempt_at = \(at)
      WHERE account_key = \(account.key)
      """)
    let cap = try SupportRules.find(pool, connection).codeCap
    let end = CodeLock.end(
      afterWrongCodes: wrong, cap: cap, at: now, isClockDoubted: isClockDoubted)
    guard let until = end else { return full.map { .quotaExceeded(until: $0) } ?? .invalidCode }
    try AccountRecord.lockCodes(of: account, until: until, connection)
    return .quotaExceeded(until: until)
  }

  func refuse(
    until: Instant, at now: Instant, _ connection: borrowing Connection
  ) throws -> SignInError {
    try note(
      CodeFinding(until == CodeLock.forever ? .closed : .blocked), at: now, connection)
    return .quotaExceeded(until: until)
  }

  /// Writes the attempt without counting it as incorrect.
  ///
  /// Repeated attempts that weren't checked, are expired, or belong to a suspended factor share one
  /// row.
  ///
  /// - Returns: When attempts are recorded again, if the account's quota is reached, and so this one
  ///   isn't; otherwise nil.
  @discardableResult
  func note(
    _ finding: CodeFinding, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    var count = CodeAttemptCount(account)
    if [.blocked, .closed, .expired, .suspended].contains(finding.result) {
      // For suspended factors, attempts are kept per factor.
      let factor = finding.result == .suspended ? enrollment : nil
      let isKept = try CodeAttemptRecord.repeated(
        finding.result, of: account, in: pool, factor: factor, connection)
      if isKept {
        try count.add(finding, way, at: now, connection)
        return nil
      }
    }
    if let full = try OwnChange.row.take(of: account.key, at: now, connection) { return full }
    let at = try insert(finding, at: now, &count, connection)
    try connection.runLater(
      "UPDATE account SET last_code_attempt_at = \(at) WHERE account_key = \(account.key)")
    return nil
  }

  private func insert(
    _ finding: CodeFinding, at now: Instant, _ count: inout CodeAttemptCount,
    _ connection: borrowing Connection
  ) throws -> Int64 {
    let place = CodeAttemptRecord.Place(
      pool: pool.key, account: account.key, way: way, enrollment: enrollment?.text,
      intervals: window?.adjacentIntervals, origin: origin)
    let at = try CodeAttemptRecord.insert(
      finding, place, after: account.lastCodeAttemptAt, at: now, connection)
    try count.add(finding, way, at: Instant(microseconds: at), connection)
    return at
  }
}
