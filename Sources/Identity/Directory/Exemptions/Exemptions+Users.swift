import Database

public struct ExemptionCounts: Sendable, Equatable {
  public var all = 0
  public var withoutFactor = 0
}

extension Exemptions {
  public func counts(in pool: Pool) async throws -> ExemptionCounts {
    try await store.read { now, connection in
      try connection.first(
        """
        SELECT count(*), count(CASE WHEN a.has_totp = 0 AND a.has_phone = 0 THEN 1 END)
        FROM exemption e \(SQL.orderedJoin) account a ON a.account_key = e.account_key
        WHERE \(Self.current(in: pool, at: now))
        """
      ) { ExemptionCounts(all: try $0.next(), withoutFactor: try $0.next()) }
        ?? ExemptionCounts()
    }
  }

  /// Counts the exempt users of at most 1,000 pools.
  ///
  /// - Returns: The numbers by the pools' keys; pools without exempt users are missing.
  public func counts(of keys: [Int64]) async throws -> [Int64: Int] {
    guard !keys.isEmpty else { return [:] }
    return try await store.read { now, connection in
      let counts = try connection.all(
        """
        SELECT s.scope_key, (
          SELECT count(*) FROM exemption e
          WHERE e.account_key >= s.scope_key << 40 AND e.account_key < (s.scope_key + 1) << 40
            AND +e.ends_at > \(now))
        FROM scope s WHERE s.scope_key IN (\(list: keys))
        """
      ) { (key: try $0.next() as Int64, count: try $0.next() as Int) }
      return Dictionary(
        uniqueKeysWithValues: counts.lazy.filter { $0.count > 0 }.map { ($0.key, $0.count) })
    }
  }

  /// Returns when the exemptions of at most 1,000 users end, who can be of any pools.
  ///
  /// - Returns: The ends by the users' keys; users who aren't exempt are missing.
  package func ends(of keys: [Int64]) async throws -> [Int64: Instant] {
    guard !keys.isEmpty else { return [:] }
    return try await store.read { now, connection in
      let ends = try connection.all(
        """
        SELECT account_key, ends_at FROM exemption
        WHERE account_key IN (\(list: keys)) AND +ends_at > \(now)
        """
      ) { (try $0.next() as Int64, try $0.next() as Instant) }
      return Dictionary(ends, uniquingKeysWith: Swift.max)
    }
  }
}
