import Database
import Synchronization

public struct ClockReading: Sendable, Equatable {
  public let shown: Instant
  public let stored: Instant?
  public let doubt: ClockDoubt?
  /// How far the clock has jumped since the start, positive if it's ahead.
  public let offset: Duration

  /// Whether it has jumped so far that someone has to compare it with another clock.
  public var hasJumped: Bool {
    abs(offset / .seconds(1)) > Double(ClockGuard.tolerableOffset)
  }
}

/// Compares the machine's clock with the newest stored time, with a steady clock, and with that of
/// the database's server, so that a wrong clock doesn't delete data by age.
///
/// While the clock is trusted, the time is stored about once a minute. The clock is doubted if the
/// server starts before the stored time or long after it, if the clock jumps far while the server
/// runs, or if it differs from that of the database's server. Doubt ends when the clock shows the
/// expected time again, or what the steady clock says since the start, or when an administrator
/// confirms the clock. Every jump is noticed, also one that's trusted.
public final class ClockGuard: Sendable {
  /// The maximum time after the newest stored time at which a start is trusted, in seconds: one
  /// week without a server.
  public static let furthestAhead: Int64 = 7 * 86_400
  /// The maximum forward jump while the server runs, in seconds.
  public static let furthestJump: Int64 = 3_600
  /// The maximum time the clock may be behind, or differ from that of the database's server, in
  /// seconds.
  public static let furthestBehind: Int64 = 120
  /// The change from one check to the next that's a jump, in seconds: time services correct smaller
  /// differences little by little.
  static let smallestJump: Int64 = 2
  /// The sum of jumps, in seconds, from which someone has to compare the clock with another: codes of
  /// most devices are refused.
  public static let tolerableOffset: Int64 = 30
  /// The precision of the stored time, in seconds.
  static let precision: Int64 = 60

  private static let seenAt = InstanceValue("clock_seen_at")
  /// How many seconds the clock of the database's server was ahead when the clock was confirmed.
  private static let confirmedDifference = InstanceValue("clock_database_difference")

  private struct Anchor {
    /// The last trusted time.
    var wall: Instant
    /// The steady clock's value at that time; nil if it was before this start.
    var steady: Duration?
    var stored: Instant?
  }

  private struct State {
    var anchor: Anchor?
    var doubt: ClockDoubt?
    /// The time since which the clock has kept pace with the steady one; nil before the first check and
    /// while it's doubted.
    var settled: (wall: Instant, steady: Duration)?
    var offset: Duration = .zero
    /// The first trusted time since the start, or since it was confirmed.
    var origin: (wall: Instant, steady: Duration)?
    /// The times at the last check.
    var last: (wall: Instant, steady: Duration)?
    /// The sum of the jumps that weren't taken; nil if there was none.
    var jump: Duration?
  }

  private let store: Store
  private let steady: @Sendable () -> Duration
  private let state = Mutex(State())

  init(store: Store, steady: @escaping @Sendable () -> Duration) {
    self.store = store
    self.steady = steady
  }

  /// The reason the clock isn't trusted; nil if it is, and before the first ``check()``.
  public var doubt: ClockDoubt? { state.withLock { $0.doubt } }

  /// The sum of all jumps since the start at the last ``check()``, positive if the clock is ahead; for
  /// a clock that wasn't trusted yet, its difference from the stored time.
  public var offset: Duration { state.withLock { $0.offset } }

  /// Returns the sum of the jumps since the last call, positive if the clock jumped ahead; nil if there
  /// was none.
  public func takeJump() -> Duration? { state.withLock { $0.jump.take() } }

  /// Returns whether the clock has been trusted and kept pace with the steady clock for as many
  /// seconds.
  func isSettled(for seconds: Int64) -> Bool {
    let settled = state.withLock { $0.settled?.steady }
    return settled.map { steady() - $0 >= .seconds(seconds) } ?? false
  }

