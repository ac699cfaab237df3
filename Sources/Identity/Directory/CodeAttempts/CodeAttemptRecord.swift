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
    try AccountRecord.setLater(change, of: account.key, connection)
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
    let clock = try clockFlag(after: finding, at: at, connection)
    return "wrong_codes = 0, last_code_attempt_at = \(at), reach = \(count.reach.text)\(clock)"
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
    let full = try takeRow(at: now, connection)
    let (at, clock): (Int64?, SQL)
    if full == nil {
      let new = try insert(finding, at: now, &count, connection)
      (at, clock) = (new, try clockFlag(after: finding, at: new, connection))
    } else {
      (at, clock) = (try addBeyondRows(at: now, &count, connection), "")
    }
    let wrong = account.wrongCodes + 1
    try AccountRecord.setLater(
      "wrong_codes = \(wrong), last_code_attempt_at = \(at)\(clock)", of: account.key, connection)
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
  /// row. Returns when attempts are recorded again, if the account's quota is reached, and so this
  /// one isn't; otherwise nil.
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
    if let full = try takeRow(at: now, connection) { return full }
    let at = try insert(finding, at: now, &count, connection)
    let clock = try clockFlag(after: finding, at: at, connection)
    try AccountRecord.setLater("last_code_attempt_at = \(at)\(clock)", of: account.key, connection)
    return nil
  }

  /// Counts the row among the user's, unless an agent causes it, whose actions have their own limit.
  private func takeRow(at now: Instant, _ connection: borrowing Connection) throws -> Instant? {
    way == .resynchronization ? nil : try OwnChange.row.take(of: account.key, at: now, connection)
  }

  /// Adds an incorrect code for which the account has no row left to its last attempt, if that's one as
  /// well, so that only an accepted code in between begins another row.
  private func addBeyondRows(
    at now: Instant, _ count: inout CodeAttemptCount, _ connection: borrowing Connection
  ) throws -> Int64? {
    let finding = CodeFinding(.wrong)
    guard try CodeAttemptRecord.repeated(.wrong, of: account, in: pool, connection) else {
      return try insert(finding, at: now, &count, connection)
    }
    try count.add(finding, way, at: now, connection)
    return account.lastCodeAttemptAt
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

/// Writes code attempts as a chain per account, in order of time.
package enum CodeAttemptRecord {
  package struct Place {
    let pool: Int64
    let account: Int64
    let way: CodeAttempt.Way
    let enrollment: String?
    let intervals: Int?
    let origin: RequestOrigin

    package init(
      pool: Int64, account: Int64, way: CodeAttempt.Way, enrollment: String?, intervals: Int?,
      origin: RequestOrigin
    ) {
      self.pool = pool
      self.account = account
      self.way = way
      self.enrollment = enrollment
      self.intervals = intervals
      self.origin = origin
    }
  }

  struct NearMiss {
    let at: Instant
    let way: CodeAttempt.Way
    let distance: Int?
  }

  /// The time within which a correct code must follow a near miss to show that it wasn't a guess,
  /// in seconds.
  static let soon: Int64 = 900
  /// The maximum number of near misses that a correct code confirms.
  private static let mostConfirmed = 20
  /// The maximum number of attempts before a correct code that are checked for near misses.
  private static let mostChecked = 50

  /// Writes a code attempt; ``CodeAttemptRecorder`` updates the account's `last_code_attempt_at`.
  ///
  /// - Returns: The stored time, always later than the previous attempt's.
  package static func insert(
    _ finding: CodeFinding, _ place: Place, after previous: Int64?, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int64 {
    let at = max(now.microseconds, (previous ?? now.microseconds - 1) + 1)
    try connection.runLater(
      """
      INSERT INTO code_attempt (scope_key, at, account_key, previous, way, result, enrollment_id,
        intervals, distance, step, address, user_agent)
      VALUES (\(place.pool), \(at), \(place.account), \(previous), \(place.way),
        \(finding.result), \(place.enrollment), \(place.intervals),
        \(finding.distance), \(finding.step), \(place.origin.address),
        \(place.origin.userAgent))
      """)
    return at
  }

  /// Increments the count of the account's last attempt if it had the same result, which doesn't
  /// count as a failure; if a factor is given, it must also match.
  ///
  /// This prevents codes that aren't checked, are expired, or belong to a suspended factor from
  /// filling the disk. Returns false if the last attempt doesn't match.
  static func repeated(
    _ result: CodeAttempt.Result, of account: Account, in pool: Pool,
    factor: ID<Factor>? = nil, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let last = account.lastCodeAttemptAt else { return false }
    return try connection.run(
      """
      UPDATE code_attempt SET times = times + 1
      WHERE scope_key = \(pool.key) AND at = \(last) AND account_key = \(account.key)
        AND result = \(result)
        AND (CAST(\(factor) AS TEXT) IS NULL OR enrollment_id = \(factor))
      """) == 1
  }

  /// Marks the near misses that a correct code followed soon after.
  ///
  /// Reads nothing if the account's last attempt was earlier, as before most sign-ins.
  ///
  /// - Returns: The near misses, oldest first.
  static func confirmNearMisses(
    of account: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> [NearMiss] {
    var confirmed: [NearMiss] = []
    let first = now.advanced(bySeconds: -soon).microseconds
    var next = account.lastCodeAttemptAt
    for _ in 0..<mostChecked {
      guard let at = next, at >= first, confirmed.count < mostConfirmed else { break }
      let row = try connection.first(
        """
        SELECT previous, result, way, distance FROM code_attempt
        WHERE scope_key = \(pool.key) AND at = \(at) AND account_key = \(account.key)
        """
      ) { row in
        (
          previous: try row.next() as Int64?, result: try row.next() as CodeAttempt.Result,
          nearMiss: NearMiss(
            at: Instant(microseconds: at), way: try row.next(), distance: try row.next())
        )
      }
      guard let row else { break }
      let (way, result) = (row.nearMiss.way, row.result)
      // A sign-in confirmed the near misses before it; an enrollment doesn't. Those before a
      // resynchronization are distances from the former time.
      if result.isSuccess, [.app, .phone, .resynchronization].contains(way) { break }
      if result == .late || result == .early {
        let changed = try connection.run(
          """
          UPDATE code_attempt SET confirmed = 1
          WHERE scope_key = \(pool.key) AND at = \(at) AND account_key = \(account.key)
            AND confirmed = 0
          """)
        if changed == 1 { confirmed.append(row.nearMiss) }
      }
      next = row.previous
    }
    return confirmed.reversed()
  }

  /// Deletes the code attempts of an account to be deleted, which remain counted.
  ///
  /// Those beyond a limited number are left to ``purgeDeleted(at:_:)``.
  static func delete(
    of account: Account, _ connection: borrowing Connection
  ) throws {
    try CodeAttemptCount.delete(account, connection)
    guard let last = account.lastCodeAttemptAt,
      let left = try deletePart(of: account.key, from: last, connection)
    else { return }
    try connection.run(
      "INSERT INTO deleted_attempts (account_key, at) VALUES (\(account.key), \(left))")
  }

  /// Deletes a limited number of the code attempts that are left of deleted accounts.
  static func purgeDeleted(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let first = try connection.first(
      """
      SELECT account_key, at FROM deleted_attempts WHERE account_key > 0
      ORDER BY account_key LIMIT 1
      """
    ) { (account: try $0.next() as Int64, at: try $0.next() as Int64) }
    guard let first else { return false }
    if let left = try deletePart(of: first.account, from: first.at, connection) {
      try connection.run(
        "UPDATE deleted_attempts SET at = \(left) WHERE account_key = \(first.account)")
    } else {
      try connection.run("DELETE FROM deleted_attempts WHERE account_key = \(first.account)")
    }
    return true
  }

  /// Deletes a limited number of an account's code attempts, newest first.
  ///
  /// - Returns: The time of the next one; nil if none is left.
  private static func deletePart(
    of account: Int64, from last: Int64, _ connection: borrowing Connection
  ) throws -> Int64? {
    var next: Int64? = last
    for _ in 0..<CleanupLimit.rows {
      guard let at = next else { break }
      let previous = try connection.first(
        """
        DELETE FROM code_attempt
        WHERE scope_key = \(Pool.key(ofAccount: account)) AND at = \(at)
          AND account_key = \(account)
        RETURNING previous
        """
      ) { try $0.next() as Int64? }
      next = previous.flatMap { $0 }
    }
    return next
  }

  /// Deletes all code attempts of a pool and their aggregated counts.
  static func deleteAll(in pool: Int64, _ connection: borrowing Connection) throws {
    try connection.run("DELETE FROM code_attempt WHERE scope_key = \(pool)")
    try Activity.deleteCounts(of: pool, connection)
  }
}
