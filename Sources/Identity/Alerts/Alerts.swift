import Database

public struct Alerts: Sendable {
  let store: Store

  /// The number of days for which an alert is kept after its end.
  static let daysKept: Int64 = 90

  public func ongoing(in pool: Pool) async throws -> [Alert] {
    try await store.read { connection in
      try connection.all(
        """
        SELECT \(Alert.columns) FROM alert l \(index: "alert_ongoing")
          \(SQL.orderedJoin) scope s USING (scope_key)
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE l.scope_key = \(pool.key) AND l.ended_at IS NULL ORDER BY l.kind
        """
      ) { try Alert(&$0) }
    }
  }

  public func ongoing(
    visibleTo administrator: Administrator, limit: Int
  ) async throws -> [Alert] {
    guard !administrator.grants.isEmpty else { return [] }
    let restriction = administrator.restriction
    return try await store.read { connection in
      try connection.all(
        """
        SELECT \(Alert.columns) FROM alert l \(index: "alert_ongoing")
          \(SQL.orderedJoin) scope s USING (scope_key)
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE l.scope_key > 0 AND l.ended_at IS NULL AND s.deleted_at IS NULL
          \(restriction)
        ORDER BY l.scope_key, l.kind LIMIT \(limit)
        """
      ) { try Alert(&$0) }
    }
  }
}
