import Database

/// What makes a second factor worth a look.
public enum FactorAge: Hashable, Sendable {
  /// It hasn't been used, or enrolled, for this many days.
  case unused(days: Int)
  /// It was enrolled more than this many years ago.
  case enrolled(years: Int)

  /// The condition on a factor `f`.
  fileprivate func condition(at now: Instant) -> SQL {
    switch self {
    case .unused(let days):
      let start = now.advanced(bySeconds: -Int64(days) * 86_400).microseconds
      return "coalesce(f.last_used_at, f.enrolled_at) < \(start)"
    case .enrolled(let years):
      let start = now.advanced(bySeconds: -Int64(years) * 31_556_952).microseconds
      return "f.enrolled_at < \(start)"
    }
  }
}

/// A second factor of a user in a report.
public struct AgedFactor: Sendable {
  /// The user.
  public let account: ID<Account>
  /// The user's email address, name, phone number, or ID.
  public let label: String
  /// The kind.
  public let kind: Factor.Kind
  /// The name that the user chose.
  public let displayName: String?
  /// When it was enrolled.
  public let enrolledAt: Instant
  /// When a code was last accepted; nil if never.
  public let lastUsedAt: Instant?

  let number: Int64
  let position: Int64
}

extension Reports {
  /// Lists second factors of a user pool that are unused or old, by user, oldest user first.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - age: The factors to list.
  ///   - after: The cursor of the previous page.
  ///   - limit: The maximum number of factors.
  /// - Returns: A page of the list.
  /// - Throws: ``ReportError/unavailable(_:)``.
  public func factors(
    in scope: Scope, _ age: FactorAge, after: String? = nil, limit: Int = 50
  ) async throws(ReportError) -> Page<AgedFactor> {
    let (now, limit) = (store.clock.now(), Page<AgedFactor>.size(limit))
    let keys = scope.accountKeys
    let parts = (after ?? "").split(separator: "-", omittingEmptySubsequences: false)
    let cursor = parts.count == 2 ? parts.compactMap { Int64($0) } : []
    let number = cursor.count == 2 ? min(max(cursor[0], 0), 1 << 40) : 0
    let position = cursor.count == 2 ? cursor[1] : -1
    return try await store.read(ReportError.self) { connection in
      let found = try connection.all(
        """
        SELECT f.kind, f.display_name, f.enrolled_at, f.last_used_at, f.account_key, f.position,
          \(Account.labelColumns)
        FROM factor f \(SQL.orderedJoin) account a ON a.account_key = f.account_key
        WHERE (f.account_key, f.position) > (\(keys.lowerBound + number), \(position))
          AND f.account_key <= \(keys.upperBound) AND \(age.condition(at: now))
        ORDER BY f.account_key, f.position LIMIT \(limit + 1)
        """
      ) { try AgedFactor($0, from: keys.lowerBound) }
      return Page(found, limit: limit) { "\($0.number)-\($0.position)" }
    }
  }

  /// Counts what ``factors(in:_:after:limit:)`` lists.
  ///
  /// - Throws: ``ReportError/unavailable(_:)``.
  public func countFactors(in scope: Scope, _ age: FactorAge) async throws(ReportError) -> Int {
    let now = store.clock.now()
    return try await store.read(ReportError.self) {
      try Self.countFactors(in: scope, age, at: now, $0)
    }
  }

  static func countFactors(
    in scope: Scope, _ age: FactorAge, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int {
    let keys = scope.accountKeys
    return try connection.first(
      """
      SELECT count(*) FROM factor f WHERE f.account_key >= \(keys.lowerBound)
        AND f.account_key <= \(keys.upperBound) AND \(age.condition(at: now))
      """
    ) { try $0.value(0) } ?? 0
  }
}

extension AgedFactor {
  fileprivate init(_ row: borrowing Row, from lowest: Int64) throws {
    guard let kind = Factor.Kind(rawValue: try row.value(0)) else {
      throw Failure("unknown kind of factor")
    }
    self.kind = kind
    displayName = try row.value(1)
    enrolledAt = Instant(microseconds: try row.value(2))
    lastUsedAt = (try row.value(3) as Int64?).map(Instant.init(microseconds:))
    number = try row.value(4) - lowest
    position = try row.value(5)
    label = try Account.label(row, from: 6)
    account = ID(try row.value(9))
  }
}
