import Database

/// Deletes expired anonymous accounts in projects with `autodeleteAnonymousUsers`.
enum AnonymousAccounts {
  /// The lifetime of an anonymous account, in seconds.
  static let lifetime: Int64 = 30 * 86_400
  /// The maximum number of accounts deleted per transaction.
  static let share = 200
  /// The maximum number of transactions per cleanup run.
  static let mostParts = 50

  static func next(at now: Instant, _ connection: borrowing Connection) throws -> Int64? {
    let oldest = now.advanced(bySeconds: -lifetime)
    return try connection.first(
      """
      SELECT s.scope_key FROM scope s \(index: "scope_expiring")
      WHERE s.anonymous_expire = 1 AND s.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM account a \(index: "account_anonymous")
          WHERE a.scope_key = s.scope_key AND a.anonymous = 1
            AND a.created_at < \(oldest))
      LIMIT 1
      """
    ) { try $0.next() }
  }

  /// Deletes a batch of a pool's expired accounts with one audit row.
  static func delete(in key: Int64, at now: Instant, _ connection: borrowing Connection) throws {
    let pool = try connection.first(
      """
      SELECT \(Pool.columns) FROM scope s JOIN project p USING (project_id)
      WHERE s.scope_key = \(key) AND s.anonymous_expire = 1 AND s.deleted_at IS NULL
      """
    ) { try Pool(&$0) }
    guard let pool else { return }
    let oldest = now.advanced(bySeconds: -lifetime)
    let keys = try connection.all(
      """
      SELECT account_key FROM account \(index: "account_anonymous")
      WHERE scope_key = \(key) AND anonymous = 1 AND created_at < \(oldest)
      ORDER BY created_at LIMIT \(share)
      """
    ) { try $0.next() as Int64 }
    var counts = AccountCounts()
    for account in keys {
      guard let account = try AccountRecord.find(key: account, connection) else { continue }
      try SearchIndex.remove(account, connection)
      try CodeAttemptRecord.delete(of: account, connection)
      try connection.run("DELETE FROM account WHERE account_key = \(account.key)")
      counts += AccountCounts(of: account)
    }
    try CountChanges.append(-counts, to: key, connection)
    guard !keys.isEmpty else { return }
    var entry = AuditEntry(
      .accountExpire, .pool, pool.objectID, name: pool.name, in: pool)
    entry.add(.users, lost: .number(keys.count))
    try entry.record(by: Author(actor: .server), at: now, connection)
  }
}

extension Identity {
  func expireAnonymousAccounts(at now: Instant) async throws {
    for _ in 0..<AnonymousAccounts.mostParts {
      let next = try await store.read { connection in
        try AnonymousAccounts.next(at: now, connection)
      }
      guard let next else { return }
      try await store.write { connection in
        try AnonymousAccounts.delete(in: next, at: now, connection)
      }
    }
  }
}
