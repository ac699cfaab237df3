import Database

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
