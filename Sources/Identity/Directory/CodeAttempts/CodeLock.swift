package import Database

public enum CodeLock: Sendable, Hashable {
  /// Codes are checked.
  case open
  /// Codes are blocked until a given time after several consecutive incorrect codes.
  case blocked(until: Instant)
  /// Codes are locked until an administrator unlocks them, after too many consecutive incorrect
  /// codes.
  case closed

  /// The stored end time of a lock that doesn't expire.
  package static let forever = Instant(microseconds: .max)

  init(until: Instant?, at now: Instant) {
    if let until, until > now {
      self = until == Self.forever ? .closed : .blocked(until: until)
    } else {
      self = .open
    }
  }

  /// Returns the time until which codes are blocked after consecutive incorrect codes.
  ///
  /// The clock may be the reason for incorrect codes while it's doubted, so codes are then blocked
  /// for the longest time instead of locked.
  ///
  /// - Returns: The end of the block; nil if codes are still checked.
  static func end(
    afterWrongCodes wrong: Int, cap: Int, at now: Instant, isClockDoubted: Bool = false
  ) -> Instant? {
    guard wrong >= cap else { return Throttle.codes.blockedUntil(afterFailures: wrong, at: now) }
    return isClockDoubted ? now.advanced(bySeconds: Throttle.codes.longest) : forever
  }
}

extension Account {
  public func codeLock(at now: Instant) -> CodeLock {
    CodeLock(until: codesBlockedUntil, at: now)
  }

  /// Returns the time until which codes are rejected without being checked; nil if they're checked.
  func codesBlocked(at now: Instant) -> Instant? {
    codeLock(at: now) == .open ? nil : codesBlockedUntil
  }
}

extension AccountSummary {
  public func codeLock(at now: Instant) -> CodeLock {
    CodeLock(until: codesBlockedUntil, at: now)
  }
}

extension AccountRecord {
  /// Blocks codes until a given time, or until ``unlockCodes(_:_:)`` is called.
  static func lockCodes(
    of account: Account, until: Instant, _ connection: borrowing Connection
  ) throws {
    try set("codes_blocked_until = \(until)", of: account.key, connection)
    guard account.codesBlockedUntil == nil else { return }
    try count(1, in: account.poolKey, connection)
  }

  /// Resets an account's count of incorrect codes and removes the lock.
  ///
  /// - Returns: True if there was a lock.
  @discardableResult
  static func unlockCodes(_ key: Int64, _ connection: borrowing Connection) throws -> Bool {
    try set("wrong_codes = 0", of: key, connection)
    let isUnlocked = try set(
      "codes_blocked_until = NULL", of: key, if: "codes_blocked_until IS NOT NULL", connection)
    guard isUnlocked else { return false }
    try count(-1, in: Pool.key(ofAccount: key), connection)
    return true
  }

  /// Counts accounts that were locked, or unlocked if it's negative.
  private static func count(
    _ locked: Int, in pool: Int64, _ connection: borrowing Connection
  ) throws {
    var change = AccountCounts()
    change.locked = locked
    try CountChanges.append(change, to: pool, connection)
  }

  /// Removes a batch of expired locks, and of those from a clock that was ahead; the counts of
  /// incorrect codes are kept.
  package static func expireLocks(at now: Instant, _ connection: borrowing Connection) throws
    -> Bool
  {
    let latest = Instant.latestEnd(of: Throttle.codes.longest, at: now)
    let isFull = try expireLocks("codes_blocked_until <= \(now)", connection)
    let isLatestFull = try expireLocks(
      """
      codes_blocked_until > \(latest)
        AND codes_blocked_until < \(CodeLock.forever)
      """, connection)
    return isFull || isLatestFull
  }

  private static func expireLocks(
    _ condition: SQL, _ connection: borrowing Connection
  ) throws -> Bool {
    let pools = try connection.all(
      """
      UPDATE account SET codes_blocked_until = NULL WHERE account_key IN (
        SELECT account_key FROM account WHERE \(condition) LIMIT \(CleanupLimit.rows))
      RETURNING scope_key
      """
    ) { try $0.next() as Int64 }
    for (pool, count) in Dictionary(grouping: pools, by: \.self).mapValues(\.count) {
      try self.count(-count, in: pool, connection)
    }
    return pools.count == CleanupLimit.rows
  }
}
