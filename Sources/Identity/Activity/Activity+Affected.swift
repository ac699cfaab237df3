import Database

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
