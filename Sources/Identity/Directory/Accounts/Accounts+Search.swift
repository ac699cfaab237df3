import Database
import Text

public struct FoundAccounts: Sendable {
  /// The accounts with their pools: exact matches first, then the rest in order.
  public let hits: [Hit]
  /// The number of hits before the next page; nil if this is the last page.
  public let next: Int?
  /// True if there are more hits after the last page, so the search should be narrowed.
  public let isCut: Bool
  public let total: Total
  /// The pools with hits, in the order of the hits, when all pools were searched.
  public let pools: [PoolCount]

  public enum Total: Sendable, Equatable {
    case exactly(Int)
    /// A lower bound: not all accounts were examined.
    case atLeast(Int)
  }

  public struct PoolCount: Sendable {
    public let pool: Pool
    public let count: Int
  }

  public struct Hit: Sendable {
    public let pool: Pool
    public let account: Account
    /// What matches; nil if it's the email address, name, or uid, which lists always show.
    public let match: Match?
  }

  public enum Match: Sendable {
    case phone
    /// The ID or number of a second factor.
    case factor(Factor)
  }

  public var accounts: [Account] { hits.map(\.account) }

  public var only: Hit? { total == .exactly(1) ? hits.first : nil }
}

extension Accounts {
  /// The maximum number of hits across all pages.
  public static let mostHits = 200
  /// The number of hits per page, as many as a list page shows, so that the first page takes no
  /// longer among a million users than among a thousand.
  public static let hitsOfPart = 50

  /// Finds accounts in a pool by part of an email address, name, phone number, uid, or
  /// enrollment ID.
  ///
  /// Case, accents, and character width are ignored. A search word of one or two characters must
  /// match the beginning of a word; if there are several words, all must match. Any order other
  /// than newest first sorts only the newest ``mostHits``.
  public func search(
    _ pool: Pool, _ text: String, filter: Filter = .all, sort: Sort = .newest,
    part: SearchPart = .first
  ) async throws -> FoundAccounts {
    guard let query = SearchQuery(text) else { return .empty }
    return try await store.read { now, connection in
      let exempt =
        filter == .none || filter == .exempt
        ? try Exemptions.accounts(in: pool, at: now, connection) : []
      // If the matches can't be counted from the index, or are sorted another way, all must be
      // read.
      let isPart = sort == .newest && AccountSearch.isCountable(query, filter)
      let most = isPart ? part.end : Self.mostHits
      var search = AccountSearch(query: query, filter: filter, exempt: exempt, most: most, at: now)
      try search.exactly(in: pool, connection)
      try search.run(in: pool.accountKeys, pool, connection)
      return FoundAccounts(search, part) { sort.sorted($0) }
    }
  }

  /// Finds accounts in every pool where an administrator has permission to find users.
  ///
  /// Hits are grouped by pool.
  public func search(
    everywhere text: String, visibleTo administrator: Administrator, part: SearchPart = .first
  ) async throws -> FoundAccounts {
    guard let query = SearchQuery(text) else { return .empty }
    return try await store.read { now, connection in
      // Pools are searched one after another, so the order is known only when all are done.
      var search = AccountSearch(query: query, filter: .all, most: Self.mostHits, at: now)
      if administrator.may(.findUsers, in: nil) {
        try search.exactlyEverywhere(connection)
        try search.run(in: 0...Int64.max - 1, nil, connection)
      } else {
        let pools = try Self.pools(searchableBy: administrator, connection)
        for pool in pools { try search.exactly(in: pool, connection) }
        try search.run(in: pools, connection)
      }
      return FoundAccounts(byPool: search, part)
    }
  }

  /// Returns the pools in which an administrator without an instance-wide grant can find users.
  private static func pools(
    searchableBy administrator: Administrator, _ connection: borrowing Connection
  ) throws -> [Pool] {
    var pools: [Pool] = []
    for grant in administrator.grants where grant.role.permissions.contains(.findUsers) {
      guard let project = grant.project else { continue }
      // A project role covers its tenants: a range that includes all tenant IDs.
      let (first, last) = (grant.tenant?.text ?? "", grant.tenant?.text ?? "\u{10FFFF}")
      pools += try connection.all(
        """
        SELECT \(Pool.columns) FROM scope s JOIN project p USING (project_id)
        WHERE s.project_id = \(project) AND s.tenant_id BETWEEN \(first) AND \(last)
          AND s.deleted_at IS NULL
        ORDER BY s.tenant_id
        """
      ) { try Pool(&$0) }
    }
    var seen: Set<Int64> = []
    return pools.filter { seen.insert($0.key).inserted }
  }
}

