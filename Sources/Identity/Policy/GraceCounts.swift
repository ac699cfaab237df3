import Synchronization

/// Counts of users of large pools who still have time to enroll.
///
/// Counting hundreds of thousands of users takes longer than a page may, so a count is kept for up to
/// a minute. Those of small pools aren't kept.
final class GraceCounts: Sendable {
  private struct Entry {
    let version: Int
    let end: Instant
    let count: Int
  }

  /// The number of users of a pool up to which they are counted each time.
  static let small = 10_000
  /// How long a count is kept, in seconds.
  static let lifetime: Int64 = 60
  /// The maximum number of counts; when it's exceeded, all are dropped.
  private static let limit = 1_000
  private let entries = Mutex<[Int64: Entry]>([:])

  /// Returns the count kept for a version of a pool's policy, or else the result of `count`.
  func value(
    of pool: Int64, version: Int, users: Int, at now: Instant, orCount count: () throws -> Int
  ) rethrows -> Int {
    guard users > Self.small else { return try count() }
    if let entry = entries.withLock({ $0[pool] }), entry.version == version, now < entry.end,
      now >= entry.end.advanced(bySeconds: -Self.lifetime)
    {
      return entry.count
    }
    let found = try count()
    entries.withLock { entries in
      if entries.count >= Self.limit { entries = [:] }
      entries[pool] = Entry(
        version: version, end: now.advanced(bySeconds: Self.lifetime), count: found)
    }
    return found
  }
}