  /// Checks the clock; ``Identity/checkClock()`` also compares it with the database server's.
  ///
  /// The difference, in seconds, is positive if the database's server is ahead; nil if it isn't
  /// compared.
  @discardableResult
  package func check(databaseAhead difference: Int64? = nil) async throws -> ClockDoubt? {
    let (wall, steady) = (store.clock.now(), steady())
    let (anchor, known) = state.withLock { ($0.anchor, $0.origin) }
    let isDoubted = doubt != nil
    let stored = anchor == nil || isDoubted ? try await keptTime() : anchor?.stored
    var next = anchor ?? Anchor(wall: stored ?? wall, steady: nil, stored: stored)
    var origin = known
    if isDoubted, let stored, stored != next.stored {
      // Another server, which trusts its clock, stored the time within the last minute, or someone
      // confirmed it; whether this clock shows that time remains to be seen.
      next = Anchor(wall: stored, steady: steady, stored: stored)
      origin = nil
    }
    var doubt = Self.doubt(about: wall, steady, next)
    if let known, Self.isTolerable(Self.expected(known, steady).seconds - wall.seconds) {
      doubt = nil
    }
    if doubt == nil { doubt = try await databaseDoubt(about: wall, difference) }
    let expected = origin.map { Self.expected($0, steady) } ?? Self.expected(next, steady)
    let offset = Duration.microseconds(wall.microseconds - expected.microseconds)
    // The time without a server isn't an offset.
    let isMeasured = doubt != nil || origin != nil
    if doubt == nil {
      origin = origin ?? (wall, steady)
      next.wall = wall
      next.steady = steady
      if next.stored.map({ abs(wall.seconds - $0.seconds) >= Self.precision }) ?? true {
        try await keep(wall, agrees: difference.map(Self.isTolerable) ?? false)
        next.stored = wall
      }
    }
    state.withLock {
      $0 = State(
        anchor: next, doubt: doubt,
        settled: doubt == nil ? Self.settled($0.settled, wall, steady) : nil,
        offset: isMeasured ? offset : .zero, origin: origin, last: (wall, steady),
        jump: Self.jump(since: $0.last, wall, steady).map { [before = $0.jump] in
          $0 + (before ?? .zero)
        } ?? $0.jump)
    }
    tell(doubt, after: next)
    return doubt
  }

  /// Tells the expected time, also of jumps until the next check.
  private func tell(_ doubt: ClockDoubt?, after anchor: Anchor) {
    store.expectedTime.set(doubt) { [steady = self.steady] in
      Self.doubt(about: $0, steady(), anchor)
    }
  }

  private static func jump(
    since last: (wall: Instant, steady: Duration)?, _ wall: Instant, _ steady: Duration
  ) -> Duration? {
    guard let last else { return nil }
    let expected = expected(last, steady)
    let change = Duration.microseconds(wall.microseconds - expected.microseconds)
    return abs(change / .seconds(1)) > Double(smallestJump) ? change : nil
  }

  private static func doubt(
    about wall: Instant, _ steady: Duration, _ anchor: Anchor
  ) -> ClockDoubt? {
    let expected = expected(anchor, steady)
    let ahead = anchor.steady == nil ? furthestAhead : furthestJump
    let allowed =
      expected.advanced(bySeconds: -furthestBehind)...expected.advanced(bySeconds: ahead)
    return allowed.contains(wall) ? nil : ClockDoubt(expected: expected, shown: wall)
  }

  private func databaseDoubt(
    about wall: Instant, _ difference: Int64?
  ) async throws -> ClockDoubt? {
    guard let difference, !Self.isTolerable(difference) else { return nil }
    let confirmed = try await store.read { connection in
      try Self.confirmedDifference.readNumber(connection) ?? 0
    }
    guard !Self.isTolerable(difference - confirmed) else { return nil }
    return ClockDoubt(
      expected: wall.advanced(bySeconds: difference), shown: wall, isByDatabase: true)
  }

  private static func isTolerable(_ difference: Int64) -> Bool {
    difference.magnitude <= furthestBehind
  }

  /// Returns since when the clock has kept pace with the steady one: now if it hasn't.
  private static func settled(
    _ since: (wall: Instant, steady: Duration)?, _ wall: Instant, _ steady: Duration
  ) -> (wall: Instant, steady: Duration) {
    guard let since else { return (wall, steady) }
    let difference = wall.seconds - expected(since, steady).seconds
    return difference.magnitude < precision ? since : (wall, steady)
  }

  private static func expected(_ anchor: Anchor, _ steady: Duration) -> Instant {
    guard let since = anchor.steady else { return anchor.wall }
    return expected((anchor.wall, since), steady)
  }

  private static func expected(
    _ since: (wall: Instant, steady: Duration), _ steady: Duration
  ) -> Instant {
    let (seconds, attoseconds) = (steady - since.steady).components
    return Instant(
      microseconds: since.wall.microseconds + seconds * 1_000_000
        + attoseconds / 1_000_000_000_000)
  }

  /// Confirms that the clock is correct, which ends the doubt of every server on this database
  /// whose clock shows that time, at its next check.
  ///
  /// The caller is an owner of the instance, or the command line.
  ///
  /// - Returns: The confirmed time; nil if the clock is trusted, in which case an administrator's proof
  ///   isn't checked.
  @discardableResult
  public func confirm(by caller: Caller) async throws -> ActionOutcome<Instant?> {
    guard doubt != nil || caller.request == nil else {
      return ActionOutcome(value: nil, renewed: nil)
    }
    let clock = store.clock
    let outcome = try await store.run(.confirmClock, by: caller, in: .instance) {
      context, connection -> Instant? in
      try context.record(try Self.confirm(context.now, clock, connection), connection)
      return context.now
    }
    if let now = outcome.value { trust(now) }
    return outcome
  }

