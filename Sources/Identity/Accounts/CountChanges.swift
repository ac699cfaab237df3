import Database

/// Changes of the numbers of users of pools, appended by the writes that cause them.
///
/// If each write changed the numbers of its pool and its project, writes of several servers would
/// wait for each other. A task adds the changes to these numbers and deletes them, many at a time;
/// until then, readers add them: see ``AccountCounts/current(_:)``.
enum CountChanges {
  private static let foldedAtOnce = 2_000

  static func append(
    _ change: AccountCounts, to pool: Int64, _ connection: borrowing Connection
  ) throws {
    guard change != AccountCounts() else { return }
    let appended = try connection.run(
      """
      INSERT INTO count_change (number, project_id, scope_key, \(AccountCounts.columns))
      SELECT \(SQL.nextNumber("number", of: "count_change")), project_id, scope_key, \(change.values) FROM scope
      WHERE scope_key = \(pool) AND deleted_at IS NULL
      """)
    // The users of a deleted pool no longer count for its project.
    if appended == 0 { try add(change, to: pool, connection) }
  }

  /// Adds the first changes to the numbers of their pools, and deletes them.
  static func fold(_ connection: borrowing Connection) throws -> Bool {
    let last = try connection.first(
      """
      SELECT scope_key, number FROM count_change WHERE scope_key > 0
      ORDER BY scope_key, number LIMIT 1 OFFSET \(foldedAtOnce - 1)
      """
    ) { (pool: try $0.next() as Int64, number: try $0.next() as Int64) }
    guard let last else {
      try fold("scope_key > 0", connection)
      return false
    }
    try fold(
      "scope_key > 0 AND (scope_key, number) <= (\(last.pool), \(last.number))", connection)
    return true
  }

  /// Adds all changes of a pool, or of a project's pools, before its deletion.
  static func fold(_ pool: Pool, _ connection: borrowing Connection) throws {
    guard pool.tenant != nil else {
      return try fold("project_id = \(pool.project)", connection)
    }
    try fold(condition(pool), connection)
  }

  static func clear(_ pool: Pool, _ connection: borrowing Connection) throws {
    try connection.run("DELETE FROM count_change WHERE \(condition(pool))")
  }

  private static func condition(_ pool: Pool) -> SQL {
    "project_id = \(pool.project) AND scope_key = \(pool.key)"
  }

  private static func fold(_ condition: SQL, _ connection: borrowing Connection) throws {
    var sums: [Int64: AccountCounts] = [:]
    _ = try connection.all(
      "SELECT \(AccountCounts.columns), scope_key FROM count_change WHERE \(condition)"
    ) { row in
      let change = try AccountCounts(&row)
      sums[try row.next(), default: AccountCounts()] += change
    }
    for (pool, change) in sums.sorted(by: { $0.key < $1.key }) {
      try add(change, to: pool, connection)
    }
    // Exactly those read: what other writes append isn't in the snapshot of the transaction.
    if !sums.isEmpty { try connection.run("DELETE FROM count_change WHERE \(condition)") }
  }

  private static func add(
    _ change: AccountCounts, to pool: Int64, _ connection: borrowing Connection
  ) throws {
    // A trigger updates the project and its history.
    if change.users != 0 || change.enrolledUsers != 0 {
      try connection.run(
        """
        UPDATE scope SET users = users + \(change.users),
          enrolled_users = enrolled_users + \(change.enrolledUsers)
        WHERE scope_key = \(pool)
        """)
    }
    var others = change
    (others.users, others.enrolledUsers) = (0, 0)
    guard others != AccountCounts() else { return }
    try connection.run(
      """
      UPDATE scope SET totp_users = totp_users + \(change.totpUsers),
        phone_users = phone_users + \(change.phoneUsers),
        unverified_users = unverified_users + \(change.unverifiedEmails),
        disabled_users = disabled_users + \(change.disabled),
        locked_users = locked_users + \(change.locked)
      WHERE scope_key = \(pool)
      """)
  }
}

extension AccountCounts {
  /// Returns the current number in a column of the pool `s`, including changes that aren't folded.
  ///
  /// - Returns: The expression; without any changes, it costs a list next to nothing.
  static func current(_ column: StaticString) -> SQL {
    current("s", column, "c.project_id = s.project_id AND c.scope_key = s.scope_key")
  }

  /// Returns the current number in a column of the project `p`, as ``current(_:)`` does of a pool.
  static func current(ofProject column: StaticString) -> SQL {
    current("p", column, "c.project_id = p.project_id")
  }

  private static func current(
    _ table: StaticString, _ column: StaticString, _ condition: SQL
  ) -> SQL {
    let (table, column) = (SQL(stringLiteral: table), SQL(stringLiteral: column))
    return """
      (\(table).\(column) + CASE WHEN EXISTS (SELECT 1 FROM count_change WHERE scope_key > 0) THEN
        (SELECT CAST(coalesce(sum(c.\(column)), 0) AS BIGINT) FROM count_change c
          WHERE \(condition)) ELSE 0 END)
      """
  }
}
