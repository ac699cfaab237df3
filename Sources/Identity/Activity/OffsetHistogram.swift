import Database

/// How far the codes of authenticator apps were from the current interval at sign-in, over a number
/// of days.
public struct OffsetHistogram: Sendable, Equatable {
  /// The number of days, in UTC, the last of which is today.
  public let days: Int
  /// Accepted codes by distance plus 10: index 9 is one interval late.
  public internal(set) var accepted = [Int](repeating: 0, count: 21)
  public internal(set) var confirmed = [Int](repeating: 0, count: 21)
  public internal(set) var unconfirmed = [Int](repeating: 0, count: 21)
  /// Users on a day, by the largest distance of their accepted and confirmed codes of that day: each
  /// user is one observation per day.
  public internal(set) var userDays = [Int](repeating: 0, count: 11)
  /// Users by distance: index k is the number of users with an accepted or confirmed code at least k
  /// intervals away.
  public internal(set) var users = [Int](repeating: 0, count: 11)

  public init(days: Int) { self.days = days }

  public init(
    days: Int, accepted: [Int], confirmed: [Int], unconfirmed: [Int], userDays: [Int], users: [Int]
  ) {
    self.days = days
    self.accepted = accepted
    self.confirmed = confirmed
    self.unconfirmed = unconfirmed
    self.userDays = userDays
    self.users = users
  }

  static let range = -10...10

  mutating func add(_ counts: OffsetCounts, at distance: Int) {
    guard Self.range.contains(distance) else { return }
    let index = distance - Self.range.lowerBound
    accepted[index] += counts.accepted
    confirmed[index] += counts.confirmed
    unconfirmed[index] += counts.unconfirmed
  }
}

extension Activity {
  /// Returns how far codes were from the current interval in a pool, up to the last code.
  ///
  /// The period is 1 to 90 days in UTC, the last of which is today.
  public func offsets(
    in pool: Pool, days: Int
  ) async throws -> OffsetHistogram {
    let days = min(max(days, 1), 90)
    let first = store.clock.now().day - Int64(days) + 1
    return try await store.read { connection in
      var histogram = OffsetHistogram(days: days)
      let stored = try connection.all(
        """
        SELECT distance, accepted, confirmed, unconfirmed FROM offset_day
        WHERE scope_key = \(pool.key) AND day >= \(first)
        """
      ) { row in
        (
          distance: try row.next() as Int,
          counts: OffsetCounts(
            accepted: try row.next(), confirmed: try row.next(), unconfirmed: try row.next())
        )
      }
      for (distance, counts) in stored { histogram.add(counts, at: distance) }
      let userDays = try connection.all(
        """
        SELECT reach, users FROM reach_day WHERE scope_key = \(pool.key) AND day >= \(first)
        """
      ) { (reach: try $0.next() as Int, users: try $0.next() as Int) }
      for (reach, users) in userDays { histogram.userDays[reach] += users }
      if !userDays.isEmpty {
        // One range of the key for each reach.
        let users: [SQL] = CodeReach.range.map { reach in
          """
          SELECT CAST(\(reach) AS BIGINT), CAST(coalesce(sum(users), 0) AS BIGINT) FROM reach_users
          WHERE scope_key = \(pool.key) AND reach = \(reach) AND day >= \(first)
          """
        }
        for (reach, users) in try connection.all(
          users.joined(separator: " UNION ALL "),
          { (reach: try $0.next() as Int, users: try $0.next() as Int) })
        {
          histogram.users[reach] = users
        }
      }
      let tail = ActivityTally(try ActivityDelta.all(in: pool.key, connection))
      for (key, counts) in tail.offsets where key.day >= first {
        histogram.add(counts, at: key.distance)
      }
      for (key, users) in tail.userDays where key.day >= first {
        histogram.userDays[key.reach] += users
      }
      for (key, users) in tail.users where key.day >= first { histogram.users[key.reach] += users }
      return histogram
    }
  }
}
