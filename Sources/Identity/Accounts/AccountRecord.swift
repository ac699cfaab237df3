import Database

/// How accounts are read and written, for the use cases of this module.
enum AccountRecord {
  static func find(
    _ scope: Scope, _ id: ID<Account>, _ connection: borrowing Connection
  ) throws -> Account? {
    try one("a.scope_key = \(scope.key) AND a.uid = \(id.text)", connection)
  }

  static func find(
    _ scope: Scope, email: String, _ connection: borrowing Connection
  ) throws -> Account? {
    let folded = AccountRules.folded(email: email)
    return try one("a.scope_key = \(scope.key) AND a.email_folded = \(folded)", connection)
  }

  static func find(
    _ scope: Scope, phone: String, _ connection: borrowing Connection
  ) throws -> Account? {
    try one("a.scope_key = \(scope.key) AND a.phone = \(phone)", connection)
  }

  static func find(key: Int64, _ connection: borrowing Connection) throws -> Account? {
    try one("a.account_key = \(key)", connection)
  }

  private static func one(_ condition: SQL, _ connection: borrowing Connection) throws -> Account? {
    try many("\(condition)", limit: 1, connection).first
  }

  static func many(
    _ condition: SQL, order: SQL = "", limit: Int, _ connection: borrowing Connection
  ) throws -> [Account] {
    let plain = try connection.all(
      """
      SELECT \(Account.columns), a.has_totp OR a.has_phone FROM account a
      WHERE \(condition) \(order) LIMIT \(limit)
      """
    ) { row in
      (
        account: try Account(row, factors: []),
        hasFactors: try row.value(Account.columnCount) as Bool
      )
    }
    return try withFactors(plain, connection)
  }

  /// Reads the factors and the identities at other providers of accounts that have some.
  private static func withFactors(
    _ plain: [(account: Account, hasFactors: Bool)], _ connection: borrowing Connection
  ) throws -> [Account] {
    var accounts: [Account] = []
    accounts.reserveCapacity(plain.count)
    for (account, hasFactors) in plain {
      var account = account
      if hasFactors { account.factors = try Factor.all(of: account.key, connection) }
      if account.hasProviders {
        account.providers = try ProviderLink.all(of: account.key, connection)
      }
      accounts.append(account)
    }
    return accounts
  }

  /// Stores a new account in a scope and counts it.
  static func insert(
    _ new: NewAccount, passwordHash: String?, anonymous: Bool, in scope: Scope, uid: String,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Account {
    let number = try connection.first(
      """
      UPDATE scope SET next_account = next_account + 1, users = users + 1
      WHERE scope_key = \(scope.key) AND deleted_at IS NULL RETURNING next_account - 1
      """
    ) { try $0.value(0) as Int64 }
    guard let number else { throw AccountError.notFound }
    let key = scope.accountKeys.lowerBound + number
    let email = new.email.map { AccountRules.folded(email: $0) }
    do {
      try connection.run(
        """
        INSERT INTO account (account_key, scope_key, uid, email, email_folded, email_verified,
          display_name, photo_url, phone, password_hash, password_updated_at, anonymous, disabled,
          valid_since_s, created_at)
        VALUES (\(key), \(scope.key), \(uid), \(email), \(email), \(new.emailVerified),
          \(new.displayName), \(new.photoURL), \(new.phoneNumber), \(passwordHash),
          \(passwordHash == nil ? nil : now.microseconds), \(anonymous), \(new.disabled),
          \(now.seconds), \(now.microseconds))
        """)
    } catch {
      throw conflict(error) ?? error
    }
    for link in new.providers { try link.store(for: key, in: scope, connection) }
    guard let account = try find(key: key, connection) else { throw Failure("account vanished") }
    try AccountCounts.move(from: nil, to: account, in: scope, connection)
    try SearchIndex.update(account, connection)
    return account
  }

  /// The account error that a broken uniqueness means.
  static func conflict(_ error: DatabaseError) -> (any Error)? {
    guard case .uniqueViolation(let columns) = error.code else { return nil }
    if columns.contains("raw_id") { return AccountError.federatedIDAlreadyLinked }
    if columns.contains("email") { return AccountError.emailExists }
    if columns.contains("phone") { return AccountError.phoneExists }
    if columns.contains("uid") { return AccountError.duplicateLocalID }
    return nil
  }

  /// Ends every session of an account: sign-ins until now are refused from now on, those of this
  /// very second too.
  ///
  /// The rows of what ends stay until the next end, so that a refresh token is told that its
  /// session is over, and not that it never was one. `valid_since_s` always rises, so that a pending
  /// credential which was made before can be told from one made after, in the same second too.
  ///
  /// - Returns: How many sessions there were.
  static func endSessions(
    _ account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int {
    try connection.run(
      """
      DELETE FROM session WHERE account_key = \(account) AND auth_time_s <
        (SELECT valid_since_s FROM account WHERE account_key = \(account))
      """)
    let sessions = try connection.first(
      "SELECT count(*), max(auth_time_s) FROM session WHERE account_key = \(account)"
    ) { row in (count: try row.value(0) as Int, newest: try row.value(1) as Int64?) }
    let validSince = max(now.seconds, (sessions?.newest ?? 0) + 1)
    try connection.run(
      """
      UPDATE account SET valid_since_s = max(valid_since_s + 1, \(validSince))
      WHERE account_key = \(account)
      """)
    return sessions?.count ?? 0
  }

  /// Ends the sessions whose sign-in is older than a moment, in seconds since 1970.
  static func endSessions(
    _ account: Int64, before validSince: Int64, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE account SET valid_since_s = max(valid_since_s, \(Instant(seconds: validSince).seconds))
      WHERE account_key = \(account)
      """)
  }
}
