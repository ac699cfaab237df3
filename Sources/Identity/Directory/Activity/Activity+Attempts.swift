import Database

public struct ActivityFilter: Sendable, Hashable {
  /// The outcomes; empty for all.
  public var outcomes: Set<CodeAttempt.Outcome>
  public var kind: Factor.Kind?
  /// The user; nil for all.
  public var account: ID<Account>?
  public var from: Instant?
  /// The time after the last; nil for the newest attempt.
  public var to: Instant?

  public init(
    outcomes: Set<CodeAttempt.Outcome> = [], kind: Factor.Kind? = nil,
    account: ID<Account>? = nil, from: Instant? = nil, to: Instant? = nil
  ) {
    self.outcomes = outcomes
    self.kind = kind
    self.account = account
    self.from = from
    self.to = to
  }

  fileprivate var ways: [CodeAttempt.Way] {
    CodeAttempt.Way.allCases.filter { kind == nil || kind == $0.kind }
  }

  fileprivate func matches(_ attempt: CodeAttempt) -> Bool {
    (outcomes.isEmpty || outcomes.contains(attempt.result.outcome))
      && (kind == nil || kind == attempt.way.kind)
  }
}

extension CodeAttempt.Way {
  public var kind: Factor.Kind { isSent ? .phone : .totp }
}

public struct UserCodeAttempt: Sendable {
  public let attempt: CodeAttempt
  public let account: ID<Account>
  public let email: String?
  public let displayName: String?
}

extension Activity {
  /// The number of attempts that a page may skip; a page with fewer items than its limit can have a
  /// successor.
  static let mostSkipped = 20_000
  private static let skippedAtOnce = 500

  /// Lists a pool's code attempts, newest first.
  ///
  /// - Returns: A page. If few attempts match, it can have fewer items than `limit`, or none, and a
  ///   cursor.
  public func attempts(
    in pool: Pool, _ filter: ActivityFilter = ActivityFilter(), after: String? = nil,
    limit: Int = 50
  ) async throws -> Page<UserCodeAttempt> {
    let limit = Page<UserCodeAttempt>.size(limit)
    let oldest = filter.from?.microseconds ?? 0
    // Keys are compared with those before this one.
    var end = ActivityCursor(at: filter.to?.microseconds ?? .max, account: 0)
    if let after = after.flatMap({ ActivityCursor($0) }) { end = min(end, after) }
    let isRejection = !filter.outcomes.isEmpty && !filter.outcomes.contains(.accepted)
    return try await store.read { [end] connection in
      if let id = filter.account {
        return try Self.ofUser(id, filter, in: pool, from: oldest, to: end, limit, connection)
      }
      let found =
        isRejection
        ? try Self.rejected(filter, in: pool.key, from: oldest, to: end, limit + 1, connection)
        : try Self.matching(filter, in: pool.key, from: oldest, to: end, limit + 1, connection)
      let items = try found.places.prefix(limit).compactMap { place in
        try Self.attempt(place, in: pool.key, connection)
      }
      let next = found.places.count > limit ? found.places[limit - 1] : found.end
      return Page(items: items, next: next?.cursor)
    }
  }

  /// Lists the attempts of one user, whom `filter` names.
  private static func ofUser(
    _ id: ID<Account>, _ filter: ActivityFilter, in pool: Pool, from oldest: Int64,
    to end: ActivityCursor, _ limit: Int, _ connection: borrowing Connection
  ) throws -> Page<UserCodeAttempt> {
    guard let account = try AccountRecord.find(pool, id, connection) else {
      return Page(items: [], next: nil)
    }
    var items: [UserCodeAttempt] = []
    // A cursor is the last attempt of a page.
    var next = end.account == account.key ? end.at : account.lastCodeAttemptAt ?? 0
    var read = 0
    while read < mostSkipped {
      let part = try CodeAttempts.list(
        account, from: next, limit: max(limit, CodeAttempts.shown), connection)
      for attempt in part.items {
        let at = attempt.at.microseconds
        guard at >= oldest else { return Page(items: items, next: nil) }
        guard at < end.at, filter.matches(attempt) else { continue }
        if items.count == limit, let last = items.last {
          let place = ActivityCursor(at: last.attempt.at.microseconds, account: account.key)
          return Page(items: items, next: place.cursor)
        }
        items.append(
          UserCodeAttempt(
            attempt: attempt, account: account.id, email: account.email,
            displayName: account.visibleName))
      }
      guard let place = part.next.flatMap({ Int64($0) }) else { break }
      next = place
      read += part.items.count
    }
    return Page(items: items, next: nil)
  }