  private static func confirm(
    _ now: Instant, _ clock: WallClock, _ connection: borrowing Connection
  ) throws -> AuditEntry {
    let before = try stored(connection)
    try keep(now, connection)
    let difference = try databaseDifference(clock, connection) ?? 0
    try confirmedDifference.store(
      isTolerable(difference) ? nil : String(difference), connection)
    var entry = AuditEntry(.instanceConfirmClock, .instance, "", name: "")
    entry.add(.time, from: .optional(before), to: .instant(now))
    return entry
  }

  private func trust(_ now: Instant) {
    let steady = steady()
    let anchor = Anchor(wall: now, steady: steady, stored: now)
    state.withLock { state in
      guard state.anchor != nil else { return }
      state = State(
        anchor: anchor, origin: (now, steady), last: (now, steady), jump: state.jump)
    }
    tell(nil, after: anchor)
  }

  public func reading() async throws -> ClockReading {
    let stored = try await storedTime()
    let (doubt, offset) = state.withLock { ($0.doubt, $0.offset) }
    return ClockReading(shown: store.clock.now(), stored: stored, doubt: doubt, offset: offset)
  }

  /// Returns the stored time; if there is none, stores and returns the time of the newest entry, so
  /// that entries written under a doubted clock can't replace it.
  private func keptTime() async throws -> Instant? {
    let kept = try await store.read { try Self.stored($0) }
    if let kept { return kept }
    guard let latest = try await storedTime() else { return nil }
    try await keep(latest)
    return latest
  }

  private func storedTime() async throws -> Instant? {
    try await store.read { connection in
      try Self.stored(connection) ?? StoredTime.latest(connection)
    }
  }

  /// Stores the time; if the clock agrees with that of the database's server, no other clock was
  /// rightly confirmed against it.
  private func keep(_ moment: Instant, agrees: Bool = false) async throws {
    try await store.write { connection in
      try Self.keep(moment, connection)
      if agrees { try Self.confirmedDifference.store(nil, connection) }
    }
  }

  /// Reads the newest stored time at which the clock was trusted; nil for a database that predates
  /// this check.
  static func stored(_ connection: borrowing Connection) throws -> Instant? {
    try seenAt.readNumber(connection).map(Instant.init(microseconds:))
  }

  private static func keep(_ moment: Instant, _ connection: borrowing Connection) throws {
    try seenAt.store(String(moment.microseconds), connection)
  }
}

public enum DatabaseClock: Sendable, Equatable {
  /// It's the same clock, because the database is a file.
  case shared
  /// They differ by less than ``tolerance``.
  case agrees
  /// It's this many seconds ahead of this machine's, or behind if the number is negative.
  case differs(seconds: Int64)

  /// The difference between the clocks of servers on one database, in seconds, from which they
  /// compare codes, leases, and expiry differently.
  static let tolerance: Int64 = 5
}

extension Identity {
  public func databaseClock() async throws -> DatabaseClock {
    guard let difference = try await databaseClockDifference() else { return .shared }
    return difference.magnitude < DatabaseClock.tolerance ? .agrees : .differs(seconds: difference)
  }

  /// Returns how many seconds the clock of the database's machine is ahead of this one's, negative if
  /// it's behind; nil for a file, which has this machine's clock.
  func databaseClockDifference() async throws -> Int64? {
    guard store.database.dialect.sharesDatabase else { return nil }
    return try await store.read { [clock] connection in
      try ClockGuard.databaseDifference(clock, connection)
    }
  }

  /// Checks the clock; call it at startup and then every few seconds.
  @discardableResult
  public func checkClock() async throws -> ClockDoubt? {
    try await clockGuard.check(databaseAhead: try await databaseClockDifference())
  }
}

extension ClockGuard {
  /// Returns how many seconds the clock of the database's machine is ahead of a clock; nil for a
  /// file.
  static func databaseDifference(
    _ clock: WallClock, _ connection: borrowing Connection
  ) throws -> Int64? {
    guard connection.dialect.sharesDatabase else { return nil }
    let start = clock.now().microseconds
    let theirs = try connection.first("SELECT \(SQL.machineTime)") { try $0.next() as Int64 }
    guard let theirs else { return nil }
    // The answer is from any moment between the question and now.
    let end = max(clock.now().microseconds, start)
    let difference = theirs < start ? theirs - start : max(theirs - end, 0)
    return difference / 1_000_000
  }
}
