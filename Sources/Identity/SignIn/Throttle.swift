import Database

/// How wrong guesses in a row are slowed down.
///
/// The first `free` wrong guesses cost nothing. The next one, and each after it, closes the door:
/// for `first` seconds, then twice as long each time, up to `longest`.
struct Throttle: Sendable {
  let free: Int
  let first: Int64
  let longest: Int64
  /// After how many seconds one guess is forgotten; nil when only a right one ends the row.
  var leak: Int64?

  /// Codes of a second factor: from the fifth wrong one in a row 30 s, doubling to an hour.
  static let codes = Throttle(free: 4, first: 30, longest: 3_600)
  /// Passwords of one account: from the tenth wrong one 30 s, doubling to a quarter of an hour, so
  /// that an outsider cannot lock somebody out for long.
  static let passwords = Throttle(free: 9, first: 30, longest: 900)
  /// Wrong guesses from one address, whatever they aim at.
  ///
  /// One is forgotten every five minutes, since many people may share an address. A right guess
  /// forgets no other: an attacker has an account of their own to sign in to between two guesses.
  /// More are free than passwords can wait to be hashed, since those that wait are counted too.
  static let addresses = Throttle(free: 99, first: 30, longest: 3_600, leak: 300)

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

/// A guess that was counted as wrong before it was looked at, so that guesses at the same time
/// cannot exceed what is allowed.
///
/// Guesses are counted by name: of an address, or of what is guessed at, whether that exists or
/// not.
struct Guess: Sendable {
  let name: String
  let rule: Throttle
  /// Until when this guess closed the door; ``open`` when it did not.
  private let blockedUntil: Instant

  /// Stands for a door that is not closed.
  ///
  /// Not the moment of the guess: the next one may have looked at the clock before.
  private static let open = Instant(microseconds: 0)

  /// How long a name is remembered after its last guess, in seconds.
  private static let memory: Int64 = 86_400

  /// What became of taking a guess.
  enum Taken {
    /// It may be looked at.
    case taken(Guess)
    /// It may not; from then on one may try again.
    case blocked(until: Instant)
  }

  static func take(
    _ name: String, _ rule: Throttle, at now: Instant, _ connection: borrowing Connection
  ) throws -> Taken {
    let row = try connection.first(
      "SELECT failures, blocked_until, expires_at FROM throttle WHERE name = \(name)"
    ) { row in
      (
        failures: try row.value(0) as Int, blocked: Instant(microseconds: try row.value(1)),
        since: Instant(microseconds: try row.value(2)).advanced(bySeconds: -memory)
      )
    }
    if let row, row.blocked > now { return .blocked(until: row.blocked) }
    var (failures, since) = (0, now)
    if let row, row.since.advanced(bySeconds: memory) > now {
      (failures, since) = (row.failures, now)
      if let leak = rule.leak {
        let leaked = max(0, (now.seconds - row.since.seconds) / leak)
        failures = max(0, failures - Int(leaked))
        // What is left of the time goes on counting.
        if failures > 0 { since = row.since.advanced(bySeconds: leaked * leak) }
      }
    }
    let blocked = rule.blockedUntil(afterFailures: failures + 1, at: now) ?? open
    let expires = since.advanced(bySeconds: memory)
    try connection.run(
      """
      INSERT INTO throttle (name, failures, blocked_until, expires_at)
      VALUES (\(name), \(failures + 1), \(blocked.microseconds), \(expires.microseconds))
      ON CONFLICT (name) DO UPDATE SET failures = excluded.failures,
        blocked_until = excluded.blocked_until, expires_at = excluded.expires_at
      """)
    return .taken(Guess(name: name, rule: rule, blockedUntil: blocked))
  }

  /// Until when guesses of a name are not looked at, as it is kept: it may be past; nil when nobody
  /// guessed.
  static func blockedUntil(
    _ name: String, _ connection: borrowing Connection
  ) throws -> Instant? {
    try connection.first("SELECT blocked_until FROM throttle WHERE name = \(name)") {
      Instant(microseconds: try $0.value(0))
    }
  }

  /// Takes this one guess back, which was right or was not looked at, and opens the door again that
  /// it had closed.
  func giveBack(_ connection: borrowing Connection) throws {
    try connection.run(
      """
      UPDATE throttle SET failures = max(failures - 1, 0),
        blocked_until = CASE WHEN blocked_until = \(blockedUntil.microseconds)
          OR failures - 1 <= \(rule.free) THEN 0 ELSE blocked_until END
      WHERE name = \(name)
      """)
  }

  /// For how many seconds this guess closed the door; 0 when it did not.
  func closes(at now: Instant) -> Int64 { max(0, blockedUntil.seconds - now.seconds) }

  /// Counts guesses as right: the row of wrong ones is over for a name, and not for an address,
  /// which only takes this one back.
  static func right(_ guesses: [Guess], _ connection: borrowing Connection) throws {
    for guess in guesses {
      if guess.rule.leak == nil {
        try forget(guess.name, connection)
      } else {
        try guess.giveBack(connection)
      }
    }
  }

  /// Forgets all guesses of a name, when what is guessed at has changed.
  static func forget(_ name: String, _ connection: borrowing Connection) throws {
    try connection.run("DELETE FROM throttle WHERE name = \(name)")
  }
}
