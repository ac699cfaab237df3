import Database

/// The counts are stored, so reading them takes the same time for ten users as for a million.
public struct AccountCounts: Hashable, Sendable {
  public var users = 0
  public var enrolledUsers = 0
  public var totpUsers = 0
  public var phoneUsers = 0
  public var unverifiedEmails = 0
  public var disabled = 0
  /// Accounts whose codes aren't checked, either temporarily or until an administrator unlocks
  /// them.
  public var locked = 0

  package init() {}

  /// Creates the counts that one account adds to its pool, as ``ofRow`` does: none if its user is gone
  /// at the remote.
  init(of account: Account) {
    guard account.goneAt == nil else { return }
    users = 1
    enrolledUsers = account.factors.isEmpty ? 0 : 1
    totpUsers = account.has(.totp).number
    phoneUsers = account.has(.phone).number
    unverifiedEmails = account.email != nil && !account.emailVerified ? 1 : 0
    disabled = account.disabled ? 1 : 0
    locked = account.codesBlockedUntil == nil ? 0 : 1
  }

  /// What a row of `account` adds to each of ``columns``, as ``init(of:)`` counts it.
  static let ofRow: SQL = """
    CASE WHEN gone_at IS NULL THEN 1 ELSE 0 END,
    CASE WHEN gone_at IS NULL AND (has_totp = 1 OR has_phone = 1) THEN 1 ELSE 0 END,
    CASE WHEN gone_at IS NULL AND email IS NOT NULL AND email_verified = 0 THEN 1 ELSE 0 END,
    CASE WHEN gone_at IS NULL THEN disabled ELSE 0 END,
    CASE WHEN gone_at IS NULL THEN has_totp ELSE 0 END,
    CASE WHEN gone_at IS NULL THEN has_phone ELSE 0 END,
    CASE WHEN gone_at IS NULL AND codes_blocked_until IS NOT NULL THEN 1 ELSE 0 END
    """

  static let columns: SQL = """
    users, enrolled_users, unverified_users, disabled_users, totp_users, phone_users, locked_users
    """

  var values: SQL {
    """
    \(users), \(enrolledUsers), \(unverifiedEmails), \(disabled), \(totpUsers), \(phoneUsers),
      \(locked)
    """
  }

  /// The counts in the order of ``columns``.
  private static let all: [any WritableKeyPath<Self, Int> & Sendable] = [
    \.users, \.enrolledUsers, \.unverifiedEmails, \.disabled, \.totpUsers, \.phoneUsers, \.locked,
  ]

  init(_ row: inout Row) throws {
    for count in Self.all { self[keyPath: count] = try row.next() }
  }

  static func += (one: inout Self, other: Self) {
    for count in all { one[keyPath: count] += other[keyPath: count] }
  }

  static prefix func - (counts: Self) -> Self {
    var counts = counts
    for count in all { counts[keyPath: count].negate() }
    return counts
  }

  /// Updates the pool's counts after a change of an account's fields.
  ///
  /// Those of second factors change with the factors, and those of locks when an account is locked
  /// or unlocked.
  static func move(
    from old: Account, to new: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    let (was, becomes) = (Self(of: old), Self(of: new))
    var change = Self()
    change.unverifiedEmails = becomes.unverifiedEmails - was.unverifiedEmails
    change.disabled = becomes.disabled - was.disabled
    try CountChanges.append(change, to: pool.key, connection)
  }

  /// Resets the counts of a pool whose accounts are all deleted.
  static func clear(_ pool: Pool, _ connection: borrowing Connection) throws {
    try CountChanges.clear(pool, connection)
    try connection.run(
      """
      UPDATE scope SET users = 0, enrolled_users = 0, totp_users = 0, phone_users = 0,
        unverified_users = 0, disabled_users = 0, locked_users = 0
      WHERE scope_key = \(pool.key)
      """)
  }
}

/// The numbers of a pool's accounts with a mark that few have.
public struct MarkedCounts: Sendable, Equatable {
  public var suspended = 0
  public var clockOff = 0
  public var reported = 0
}

extension Accounts {
  public func count(_ pool: Pool) async throws -> Int {
    try await store.read { connection in
      try connection.first(
        "SELECT \(AccountCounts.current("users")) FROM scope s WHERE s.scope_key = \(pool.key)"
      ) { try $0.next() as Int } ?? 0
    }
  }

  public func counts(_ pool: Pool) async throws -> AccountCounts {
    try await store.read { connection in
      try Self.counts(pool, connection)
    }
  }

  /// Reads the number of accounts in a pool by kind, and of those that few indexes have, at the same
  /// moment.
  public func countsWithMarked(
    _ pool: Pool
  ) async throws -> (counts: AccountCounts, marked: MarkedCounts) {
    try await store.read { now, connection in
      // From indexes of them, because a suspension ends without a write.
      func count(_ condition: SQL) -> SQL {
        "(SELECT count(*) FROM account a WHERE a.scope_key = \(pool.key) AND \(condition))"
      }
      let marked = try connection.first(
        """
        SELECT \(count(AccountList.isSuspended(at: now))), \(count(AccountList.isClockOff)),
          \(count(AccountList.isReported))
        """
      ) { row in
        MarkedCounts(
          suspended: try row.next(), clockOff: try row.next(), reported: try row.next())
      }
      return (try Self.counts(pool, connection), marked ?? MarkedCounts())
    }
  }

  /// Counts the inactive accounts of a pool; nil if there are more than an action on many users takes,
  /// or if more accounts than that have no recent sign-in, of which only so many are examined.
  public func countInactive(_ pool: Pool, atMost most: Int) async throws -> Int? {
    try await store.read { now, connection in
      try AccountList(
        pool: pool, filter: .inactive, sort: .lastSignIn, now: now, mostExamined: most
      ).countOld(connection)
    }
  }

  static func counts(
    _ pool: Pool, _ connection: borrowing Connection
  ) throws -> AccountCounts {
    try connection.first(
      """
      SELECT \(AccountCounts.current("users")), \(AccountCounts.current("enrolled_users")),
        \(AccountCounts.current("unverified_users")), \(AccountCounts.current("disabled_users")),
        \(AccountCounts.current("totp_users")), \(AccountCounts.current("phone_users")),
        \(AccountCounts.current("locked_users"))
      FROM scope s WHERE s.scope_key = \(pool.key)
      """
    ) { try AccountCounts(&$0) } ?? AccountCounts()
  }
}

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
