import Database
import Synchronization

/// A rule that slows down wrong guesses.
///
/// The first `free` wrong guesses have no effect. Each one after them blocks further guesses: for
/// `first` seconds, then twice as long each time, up to `longest`.
struct Throttle: Sendable, Equatable {
  let free: Int
  let first: Int64
  let longest: Int64
  /// The number of seconds after which one guess is forgotten; nil if only a correct guess resets
  /// the count.
  var leak: Int64?
  /// Whether the guesses of several people are counted together.
  ///
  /// A correct guess then reverses only its own count, because an attacker could otherwise reset
  /// the count by signing in to their own account between guesses.
  var isShared = false

  /// Codes of a second factor: 30 s from the fifth wrong one in a row, doubling up to an hour.
  static let codes = Throttle(free: 4, first: 30, longest: 3_600)
  /// Passwords for one name from one network, or from one device: 30 s from the tenth wrong one,
  /// doubling up to 15 minutes; one is forgotten every 15 minutes.
  static let passwords = Throttle(free: 9, first: 30, longest: 900, leak: 900)
  /// Passwords for one name from all networks: 30 s from the hundredth wrong one, doubling up to
  /// five minutes; one is forgotten every five minutes.
  ///
  /// Guesses from one network are forgotten faster than that network may make them, so no single
  /// network can trigger this block.
  static let names = Throttle(free: 99, first: 30, longest: 300, leak: 300, isShared: true)
  /// Wrong guesses from one network for any name; one is forgotten every minute, because many
  /// people may share an address.
  ///
  /// `free` exceeds the number of passwords that can wait to be hashed, because waiting ones are
  /// counted too.
  static let networks = Throttle(free: 99, first: 30, longest: 900, leak: 60, isShared: true)

  /// Returns how long guesses are blocked after the `failures`th wrong guess in a row, in seconds;
  /// 0 if they aren't.
  func seconds(afterFailures failures: Int) -> Int64 {
    guard failures > free else { return 0 }
    let doublings = min(failures - free - 1, 30)
    return min(longest, first << Int64(doublings))
  }

  func blockedUntil(afterFailures failures: Int, at now: Instant) -> Instant? {
    let seconds = seconds(afterFailures: failures)
    return seconds == 0 ? nil : now.advanced(bySeconds: seconds)
  }
}

/// A guess recorded in one counter.
///
/// It's recorded as wrong before it's checked, so that concurrent guesses can't exceed the limits.
struct ThrottleCharge: Sendable {
  let counter: ThrottleCounter
  /// The end of the block that this guess caused; ``open`` if it caused none.
  let blockedUntil: Instant

  /// The value for no block.
  ///
  /// It isn't the time of the guess, because the next guess may have read the clock before it.
  private static let open = Instant(microseconds: 0)

  /// How long a count is kept after its last guess, in seconds.
  private static let memory: Int64 = 86_400

  enum Outcome {
    /// It may be checked; there is one charge per counter.
    case charged([ThrottleCharge])
    /// It may not be checked, and isn't counted; retry after this time.
    case blocked(until: Instant)
  }

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
        failures: try row.next(), blockedUntil: try row.next(),
        since: (try row.next() as Instant).advanced(bySeconds: -memory))
    }
  }

  /// Counts a guess in all of these counters, or in none if one of them is blocked, because a guess
  /// that isn't checked isn't counted.
  static func charge(
    _ counters: [ThrottleCounter], at now: Instant, _ connection: borrowing Connection
  ) throws -> Outcome {
    let rows = try counters.map { try row($0.name, connection) }
    let blockedUntil = zip(counters, rows).compactMap { counter, row in
      row?.blockedUntil.pending(for: counter.rule.longest, at: now)
    }.max()
    if let blockedUntil { return .blocked(until: blockedUntil) }
    var charges: [ThrottleCharge] = []
    for (counter, row) in zip(counters, rows) {
      charges.append(try increment(counter, row, at: now, connection))
    }
    return .charged(charges)
  }

  private static func increment(
    _ counter: ThrottleCounter, _ row: Row?, at now: Instant, _ connection: borrowing Connection
  ) throws -> ThrottleCharge {
    var (failures, since) = (0, now)
    if let row, row.since.advanced(bySeconds: memory) > now {
      (failures, since) = (row.failures, now)
      if let leak = counter.rule.leak {
        let leaked = max(0, (now.seconds - row.since.seconds) / leak)
        failures = max(0, failures - Int(leaked))
        // Keeps the elapsed part of the current leak interval.
        if failures > 0 { since = min(row.since.advanced(bySeconds: leaked * leak), now) }
      }
    }
    let blocked = counter.rule.blockedUntil(afterFailures: failures + 1, at: now) ?? open
    let expires = since.advanced(bySeconds: memory)
    try connection.run(
      """
      INSERT INTO throttle (name, failures, blocked_until, expires_at)
      VALUES (\(counter.name), \(failures + 1), \(blocked), \(expires))
      ON CONFLICT (name) DO UPDATE SET failures = excluded.failures,
        blocked_until = excluded.blocked_until, expires_at = excluded.expires_at
      """)
    return ThrottleCharge(counter: counter, blockedUntil: blocked)
  }

  static func blockedUntil(
    _ counter: ThrottleCounter, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    try row(counter.name, connection)?.blockedUntil.pending(for: counter.rule.longest, at: now)
  }

  /// Returns how many networks are currently blocked for a name, and the latest time at which a
  /// block ends.
  static func blockedNetworks(
    of counter: CounterName, at now: Instant, _ connection: borrowing Connection
  ) throws -> BlockedNetworks? {
    let name = counter.text
    let latest = Instant.latestEnd(of: Throttle.passwords.longest, at: now)
    return try connection.first(
      """
      SELECT count(*), max(blocked_until) FROM throttle
      WHERE name > \(name) AND name < \(name + "!")
        AND blocked_until > \(now) AND blocked_until <= \(latest)
      """
    ) { row in
      let count: Int = try row.next()
      guard count > 0 else { return nil }
      return BlockedNetworks(count: count, until: try row.next())
    } ?? nil
  }

  /// Reverses the count of this one guess, which was correct or wasn't checked, and lifts the block
  /// that it caused.
  func refund(_ connection: borrowing Connection) throws {
    let name = counter.name
    let wasOnly = try connection.run("DELETE FROM throttle WHERE name = \(name) AND failures <= 1")
    guard wasOnly == 0 else { return }
    try connection.run(
      """
      UPDATE throttle SET failures = failures - 1,
        blocked_until = CASE WHEN blocked_until = \(blockedUntil)
          OR failures - 1 <= \(counter.rule.free) THEN 0 ELSE blocked_until END
      WHERE name = \(name)
      """)
  }

  /// Records correct guesses: resets counts of a single person, and reverses only this guess in
  /// shared ones.
  static func recordSuccess(_ charges: [ThrottleCharge], _ connection: borrowing Connection) throws
  {
    for charge in charges {
      if charge.counter.rule.isShared {
        try charge.refund(connection)
      } else {
        try connection.run("DELETE FROM throttle WHERE name = \(charge.counter.name)")
      }
    }
  }

  /// Deletes all guesses for a name from any network, after the guessed secret changed.
  static func reset(_ counter: CounterName, _ connection: borrowing Connection) throws {
    let name = counter.text
    // The names of the networks' counters are the name, a space, and the network; "!" follows the
    // space in byte order.
    try connection.run(
      "DELETE FROM throttle WHERE name >= \(name) AND name < \(name + "!")")
  }
}

