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

/// A user whose codes a narrower window would have rejected, or a wider one accepted.
public struct AffectedUser: Sendable, Equatable {
  public let account: ID<Account>
  public let email: String?
  public let displayName: String?
  /// The largest distance of their accepted codes and confirmed near misses in the period, in
  /// intervals.
  public let reach: Int
  /// The distance of the farthest of these codes, negative if it was late; nil if the attempt is
  /// past its retention.
  public let distance: Int?
  /// The number of these codes beyond the window that are still in the code attempt log.
  public let codes: Int
}

extension Activity {
  /// Lists the users with accepted codes or confirmed near misses beyond a window, by the last day
  /// with such a code, newest first.
  ///
  /// The window has 0 to 9 adjacent intervals, since no code is beyond a wider one; the period is 1
  /// to 90 days in UTC, the last of which is today.
  public func affected(
    in pool: Pool, beyond window: Int, days: Int, after: String? = nil, limit: Int = 50
  ) async throws -> Page<AffectedUser> {
    let limit = Page<AffectedUser>.size(limit)
    let reach = max(window, 0) + 1
    guard CodeReach.range.contains(reach) else { return Page(items: [], next: nil) }
    let first = store.clock.now().day - Int64(min(max(days, 1), 90)) + 1
    let end = after.flatMap { ActivityCursor($0) } ?? ActivityCursor(at: .max, account: 0)
    return try await store.read { connection in
      let places = try Self.affected(
        in: pool.key, reach: reach, since: first, after: end, limit: limit + 1, connection)
      let items = try places.prefix(limit).compactMap { place in
        try Self.affectedUser(place.account, in: pool.key, reach, since: first, connection)
      }
      let next = places.count > limit ? places[limit - 1] : nil
      return Page(items: items, next: next?.cursor)
    }
  }

  /// Returns the next accounts, including those whose changes aren't folded yet.
  private static func affected(
    in pool: Int64, reach: Int, since first: Int64, after end: ActivityCursor, limit: Int,
    _ connection: borrowing Connection
  ) throws -> [ActivityCursor] {
    let tail = ActivityTally(try ActivityDelta.all(in: pool, connection)).accounts
    // Unfolded accounts may have left their place.
    var places = try connection.all(
      """
      SELECT day, account_key FROM reach_account
      WHERE scope_key = \(pool) AND reach = \(reach) AND day >= \(first)
        AND (day, account_key) < (\(end.at), \(end.account))
      ORDER BY day DESC, account_key DESC LIMIT \(limit + tail.count)
      """
    ) { try ActivityCursor(&$0) }
    guard !tail.isEmpty else { return places }
    places.removeAll { tail[$0.account] != nil }
    for (account, change) in tail where reach < change.current.days.count {
      let place = ActivityCursor(at: change.current.days[reach], account: account)
      if place.at >= first, place < end { places.append(place) }
    }
    return Array(places.sorted(by: >).prefix(limit))
  }

  private static func affectedUser(
    _ account: Int64, in pool: Int64, _ reach: Int, since first: Int64,
    _ connection: borrowing Connection
  ) throws -> AffectedUser? {
    guard let user = try user(account, connection), let largest = user.reach.reach(since: first)
    else { return nil }
    let start = first * 86_400_000_000
    let codes = try connection.first(
      """
      WITH RECURSIVE chain (at, way, result, distance, confirmed, previous) AS (
        SELECT at, way, result, distance, confirmed, previous FROM code_attempt
        WHERE scope_key = \(pool) AND at = \(user.last) AND account_key = \(account)
        UNION ALL
        SELECT v.at, v.way, v.result, v.distance, v.confirmed, v.previous
        FROM chain \(SQL.orderedJoin) code_attempt v
          ON v.scope_key = \(pool) AND v.at = chain.previous AND v.account_key = \(account)
        WHERE chain.at >= \(start)
      )
      SELECT count(*), min(distance), max(distance) FROM chain
      WHERE at >= \(start) AND way = 'app' AND (result = 'accepted' OR confirmed = 1)
        AND (distance >= \(reach) OR distance <= \(-reach))
      """
    ) { row in
      (
        count: try row.next() as Int, late: try row.next() as Int?, early: try row.next() as Int?
      )
    }
    let ends = [codes?.late, codes?.early].compactMap { $0 }
    return AffectedUser(
      account: user.id, email: user.email, displayName: user.name, reach: largest,
      distance: ends.max { abs($0) < abs($1) }, codes: codes?.count ?? 0)
  }
}
