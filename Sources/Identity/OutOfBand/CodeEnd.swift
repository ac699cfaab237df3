import Database

/// What ends an unused code before it expires.
enum CodeEnd: CaseIterable {
  /// A newer code of its kind, for the same account or address.
  case newerCode
  /// The account gets another password, or has none anymore.
  case password
  /// The account gets another email address, or has none anymore.
  case email
  /// The account is disabled, enabled, or deleted.
  case state
  case sessions
}

extension OutOfBandCode.Kind {
  /// What ends unused codes of this kind.
  ///
  /// Codes that give access end with everything that they were requested for. A code that verifies an
  /// address proves access to it, whatever the password, and codes that undo a change have to outlast
  /// what the person who made the change does next.
  var ends: Set<CodeEnd> {
    switch self {
    case .passwordReset, .signIn: [.newerCode, .password, .email, .state]
    case .changeEmail: [.newerCode, .password, .email, .state, .sessions]
    case .verifyEmail: [.email, .state]
    case .recoverEmail, .revertFactor: []
    }
  }
}

extension OutOfBandRecord {
  /// Ends the unused codes of an account, and those that sign in with its email address.
  ///
  /// `account` is the account as it was before.
  static func end(
    by ends: Set<CodeEnd>, of account: Account, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws(DatabaseError) {
    let kinds = OutOfBandCode.Kind.allCases.filter { !$0.ends.isDisjoint(with: ends) }
    guard !kinds.isEmpty else { return }
    try void(kinds, of: account.key, at: now, connection)
    if kinds.contains(.signIn), let email = account.email {
      try voidSignIns(with: AccountRules.folded(email: email), in: pool, at: now, connection)
    }
  }

  /// Ends the unused codes of an account that end with its sessions: one of these may have requested
  /// them.
  static func endWithSessions(
    of account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    let kinds = OutOfBandCode.Kind.allCases.filter { $0.ends.contains(.sessions) }
    try void(kinds, of: account, at: now, connection)
  }

  static func endEarlier(
    than new: New, at now: Instant, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    guard new.kind.ends.contains(.newerCode) else { return }
    if let account = new.account {
      try void([new.kind], of: account.key, at: now, connection)
    } else {
      try voidSignIns(with: new.email, in: new.pool, at: now, connection)
    }
  }

  /// A void code expired before it was created, so it's invalid instead of late.
  private static func void(
    _ kinds: [OutOfBandCode.Kind], of account: Int64, at now: Instant,
    _ connection: borrowing Connection
  ) throws(DatabaseError) {
    try connection.run(
      """
      UPDATE oob_code SET expires_at = created_at - 1, link = NULL
      WHERE account_key = \(account) AND kind IN (\(SQL.list(kinds)))
        AND used_at IS NULL AND expires_at > \(now)
      """)
  }

  /// Voids the unused codes that sign in with an address, which are of no account.
  private static func voidSignIns(
    with email: String, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    try connection.run(
      """
      UPDATE oob_code \(index: "oob_code_by_email") SET expires_at = created_at - 1, link = NULL
      WHERE scope_key = \(pool.key) AND email = \(email) AND account_key IS NULL
        AND used_at IS NULL AND expires_at > \(now)
      """)
  }
}
