import Database

/// The codes of authenticator apps at sign-in, whatever their distance from the current interval.
public struct OffsetCounts: Sendable, Equatable {
  public internal(set) var accepted = 0
  /// Codes outside the window that a correct code of the same user followed soon after.
  public internal(set) var confirmed = 0
  /// Codes outside the window that may be guesses.
  public internal(set) var unconfirmed = 0

  mutating func add(_ other: OffsetCounts) {
    accepted += other.accepted
    confirmed += other.confirmed
    unconfirmed += other.unconfirmed
  }
}

extension Activity {
  /// Counts the codes in the histogram of a pool, and those in the same number of days before.
  ///
  /// The period is 1 to 45 days in UTC, the last of which is today.
  public func offsetCounts(
    in pool: Pool, days: Int
  ) async throws -> (latest: OffsetCounts, before: OffsetCounts) {
    let days = Int64(min(max(days, 1), 45))
    let first = store.clock.now().day - days + 1
    return try await store.read { connection in
      var latest = try Self.offsetCounts(in: pool, from: first, before: .max, connection)
      var before = try Self.offsetCounts(
        in: pool, from: first - days, before: first, connection)
      for (key, counts) in ActivityTally(try ActivityDelta.all(in: pool.key, connection)).offsets
      where OffsetHistogram.range.contains(key.distance) {
        if key.day >= first {
          latest.add(counts)
        } else if key.day >= first - days {
          before.add(counts)
        }
      }
      return (latest, before)
    }
  }

  private static func offsetCounts(
    in pool: Pool, from first: Int64, before last: Int64, _ connection: borrowing Connection
  ) throws -> OffsetCounts {
    let counts = try connection.first(
      """
      SELECT CAST(coalesce(sum(accepted), 0) AS BIGINT),
        CAST(coalesce(sum(confirmed), 0) AS BIGINT),
        CAST(coalesce(sum(unconfirmed), 0) AS BIGINT)
      FROM offset_day
      WHERE scope_key = \(pool.key) AND day >= \(first) AND day < \(last)
        AND distance BETWEEN \(OffsetHistogram.range.lowerBound)
          AND \(OffsetHistogram.range.upperBound)
      """
    ) { row in
      OffsetCounts(
        accepted: try row.next(), confirmed: try row.next(), unconfirmed: try row.next())
    }
    return counts ?? OffsetCounts()
  }
}