  /// Finds attempts by reading all of a period, up to a limit of skipped ones; `end` is the last one
  /// read if there are more.
  private static func matching(
    _ filter: ActivityFilter, in pool: Int64, from oldest: Int64, to end: ActivityCursor,
    _ limit: Int,
    _ connection: borrowing Connection
  ) throws -> (places: [ActivityCursor], end: ActivityCursor?) {
    let ways = Set(filter.ways.map(\.rawValue))
    let results = Set(
      CodeAttempt.Result.allCases.filter {
        filter.outcomes.isEmpty || filter.outcomes.contains($0.outcome)
      }.map(\.rawValue))
    var places: [ActivityCursor] = []
    var end = end
    var read = 0
    while true {
      let part = max(limit, skippedAtOnce)
      let rows = try connection.all(
        """
        SELECT at, account_key, way, result FROM code_attempt
        WHERE scope_key = \(pool) AND (at, account_key) < (\(end.at), \(end.account))
          AND at >= \(oldest)
        ORDER BY at DESC, account_key DESC LIMIT \(part)
        """
      ) { row in
        let place = try ActivityCursor(&row)
        let (way, result): (String, String) = (try row.next(), try row.next())
        return (place: place, matches: ways.contains(way) && results.contains(result))
      }
      for row in rows where row.matches {
        places.append(row.place)
        if places.count == limit { return (places, nil) }
      }
      guard rows.count == part, let last = rows.last?.place else { return (places, nil) }
      end = last
      read += part
      if read >= mostSkipped { return (places, end) }
    }
  }

  /// Finds attempts that weren't accepted by their index, for each result and purpose.
  private static func rejected(
    _ filter: ActivityFilter, in pool: Int64, from oldest: Int64, to end: ActivityCursor,
    _ limit: Int,
    _ connection: borrowing Connection
  ) throws -> (places: [ActivityCursor], end: ActivityCursor?) {
    var places: [ActivityCursor] = []
    for result in filter.outcomes.flatMap(\.results) {
      for way in filter.ways {
        places += try connection.all(
          """
          SELECT at, account_key FROM code_attempt
          WHERE scope_key = \(pool) AND result = \(result) AND result <> 'accepted'
            AND way = \(way) AND (at, account_key) < (\(end.at), \(end.account))
            AND at >= \(oldest)
          ORDER BY at DESC, account_key DESC LIMIT \(limit)
          """
        ) { try ActivityCursor(&$0) }
      }
    }
    return (Array(places.sorted(by: >).prefix(limit)), nil)
  }

  private static func attempt(
    _ place: ActivityCursor, in pool: Int64, _ connection: borrowing Connection
  ) throws -> UserCodeAttempt? {
    let attempt = try connection.first(
      """
      SELECT \(CodeAttempt.columns) FROM code_attempt
      WHERE scope_key = \(pool) AND at = \(place.at) AND account_key = \(place.account)
      """
    ) { try CodeAttempt(&$0) }
    guard let attempt, let user = try user(place.account, connection) else { return nil }
    return UserCodeAttempt(
      attempt: attempt, account: user.id, email: user.email, displayName: user.name)
  }

  static func user(
    _ account: Int64, _ connection: borrowing Connection
  ) throws -> (id: ID<Account>, email: String?, name: String?, reach: CodeReach, last: Int64?)? {
    try connection.first(
      """
      SELECT uid, email, display_name, reach, last_code_attempt_at FROM account
      WHERE account_key = \(account)
      """
    ) { row in
      (
        id: try row.next(), email: try row.next(),
        name: (try row.next() as String?)?.ifVisible,
        reach: CodeReach(try row.next()), last: try row.next()
      )
    }
  }
}
