import Database

/// How wrong guesses are slowed down.
///
/// The first `free` wrong guesses cost nothing. The next one, and each after it, closes the door:
/// for `first` seconds, then twice as long each time, up to `longest`.
struct Throttle: Sendable, Equatable {
  let free: Int
  let first: Int64
  let longest: Int64
  /// After how many seconds one guess is forgotten; nil when only a right one ends the count.
  var leak: Int64?
  /// Whether guesses of several people are counted together.
  ///
  /// A right guess then takes back itself and no other: an attacker has an account of their own to
  /// sign in to between two guesses.
  var isShared = false

  /// Codes of a second factor: from the fifth wrong one in a row 30 s, doubling to an hour.
  static let codes = Throttle(free: 4, first: 30, longest: 3_600)
  /// Passwords of one name from one network, or of one device: from the tenth wrong one 30 s,
  /// doubling to a quarter of an hour, and one is forgotten every quarter of an hour.
  static let passwords = Throttle(free: 9, first: 30, longest: 900, leak: 900)
  /// Passwords of one name from all networks: from the hundredth wrong one 30 s, doubling to five
  /// minutes, and one is forgotten every five minutes.
  ///
  /// One network's guesses are forgotten faster than it may make them, so no single network closes
  /// this door.
  static let names = Throttle(free: 99, first: 30, longest: 300, leak: 300, isShared: true)
  /// Wrong guesses from one network, whatever they aim at: one is forgotten every minute, since many
  /// people may share an address.
  ///
  /// More are free than passwords can wait to be hashed, since those that wait are counted too.
  static let networks = Throttle(free: 99, first: 30, longest: 900, leak: 60, isShared: true)

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
struct Guess: Sendable {
  let counter: GuessCounter
  /// Until when this guess closed the door; ``open`` when it did not.
  private let blockedUntil: Instant

  /// Stands for a door that is not closed.
  ///
  /// Not the moment of the guess: the next one may have looked at the clock before.
  private static let open = Instant(microseconds: 0)

  /// How long a count is remembered after its last guess, in seconds.
  private static let memory: Int64 = 86_400

  /// Whether a guess may be looked at.
  enum Taken {
    /// It may, and is charged to these counters.
    case taken([Guess])
    /// It may not, and is charged to none; from then on one may try again.
    case blocked(until: Instant)
  }

  /// A count as it is stored.
  private struct Row {
    let failures: Int
    let blockedUntil: Instant
    let since: Instant
  }

  private static func row(_ name: String, _ connection: borrowing Connection) throws -> Row? {
    try connection.first(
      "SELECT failures, blocked_until, expires_at FROM throttle WHERE name = \(name)"
    ) { row in
      Row(
        failures: try row.value(0), blockedUntil: Instant(microseconds: try row.value(1)),
        since: Instant(microseconds: try row.value(2)).advanced(bySeconds: -memory))
    }
  }

  /// Charges a guess to all of these counters, or to none when one of them is closed: what isn't
  /// looked at doesn't count.
  static func take(
    _ counters: [GuessCounter], at now: Instant, _ connection: borrowing Connection
  ) throws -> Taken {
    let rows = try counters.map { try row($0.name, connection) }
    let closed = rows.compactMap { $0?.blockedUntil }.filter { $0 > now }.max()
    if let closed { return .blocked(until: closed) }
    var taken: [Guess] = []
    for (counter, row) in zip(counters, rows) {
      taken.append(try charge(counter, row, at: now, connection))
    }
    return .taken(taken)
  }

  private static func charge(
    _ counter: GuessCounter, _ row: Row?, at now: Instant, _ connection: borrowing Connection
  ) throws -> Guess {
    var (failures, since) = (0, now)
    if let row, row.since.advanced(bySeconds: memory) > now {
      (failures, since) = (row.failures, now)
      if let leak = counter.rule.leak {
        let leaked = max(0, (now.seconds - row.since.seconds) / leak)
        failures = max(0, failures - Int(leaked))
        // What is left of the time goes on counting.
        if failures > 0 { since = row.since.advanced(bySeconds: leaked * leak) }
      }
    }
    let blocked = counter.rule.blockedUntil(afterFailures: failures + 1, at: now) ?? open
    let expires = since.advanced(bySeconds: memory)
    try connection.run(
      """
      INSERT INTO throttle (name, failures, blocked_until, expires_at)
      VALUES (\(counter.name), \(failures + 1), \(blocked.microseconds), \(expires.microseconds))
      ON CONFLICT (name) DO UPDATE SET failures = excluded.failures,
        blocked_until = excluded.blocked_until, expires_at = excluded.expires_at
      """)
    return Guess(counter: counter, blockedUntil: blocked)
  }

  /// Until when guesses of a name from anywhere are not looked at, as it is kept: it may be past; nil when nobody
  /// guessed.
  static func blockedUntil(
    _ name: String, _ connection: borrowing Connection
  ) throws -> Instant? {
    try connection.first("SELECT blocked_until FROM throttle WHERE name = \(name)") {
      Instant(microseconds: try $0.value(0))
    }
  }

  /// From how many networks guesses of a name aren't looked at now, and until when at the latest.
  static func blockedNetworks(
    of name: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> BlockedNetworks? {
    try connection.first(
      """
      SELECT count(*), max(blocked_until) FROM throttle
      WHERE name > \(name) AND name < \(name + "!") AND blocked_until > \(now.microseconds)
      """
    ) { row in
      let count: Int = try row.value(0)
      guard count > 0 else { return nil }
      return BlockedNetworks(count: count, until: Instant(microseconds: try row.value(1)))
    } ?? nil
  }

  /// Takes this one guess back, which was right or was not looked at, and opens the door again that
  /// it had closed.
  func giveBack(_ connection: borrowing Connection) throws {
    let name = counter.name
    let wasOnly = try connection.run("DELETE FROM throttle WHERE name = \(name) AND failures <= 1")
    guard wasOnly == 0 else { return }
    try connection.run(
      """
      UPDATE throttle SET failures = failures - 1,
        blocked_until = CASE WHEN blocked_until = \(blockedUntil.microseconds)
          OR failures - 1 <= \(counter.rule.free) THEN 0 ELSE blocked_until END
      WHERE name = \(name)
      """)
  }

  /// For how many seconds this guess closed the door; 0 when it did not.
  func closes(at now: Instant) -> Int64 { max(0, blockedUntil.seconds - now.seconds) }

  /// Counts guesses as right: a count of one person's is over, a shared one only takes this guess
  /// back.
  static func right(_ guesses: [Guess], _ connection: borrowing Connection) throws {
    for guess in guesses {
      if guess.counter.rule.isShared {
        try guess.giveBack(connection)
      } else {
        try connection.run("DELETE FROM throttle WHERE name = \(guess.counter.name)")
      }
    }
  }

  /// Forgets all guesses of a name from any network, when what is guessed at has changed.
  static func forget(_ name: String, _ connection: borrowing Connection) throws {
    // The networks' counters have the name, a space and the network; "!" is what follows the space.
    try connection.run(
      "DELETE FROM throttle WHERE name >= \(name) AND name < \(name + "!")")
  }
}
