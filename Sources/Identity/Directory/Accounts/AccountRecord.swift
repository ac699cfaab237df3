package import Database
import Text

package enum AccountRecord {
  package static func find(
    _ pool: Pool, _ id: ID<Account>, _ connection: borrowing Connection
  ) throws -> Account? {
    try one("a.scope_key = \(pool.key) AND a.uid = \(id)", connection)
  }

  static func find(
    _ pool: Pool, email: String, _ connection: borrowing Connection
  ) throws -> Account? {
    let folded = AccountRules.folded(email: email)
    return try one("a.scope_key = \(pool.key) AND a.email_folded = \(folded)", connection)
  }

  /// Finds a user by email address, case-insensitive, or UID.
  static func find(
    _ pool: Pool, named text: String, _ connection: borrowing Connection
  ) throws -> Account? {
    if text.utf8.contains(UInt8(ascii: "@")), let account = try find(pool, email: text, connection)
    {
      return account
    }
    return try find(pool, ID(text), connection)
  }

  /// Finds the accounts that were created with this email address; several users may have used it
  /// one after another.
  static func find(
    _ pool: Pool, initialEmail: String, _ connection: borrowing Connection
  ) throws -> [Account] {
    let folded = AccountRules.folded(email: initialEmail)
    return try many(
      "a.scope_key = \(pool.key) AND a.initial_email = \(folded)", limit: 100, connection)
  }

  static func find(
    _ pool: Pool, phone: String, _ connection: borrowing Connection
  ) throws -> Account? {
    try one("a.scope_key = \(pool.key) AND a.phone = \(phone)", connection)
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
      SELECT \(Account.columns), a.has_totp = 1 OR a.has_phone = 1 FROM account a
      WHERE \(condition) \(order) LIMIT \(limit)
      """
    ) { row in
      (
        account: try Account(&row, factors: []),
        hasFactors: try row.next() as Bool
      )
    }
    return try withFactors(plain, connection)
  }

  /// Reads the factors and linked identities of the accounts that have them.
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
      if account.hasFormerAddresses {
        account.formerAddresses = try FormerAddresses.all(of: account.key, connection)
      }
      accounts.append(account)
    }
    return accounts
  }

  package static func insert(
    _ new: NewAccount, passwordHash: String?, anonymous: Bool, in pool: Pool,
    uid: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> Account {
    guard let numbers = try AccountNumbers.take(1, in: pool.key, connection) else {
      throw CallError.poolDeleted(pool)
    }
    let key = pool.accountKeys.lowerBound + numbers.lowerBound
    let email = new.email.map { AccountRules.folded(email: $0) }
    if let email, try AccountLock.keeps(email, from: nil, in: pool.key, connection) {
      throw AccountError.emailExists
    }
    do {
      try connection.run(
        """
        INSERT INTO account (account_key, scope_key, uid, email, email_folded, email_verified,
          display_name, photo_url, phone, password_hash, password_updated_at, anonymous, disabled,
          valid_since_s, created_at, given_fields)
        VALUES (\(key), \(pool.key), \(uid), \(email), \(email), \(new.emailVerified),
          \(new.displayName), \(new.photoURL), \(new.phoneNumber), \(passwordHash),
          \(passwordHash == nil ? nil : now), \(anonymous), \(new.disabled),
          \(now.seconds), \(now), \(new.givenFields))
        """)
    } catch {
      throw conflict(error) ?? error
    }
    for link in new.providers { try link.store(for: key, in: pool, connection) }
    guard let account = try find(key: key, connection) else { throw Failure("account vanished") }
    try CountChanges.append(AccountCounts(of: account), to: pool.key, connection)
    try SearchIndex.update(account, connection)
    return account
  }

  /// Throws if the uid, phone number, or email address is already in use in the pool; if several
  /// are, reports the first in this order, as production does.
  static func refuseTaken(
    _ new: NewAccount, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    if let uid = new.localID, try find(pool, ID(uid), connection) != nil {
      throw AccountError.duplicateLocalID
    }
    if let phone = new.phoneNumber, try find(pool, phone: phone, connection) != nil {
      throw AccountError.phoneExists
    }
    if let email = new.email, try find(pool, email: email, connection) != nil {
      throw AccountError.emailExists
    }
  }

  /// Returns whether an account has an email address, or keeps it since it's locked.
  static func isTaken(
    _ email: String, in pool: Pool, _ connection: borrowing Connection
  ) throws -> Bool {
    if try find(pool, email: email, connection) != nil { return true }
    let folded = AccountRules.folded(email: email)
    return try AccountLock.keeps(folded, from: nil, in: pool.key, connection)
  }

  /// Sets columns of an account's row, after which the caller updates what's derived from them
  /// (``changed(_:in:isNewPassword:isByMailbox:at:_:)``).
  ///
  /// - Returns: Whether anything was set: the row may have to meet a condition.
  @discardableResult
  static func set(
    _ columns: SQL, of account: Int64, if condition: SQL? = nil, _ connection: borrowing Connection
  ) throws(DatabaseError) -> Bool {
    let condition: SQL = condition.map { " AND \($0)" } ?? ""
    return try connection.run(
      "UPDATE account SET \(columns) WHERE account_key = \(account)\(condition)") > 0
  }

  /// Sets columns that nothing in the same write reads.
  static func setLater(
    _ columns: SQL, of account: Int64, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    try connection.runLater("UPDATE account SET \(columns) WHERE account_key = \(account)")
  }

  /// Reads an account after its columns changed, updates the counts, the search index, and the
  /// previous addresses, and ends the codes that end with the change.
  ///
  /// `isByMailbox` says whether a link in an email changed it, which ``OutOfBandRecord`` allowed. A
  /// mirrored account is what the remote says.
  ///
  /// - Throws: ``AccountError/changesLocked``, ``AccountError/emailExists``, database errors.
  static func changed(
    _ old: Account, in pool: Pool, isNewPassword: Bool, isByMailbox: Bool = false,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Account {
    guard let new = try find(key: old.key, connection) else { throw Failure("account vanished") }
    let isHosted = pool.kind == .hosted
    if isHosted, !isByMailbox {
      try AccountLock.check(from: old, to: new, isNewPassword: isNewPassword)
    }
    if isHosted, let email = new.email, !email.isSameBytes(as: old.email ?? ""),
      try AccountLock.keeps(email, from: old.key, in: pool.key, connection)
    {
      throw AccountError.emailExists
    }
    try AccountCounts.move(from: old, to: new, in: pool, connection)
    try SearchIndex.update(new, connection)
    try FormerAddresses.remember(from: old, to: new, connection)
    var ends: Set<CodeEnd> = []
    if isNewPassword || old.hasPassword != new.hasPassword { ends.insert(.password) }
    if !(old.email ?? "").isSameBytes(as: new.email ?? "") { ends.insert(.email) }
    if old.disabled != new.disabled { ends.insert(.state) }
    try OutOfBandRecord.end(by: ends, of: old, in: pool, at: now, connection)
    return new
  }

  /// Stores the addresses of an account in folded form.
  ///
  /// An earlier version may have given another account of the pool the same mailbox; the address then
  /// stays as it is.
  static func refolded(_ account: Account, _ connection: borrowing Connection) throws -> Account {
    let email = account.email.map(AccountRules.folded)
    let initial = account.initialEmail.map(AccountRules.folded)
    func isFolded(_ old: String?, _ new: String?) -> Bool {
      old.map { old in new?.isSameBytes(as: old) == true } ?? true
    }
    guard !isFolded(account.email, email) || !isFolded(account.initialEmail, initial) else {
      return account
    }
    try set("initial_email = \(initial)", of: account.key, connection)
    try set(
      "email = \(email), email_folded = \(email)", of: account.key,
      if: """
        NOT EXISTS (SELECT 1 FROM account b
          WHERE b.scope_key = account.scope_key AND b.email_folded = \(email)
            AND b.account_key <> \(account.key))
        """, connection)
    return try find(key: account.key, connection) ?? account
  }

  static func conflict(_ error: DatabaseError) -> (any Error)? {
    guard case .uniqueViolation(let columns) = error.code else { return nil }
    if columns.contains("raw_id") { return AccountError.federatedIDAlreadyLinked }
    if columns.contains("email") { return AccountError.emailExists }
    if columns.contains("phone") { return AccountError.phoneExists }
    if columns.contains("uid") { return AccountError.duplicateLocalID }
    return nil
  }

  /// The number of ended sessions remembered per account, so that refresh tokens are reported as
  /// ended rather than unknown.
  private static let endedRemembered = 100

  /// The tolerance for clock differences, in seconds; a revocation this close to now means now.
  static let clockTolerance: Int64 = 5

  /// Ends an account's sessions and pending credentials, including those from the current second,
  /// and the codes that end with them.
  ///
  /// No time is set in the future. Sessions that begin afterward belong to the account's next
  /// generation. If a session is kept, the time that SDKs compare doesn't change. `columns` are
  /// others of the account to set in the same statement. Returns the number of sessions ended.
  @discardableResult
  static func endSessions(
    _ account: Int64, except kept: ID<UserSession>? = nil, setting columns: SQL? = nil,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Int {
    let others: SQL = columns.map { ", \($0)" } ?? ""
    try forgetOldestEnded(account, connection)
    try OutOfBandRecord.endWithSessions(of: account, at: now, connection)
    let count = try Sessions.count(account, connection)
    guard let kept else {
      try set("\(nextGeneration(at: now))\(others)", of: account, connection)
      return count
    }
    try set("generation = generation + 1\(others)", of: account, connection)
    let stays = try connection.run(
      """
      UPDATE session SET generation = generation + 1
      WHERE session_id = \(kept.bytes) AND account_key = \(account)
      """)
    return count - stays
  }

  /// Ends the sessions whose sign-in is before a time in seconds since 1970, or all if the time is
  /// close to now, and returns their number.
  @discardableResult
  static func endSessions(
    _ account: Int64, before validSince: Int64, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    guard validSince < now.seconds - clockTolerance else {
      return try endSessions(account, at: now, connection)
    }
    let isRaised = try set(
      "generation = generation + 1, valid_since_s = \(validSince)", of: account,
      if: "valid_since_s < \(validSince)", connection)
    guard isRaised else { return 0 }
    try forgetOldestEnded(account, connection)
    try OutOfBandRecord.endWithSessions(of: account, at: now, connection)
    try connection.run(
      """
      UPDATE session SET generation = generation + 1
      WHERE account_key = \(account) AND auth_time_s >= \(validSince) AND generation =
        (SELECT generation - 1 FROM account WHERE account_key = \(account))
      """)
    return try connection.first(
      """
      SELECT count(*) FROM account a \(SQL.orderedJoin) session s USING (account_key)
      WHERE a.account_key = \(account) AND s.generation = a.generation - 1
      """
    ) { try $0.next() } ?? 0
  }

  /// Ends the sessions of all hosted accounts, in every pool.
  static func endAllSessions(at now: Instant, _ connection: borrowing Connection) throws {
    try connection.run(
      "UPDATE account SET \(nextGeneration(at: now)) WHERE account_key > 0 AND hosted = 1")
  }

  private static func nextGeneration(at now: Instant) -> SQL {
    """
    generation = generation + 1, valid_since_s = \(SQL.greatest)(valid_since_s, \(now.seconds))
    """
  }

  private static func forgetOldestEnded(
    _ account: Int64, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      DELETE FROM session WHERE account_key = \(account) AND session_id IN (
        SELECT s.session_id FROM account a \(SQL.orderedJoin) session s USING (account_key)
        WHERE a.account_key = \(account) AND s.generation < a.generation
        ORDER BY s.session_id DESC LIMIT 1000 OFFSET \(endedRemembered))
      """)
  }
}

/// Numbers for new accounts: the number of an account is its key without the pool's.
enum AccountNumbers {
  /// Takes numbers of a pool in a transaction; nil if the pool is deleted.
  static func take(
    _ count: Int, in pool: Int64, _ connection: borrowing Connection
  ) throws -> Range<Int64>? {
    try connection.first(
      """
      UPDATE scope SET next_account = next_account + \(count)
      WHERE scope_key = \(pool) AND deleted_at IS NULL RETURNING next_account
      """
    ) { row in
      let end: Int64 = try row.next()
      return end - Int64(count)..<end
    }
  }
}
