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

  /// Creates the counts that one account adds to its pool, as ``ofRow`` does.
  init(of account: Account) {
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
    1, CASE WHEN has_totp = 1 OR has_phone = 1 THEN 1 ELSE 0 END,
    CASE WHEN email IS NOT NULL AND email_verified = 0 THEN 1 ELSE 0 END, disabled, has_totp,
    has_phone, CASE WHEN codes_blocked_until IS NULL THEN 0 ELSE 1 END
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

  init(_ row: inout Row) throws {
    users = try row.next()
    enrolledUsers = try row.next()
    unverifiedEmails = try row.next()
    disabled = try row.next()
    totpUsers = try row.next()
    phoneUsers = try row.next()
    locked = try row.next()
  }

  static func += (one: inout Self, other: Self) {
    one.users += other.users
    one.enrolledUsers += other.enrolledUsers
    one.totpUsers += other.totpUsers
    one.phoneUsers += other.phoneUsers
    one.unverifiedEmails += other.unverifiedEmails
    one.disabled += other.disabled
    one.locked += other.locked
  }

  static prefix func - (counts: Self) -> Self {
    var counts = counts
    counts.users.negate()
    counts.enrolledUsers.negate()
    counts.totpUsers.negate()
    counts.phoneUsers.negate()
    counts.unverifiedEmails.negate()
    counts.disabled.negate()
    counts.locked.negate()
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

  /// Reads the number of accounts in a pool by kind, and of those with a suspended second
  /// factor, at the same moment.
  public func countsWithSuspended(
    _ pool: Pool
  ) async throws -> (counts: AccountCounts, suspended: Int) {
    let now = store.clock.now()
    return try await store.read { connection in
      // From an index of them, because a suspension ends without a write.
      let suspended = try connection.first(
        """
        SELECT count(*) FROM account a
        WHERE a.scope_key = \(pool.key) AND \(AccountList.isSuspended(at: now))
        """
      ) { try $0.next() as Int }
      return (try Self.counts(pool, connection), suspended ?? 0)
    }
  }

  private static func counts(
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