public struct SearchPart: Sendable {
  public let start: Int
  /// The number of hits before its end, up to ``Accounts/mostHits``.
  let end: Int

  public static let first = SearchPart(after: 0)
  public static let whole = SearchPart(start: 0, end: Accounts.mostHits)

  /// The count is clamped to the first and last page, and the size is from 1 to
  /// ``Accounts/mostHits``.
  public init(after count: Int, size: Int = Accounts.hitsOfPart) {
    let start = min(max(count, 0), Accounts.mostHits - size)
    self.init(start: start, end: start + size)
  }

  private init(start: Int, end: Int) {
    self.start = start
    self.end = end
  }
}

extension FoundAccounts {
  fileprivate static let empty = FoundAccounts(
    hits: [], next: nil, isCut: false, total: .exactly(0), pools: [])

  fileprivate init(_ search: AccountSearch, _ part: SearchPart, _ sorted: ([Hit]) -> [Hit]) {
    self.init(search, part, exactFirst(sorted(search.counted), search.query), pools: [])
  }

  /// Groups the hits by pool: first pools with an exact match, then by project and tenant name;
  /// within a pool, newest first.
  fileprivate init(byPool search: AccountSearch, _ part: SearchPart) {
    let hits = exactFirst(search.counted.sorted { $0.account.key > $1.account.key }, search.query)
    var byPool: [Int64: [Hit]] = [:]
    for hit in hits { byPool[hit.pool.key, default: []].append(hit) }
    func order(_ pool: [Hit]) -> (isLater: Int, names: [UInt8], key: Int64) {
      let first = pool[0]
      let isExact = first.account.isNamed(search.query.typed)
      let names = [first.pool.projectName, first.pool.tenant == nil ? "" : first.pool.name]
      return (isExact ? 0 : 1, Array(names.joined(separator: "\u{0}").utf8), first.pool.key)
    }
    let pools = byPool.values.map { (hits: $0, order: order($0)) }.sorted { one, other in
      if one.order.isLater != other.order.isLater { return one.order.isLater < other.order.isLater }
      if one.order.names != other.order.names {
        return one.order.names.lexicographicallyPrecedes(other.order.names)
      }
      return one.order.key < other.order.key
    }.map(\.hits)
    self.init(
      search, part, pools.flatMap { $0 },
      pools: pools.map { PoolCount(pool: $0[0].pool, count: $0.count) })
  }

  private init(_ search: AccountSearch, _ part: SearchPart, _ all: [Hit], pools: [PoolCount]) {
    let isMore = all.count > part.end || (search.isFull && part.end < Accounts.mostHits)
    self.init(
      hits: Array(all.dropFirst(part.start).prefix(part.end - part.start)),
      next: isMore ? part.end : nil, isCut: !isMore && (search.isFull || search.isCut),
      total: search.total, pools: pools)
  }
}

private func exactFirst(
  _ hits: [FoundAccounts.Hit], _ query: SearchQuery
) -> [FoundAccounts.Hit] {
  let exact = hits.filter { $0.account.isNamed(query.typed) }
  let keys = Set(exact.map(\.account.key))
  return exact + hits.filter { !keys.contains($0.account.key) }
}

extension Account {
  /// True if the text is one of the account's unique identifiers.
  fileprivate func isNamed(_ text: String) -> Bool {
    id.text.isSameBytes(as: text) || phoneNumber == text || hasEmail(text)
      || factors.contains { $0.id.text.isSameBytes(as: text) }
  }
}

extension Accounts.Sort {
  fileprivate func sorted(_ hits: [FoundAccounts.Hit]) -> [FoundAccounts.Hit] {
    func byText(_ text: (Account) -> String?) -> [FoundAccounts.Hit] {
      let keyed = hits.map { (hit: $0, text: text($0.account)) }
      return keyed.sorted { left, right in
        guard let one = left.text else { return false }
        guard let other = right.text else { return true }
        return one.utf8.lexicographicallyPrecedes(other.utf8)
      }.map(\.hit)
    }
    switch self {
    case .newest: return hits.sorted { $0.account.key > $1.account.key }
    case .email: return byText(\.email)
    case .name: return byText { SearchText($0).name }
    case .lastSignIn:
      return hits.sorted {
        ($0.account.lastLoginAt?.microseconds ?? 0) > ($1.account.lastLoginAt?.microseconds ?? 0)
      }
    }
  }
}

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
