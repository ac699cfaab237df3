import Database

/// A query for part of a pool in a given order, as in `accounts:query`.
public struct AccountQuery: Sendable {
  public enum Sort: Sendable, CaseIterable {
    /// The uid, byte for byte.
    case uid
    /// The display name, ignoring case and accents; accounts without one come last.
    case name
    case createdAt
    /// The day of the last sign-in; accounts that never signed in come first.
    ///
    /// Within a page, accounts are sorted by exact time within each day.
    case lastLoginAt
    /// The email address; accounts without one come last.
    case email
  }

  public var sort = Sort.uid
  public var descends = false
  /// The number of accounts to skip, up to ``longestOffset``.
  public var offset = 0
  public var limit = 500

  /// The maximum offset; skipped accounts are counted off in an index, so a larger offset takes
  /// longer.
  public static let longestOffset = 100_000

  public init() {}
}

extension Accounts {
  public func query(
    _ pool: Pool, _ query: AccountQuery
  ) async throws -> [Account] {
    try await store.read { connection in
      let keys = try connection.all(query.keys(of: pool)) { try $0.next() as Int64 }
      var accounts: [Account] = []
      accounts.reserveCapacity(keys.count)
      for key in keys {
        if let account = try AccountRecord.find(key: key, connection) { accounts.append(account) }
      }
      guard query.sort == .lastLoginAt else { return accounts }
      return accounts.sorted { query.descends ? $1.signedInBefore($0) : $0.signedInBefore($1) }
    }
  }
}

extension AccountQuery {
  /// Selects the keys from an index in the requested order.
  ///
  /// Some indexes begin with the enrollment columns, so their four parts are merged.
  fileprivate func keys(of pool: Pool) -> SQL {
    let limit = min(max(limit, 0), 500)
    let offset = min(max(offset, 0), Self.longestOffset)
    let part: SQL = "LIMIT \(limit) OFFSET \(offset)"
    switch sort {
    case .uid: return single(pool, "uid", part)
    case .createdAt: return single(pool, "created_at", part)
    case .name: return merged(pool, .orLast("a.name_folded"), part)
    case .email: return merged(pool, .orLast("a.email_folded"), part)
    case .lastLoginAt: return merged(pool, "a.last_login_day", part)
    }
  }

  private func single(_ pool: Pool, _ what: SQL, _ part: SQL) -> SQL {
    let order: SQL =
      descends ? "\(what) DESC, a.account_key DESC" : "\(what), a.account_key"
    return """
      SELECT a.account_key FROM account a WHERE a.scope_key = \(pool.key) ORDER BY \(order) \(part)
      """
  }

  private func merged(_ pool: Pool, _ what: SQL, _ part: SQL) -> SQL {
    let order: SQL = descends ? "2 DESC, 1 DESC" : "2, 1"
    func arm(_ app: Int, _ phone: Int) -> SQL {
      """
      SELECT a.account_key, \(what) FROM account a
      WHERE a.scope_key = \(pool.key) AND a.has_totp = \(app) AND a.has_phone = \(phone)
      """
    }
    return """
      \(arm(0, 0)) UNION ALL \(arm(0, 1)) UNION ALL \(arm(1, 0)) UNION ALL \(arm(1, 1))
      ORDER BY \(order) \(part)
      """
  }
}

extension Account {
  fileprivate func signedInBefore(_ other: Account) -> Bool {
    let (one, two) = (lastLoginAt?.microseconds ?? 0, other.lastLoginAt?.microseconds ?? 0)
    return one == two ? key < other.key : one < two
  }
}
