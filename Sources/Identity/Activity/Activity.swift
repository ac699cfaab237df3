import Database

/// Counts of code attempts and users over time.
///
/// Every code attempt is counted in the write that records it, by hour, in UTC. The counts outlive
/// the attempts, and reading them costs the same for ten users as for a million.
public struct Activity: Sendable {
  let store: Store
  let trendCache = PastCache<[Double?]>()
  let countCache = PastCache<AttemptCounts>(limit: 100_000)
  let foldedAttempts = FoldedAttempts()

  struct Subject {
    let key: Int64
    let isWhole: Bool
  }

  static func subject(
    _ project: ID<Project>, _ connection: borrowing Connection
  ) throws -> Subject? {
    try connection.first(
      """
      SELECT scope_key FROM scope
      WHERE project_id = \(project) AND tenant_id = '' AND deleted_at IS NULL
      """
    ) { Subject(key: try $0.next(), isWhole: true) }
  }

  static func users(
    of subject: Subject, _ connection: borrowing Connection
  ) throws -> (users: Int, enrolled: Int)? {
    if subject.isWhole {
      return try connection.first(
        """
        SELECT \(AccountCounts.current(ofProject: "users")),
          \(AccountCounts.current(ofProject: "enrolled_users"))
        FROM scope s
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE s.scope_key = \(subject.key)
        """
      ) { (users: try $0.next(), enrolled: try $0.next()) }
    }
    return try connection.first(
      """
      SELECT \(AccountCounts.current("users")), \(AccountCounts.current("enrolled_users"))
      FROM scope s WHERE s.scope_key = \(subject.key)
      """
    ) { (users: try $0.next(), enrolled: try $0.next()) }
  }
}