extension Throttle {
  static func deleteExpired(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.deletePart(
      "FROM throttle WHERE expires_at < \(now)", of: "throttle", by: "name")
  }
}

/// A counter of wrong guesses: for a name, whether it exists or not, a network, or a device.
struct ThrottleCounter: Sendable, Equatable {
  /// The guesses that are counted together.
  enum Reach: Sendable {
    /// Guesses from one network, for any name.
    case network
    /// Guesses for one name from one network.
    case nameFromNetwork
    /// Guesses for one name from anywhere.
    case name
    /// Guesses from a browser that an administrator has signed in with before.
    case device
    /// Guesses in sessions of an account.
    case account
  }

  /// The key of the stored counter.
  let name: String
  let rule: Throttle
  let reach: Reach

  init(_ name: CounterName, _ rule: Throttle, _ reach: Reach) {
    (self.name, self.rule, self.reach) = (name.text, rule, reach)
  }

  /// Returns the counter of a network, which slows down an attacker who tries many names.
  static func network(_ name: CounterName) -> ThrottleCounter {
    ThrottleCounter(name, .networks, .network)
  }

  /// Returns the counter of a network that calls the API; none in the emulator profile, because all
  /// users of an application's tests have the address of one machine.
  static func client(
    _ client: ClientAddress, in pool: Pool, _ profile: Profile
  ) -> [ThrottleCounter] {
    profile == .emulator ? [] : [network(.passwords(from: client, in: pool.key))]
  }

  /// Returns the two counters of a name: guesses from one network block that network only, and a
  /// slower counter limits the guesses from all networks together.
  static func name(_ name: CounterName, from client: ClientAddress) -> [ThrottleCounter] {
    [
      ThrottleCounter(name.from(client), .passwords, .nameFromNetwork),
      everywhere(name),
    ]
  }

  /// Returns the counter of a name for the guesses from all networks together.
  static func everywhere(_ name: CounterName) -> ThrottleCounter {
    ThrottleCounter(name, .names, .name)
  }
}

/// Networks whose passwords for one account aren't checked.
public struct BlockedNetworks: Sendable, Equatable {
  public let count: Int
  /// When the last of them can retry.
  public let until: Instant
}

/// Counts the passwords of sign-ins since the start, by who typed them and what came of them.
public final class PasswordAttempts: Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    case user
    case administrator
  }

  public enum Result: String, Sendable, CaseIterable {
    /// It's correct, so a second factor or the session follows.
    case correct
    /// It's incorrect, or there's no such account.
    case incorrect
    /// It wasn't checked, because of too many incorrect ones.
    case blocked
    /// The sign-in ended for another reason.
    case other
  }

  private struct Key: Hashable {
    let kind: Kind
    let result: Result
  }

  private let counts = Mutex<[Key: Int]>([:])

  func add(_ kind: Kind, _ result: Result) {
    counts.withLock { $0[Key(kind: kind, result: result), default: 0] += 1 }
  }

  public func count(_ kind: Kind, _ result: Result) -> Int {
    counts.withLock { $0[Key(kind: kind, result: result)] ?? 0 }
  }
}
