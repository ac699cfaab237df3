import Database

/// Whether the codes of an account are looked at.
public enum CodeLock: Sendable, Hashable {
  /// They are.
  case open
  /// They are not until a moment, since several in a row were wrong.
  case blocked(until: Instant)
  /// They are not until somebody unlocks them, since too many in a row were wrong.
  case closed

  /// Stands where the end of a lock is kept, for one that does not end by itself.
  static let forever = Instant(microseconds: .max)

  /// Reads the end of a lock, as it is kept.
  init(until: Instant?, at now: Instant) {
    if let until, until > now {
      self = until == Self.forever ? .closed : .blocked(until: until)
    } else {
      self = .open
    }
  }

  /// When codes are looked at again after so many wrong ones in a row.
  ///
  /// - Parameters:
  ///   - wrong: How many in a row.
  ///   - cap: With how many the codes are closed.
  ///   - now: The moment of the last one.
  /// - Returns: The moment; nil when codes still are looked at.
  static func end(afterWrongCodes wrong: Int, cap: Int, at now: Instant) -> Instant? {
    wrong >= cap ? forever : Throttle.codes.blockedUntil(afterFailures: wrong, at: now)
  }
}

extension Account {
  /// Whether codes are looked at.
  public func codeLock(at now: Instant) -> CodeLock {
    CodeLock(until: codesBlockedUntil, at: now)
  }
}

extension AccountSummary {
  /// Whether codes are looked at.
  public func codeLock(at now: Instant) -> CodeLock {
    CodeLock(until: codesBlockedUntil, at: now)
  }
}

extension AccountRecord {
  /// Lets no code be looked at for a while, or until ``unlockCodes(_:_:)``.
  static func lockCodes(
    of account: Account, until: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE account SET codes_blocked_until = \(until.microseconds)
      WHERE account_key = \(account.key)
      """)
    guard account.codesBlockedUntil == nil else { return }
    try connection.run(
      """
      UPDATE scope SET locked_users = locked_users + 1 WHERE scope_key = \(account.key >> 40)
      """)
  }

  /// Ends the row of wrong codes of an account, and the lock that it led to.
  ///
  /// - Returns: Whether there was a lock.
  @discardableResult
  static func unlockCodes(_ key: Int64, _ connection: borrowing Connection) throws -> Bool {
    try connection.run("UPDATE account SET wrong_codes = 0 WHERE account_key = \(key)")
    let unlocked = try connection.run(
      """
      UPDATE account SET codes_blocked_until = NULL
      WHERE account_key = \(key) AND codes_blocked_until IS NOT NULL
      """)
    guard unlocked > 0 else { return false }
    try connection.run(
      "UPDATE scope SET locked_users = locked_users - 1 WHERE scope_key = \(key >> 40)")
    return true
  }

  /// Forgets locks that have ended by themselves, a share at a time; the wrong codes stay counted.
  static func expireLocks(at now: Instant, _ connection: borrowing Connection) throws {
    let scopes = try connection.all(
      """
      UPDATE account SET codes_blocked_until = NULL WHERE account_key IN (
        SELECT account_key FROM account WHERE codes_blocked_until <= \(now.microseconds)
        LIMIT 500)
      RETURNING scope_key
      """
    ) { try $0.value(0) as Int64 }
    for (scope, count) in Dictionary(grouping: scopes, by: \.self).mapValues(\.count) {
      try connection.run(
        "UPDATE scope SET locked_users = locked_users - \(count) WHERE scope_key = \(scope)")
    }
  }
}
