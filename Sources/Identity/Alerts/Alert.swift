public import Database

/// Unusual activity across the users of a pool, which no single account shows.
public struct Alert: Sendable, Equatable {
  /// What is unusual; the raw value is the stored name.
  public enum Kind: String, CaseIterable, Sendable, SQLConvertible {
    /// Incorrect codes for many users at once: someone may be guessing one code for each.
    case spraying
    /// The codes of most users are off in the same direction: the server's clock may be wrong.
    case drift
    /// Many more users than usual lost second factors.
    case removals
    /// As many text messages as may be sent on a day, in all or to one region.
    case textMessages = "text-messages"
  }

  public let pool: Pool
  public let kind: Kind
  public let startedAt: Instant
  public let lastSeenAt: Instant
  /// The largest count so far: users, users who lost second factors in an hour, or text messages on a day.
  public let count: Int

  static let columns: SQL = """
    \(Pool.columns), l.kind, l.started_at, l.last_seen_at, l.count
    """

  init(_ row: inout Row) throws {
    pool = try Pool(&row)
    kind = try row.next()
    startedAt = try row.next()
    lastSeenAt = try row.next()
    count = try row.next()
  }
}

public enum AlertThreshold {
  /// The period in which incorrect codes count as one attack, in seconds.
  public static let sprayingPeriod: Int64 = 600
  /// The smallest number of users with an incorrect code; fewer mistype in ten minutes anyway.
  public static let leastSprayed = 10
  /// One of this many enrolled users must have an incorrect code in a large pool.
  public static let enrolledPerSprayed = 200
  /// The period in which offsets are compared, in seconds.
  public static let driftPeriod: Int64 = 3_600
  public static let leastDrifting = 20
  /// The smallest median offset, in 30-second intervals.
  public static let leastOffset = 1
  /// The period in which removals are counted, in seconds.
  public static let removalPeriod: Int64 = 3_600
  /// The number of users with removals in an hour that's never unusual.
  public static let usualRemovals = 5
  /// How many times the usual number of removals is unusual.
  public static let removalFactor = 5
  /// The period that determines the usual number of removals in an hour, in days.
  public static let removalDays = 30
  /// How long nothing unusual may be seen until an alert ends, in seconds.
  public static let quietPeriod: Int64 = 1_800

  /// Returns the number of users with an incorrect code within ten minutes that is unusual.
  public static func sprayed(ofEnrolled users: Int) -> Int {
    max(leastSprayed, (users + enrolledPerSprayed - 1) / enrolledPerSprayed)
  }

  /// Returns true if the offsets of distinct users' codes have a median that isn't near 0.
  static func isDrift(_ offsets: [Int]) -> Bool {
    guard offsets.count >= leastDrifting else { return false }
    let sorted = offsets.sorted()
    let doubledMedian = sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]
    return abs(doubledMedian) >= 2 * leastOffset
  }

  /// Returns true if a number of users with removals in the last hour is unusual, given the number
  /// in the thirty days before, in which each user counts once a day.
  static func isUnusual(removals: Int, after before: Int) -> Bool {
    removals > usualRemovals && removals * removalDays * 24 > removalFactor * before
  }
}
