import Database

/// How wrong guesses in a row are slowed down.
///
/// The first `free` wrong guesses cost nothing. The next one, and each after it, closes the door:
/// for `first` seconds, then twice as long each time, up to `longest`.
struct Throttle: Sendable {
  let free: Int
  let first: Int64
  let longest: Int64

  /// Codes of a second factor: from the fifth wrong one in a row 30 s, doubling to an hour.
  static let codes = Throttle(free: 4, first: 30, longest: 3_600)
  /// Passwords of one account: from the tenth wrong one 30 s, doubling to a quarter of an hour, so
  /// that an outsider cannot lock somebody out for long.
  static let passwords = Throttle(free: 9, first: 30, longest: 900)
  /// Wrong guesses from one address, whatever they aim at.
  static let addresses = Throttle(free: 49, first: 30, longest: 3_600)

  /// For how many seconds the door closes after the `failures`th wrong guess in a row; 0: not.
  func seconds(afterFailures failures: Int) -> Int64 {
    guard failures > free else { return 0 }
    let doublings = min(failures - free - 1, 30)
    return min(longest, first << Int64(doublings))
  }

  /// When the door opens again; nil when it stays open.
  func blockedUntil(afterFailures failures: Int, at now: Instant) -> Instant? {
    let seconds = seconds(afterFailures: failures)
    return seconds == 0 ? nil : now.advanced(bySeconds: seconds)
  }
}

/// Counts wrong guesses by name, for what no account can carry: addresses, and names that may not
/// exist.
enum ThrottleRecord {
  /// Takes a guess before it is looked at, as if it were wrong, so that guesses at the same time
  /// cannot exceed what is allowed.
  ///
  /// - Returns: Nil when the guess may go on; otherwise the moment from which one may try again.
  static func take(
    _ name: String, _ rule: Throttle, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    let row = try connection.first(
      "SELECT failures, blocked_until, expires_at FROM throttle WHERE name = \(name)"
    ) { row in
      (
        failures: try row.value(0) as Int, blocked: try row.value(1) as Int64,
        expires: try row.value(2) as Int64
      )
    }
    if let row, row.blocked > now.microseconds { return Instant(microseconds: row.blocked) }
    let failures = row.map { $0.expires > now.microseconds ? $0.failures : 0 } ?? 0
    let blocked = rule.blockedUntil(afterFailures: failures + 1, at: now) ?? now
    // Forgotten a day after the last guess.
    let expires = now.advanced(bySeconds: 86_400)
    try connection.run(
      """
      INSERT INTO throttle (name, failures, blocked_until, expires_at)
      VALUES (\(name), \(failures + 1), \(blocked.microseconds), \(expires.microseconds))
      ON CONFLICT (name) DO UPDATE SET failures = excluded.failures,
        blocked_until = excluded.blocked_until, expires_at = excluded.expires_at
      """)
    return nil
  }

  /// Forgets the guesses of a name after a right one.
  static func clear(_ name: String, _ connection: borrowing Connection) throws {
    try connection.run("DELETE FROM throttle WHERE name = \(name)")
  }
}
