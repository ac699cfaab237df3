public import Crypto
import Database

public struct AccountListing: Sendable {
  public var text: String
  public var filter: Accounts.Filter
  public var sort: Accounts.Sort

  public init(
    text: String = "", filter: Accounts.Filter = .all, sort: Accounts.Sort = .newest
  ) {
    self.text = text
    self.filter = filter
    self.sort = sort
  }
}

extension Accounts {
  public static let listedAtOnce = 500

  /// Reads the selected accounts of a pool, newest first; IDs without an account are left out.
  ///
  /// At most ``listedAtOnce`` are read, which is more than a page shows.
  public func summaries(of ids: [ID<Account>], in pool: Pool) async throws -> [AccountSummary] {
    let ids = ids.prefix(Self.listedAtOnce)
    guard !ids.isEmpty else { return [] }
    return try await store.read { connection in
      try connection.all(
        """
        SELECT \(AccountSummary.columns) FROM account a
        WHERE a.scope_key = \(pool.key) AND a.uid IN (\(list: ids))
        """
      ) { try AccountSummary(&$0) }
    }.sorted { $0.key > $1.key }
  }

  /// Reads all accounts that a list shows on its pages, in order, a part at a time.
  ///
  /// A list with a search text has at most ``mostHits`` accounts.
  ///
  /// - Returns: True if more accounts match.
  public func forEachPart(
    of listing: AccountListing, in pool: Pool, atMost most: Int,
    _ body: ([AccountSummary]) async throws -> Void
  ) async throws -> Bool {
    guard listing.text.isEmpty else {
      let found = try await search(
        pool, listing.text, filter: listing.filter, sort: listing.sort, part: .whole)
      try await body(found.accounts.prefix(most).map(AccountSummary.init))
      return found.isCut || found.hits.count > most
    }
    var after: String?
    var (rest, isFound) = (most, true)
    repeat {
      let page = try await list(
        pool, filter: listing.filter, sort: listing.sort, after: after,
        limit: min(Self.listedAtOnce, rest))
      try await body(page.items)
      rest -= page.items.count
      // A part in which many are examined and none matches cuts the list.
      (after, isFound) = (page.next, !page.items.isEmpty)
      // Lets other tasks of this thread run.
      await Task.yield()
    } while after != nil && rest > 0 && isFound
    return after != nil
  }
}

public enum DownloadedUsers: Sendable {
  public struct PoolCount: Sendable {
    let project: ID<Project>
    let tenant: ID<Tenant>?
    let name: String
    let count: Int

    var objectID: String { tenant?.text ?? project.text }

    public init(_ pool: Pool, count: Int) {
      (project, tenant, name) = (pool.project, pool.tenant, pool.name)
      self.count = count
    }

    init(_ project: ID<Project>, _ tenant: ID<Tenant>?, count: Int) {
      (self.project, self.tenant, self.count) = (project, tenant, count)
      name = ""
    }

    fileprivate init(_ exemption: Exemption, count: Int) {
      (project, tenant, name) = (exemption.project, exemption.tenant, exemption.poolName)
      self.count = count
    }

    /// Finds the pool; nil if it was deleted.
    func find(_ connection: borrowing Connection) throws -> Pool? {
      do {
        return try Pools.find(project: project, tenant: tenant, connection)
      } catch is PoolLookupError {
        return nil
      }
    }

    func entry(_ action: AuditAction, name: String) -> AuditEntry {
      var entry = AuditEntry(action, .pool, objectID, name: name)
      entry.project = project.text
      entry.tenant = tenant?.text ?? ""
      entry.add(.users, .number(count))
      return entry
    }
  }

  case pools([PoolCount])
  case user(Account, in: Pool)

  public init(of exemptions: [Exemption]) {
    let pools = Dictionary(grouping: exemptions) { [$0.project.text, $0.tenant?.text ?? ""] }
    self = .pools(
      pools.sorted { $0.key.lexicographicallyPrecedes($1.key) }.compactMap { _, exemptions in
        exemptions.first.map { PoolCount($0, count: Set(exemptions.map(\.account)).count) }
      })
  }

  /// The users of a list, each by its pool.
  public init(in pools: [Pool]) {
    let groups = Dictionary(grouping: pools, by: \.key)
    self = .pools(
      groups.sorted { $0.key < $1.key }.compactMap { _, pools in
        pools.first.map { PoolCount($0, count: pools.count) }
      })
  }

  var target: ActionTarget {
    switch self {
    case .pools(let pools): ActionTarget(pools: pools.map { ($0.project, $0.tenant) })
    case .user(_, let pool): ActionTarget(pool)
    }
  }

  var counts: [PoolCount] {
    switch self {
    case .pools(let pools): pools
    case .user(_, let pool): [PoolCount(pool, count: 1)]
    }
  }

  var entries: [AuditEntry] {
    switch self {
    case .pools(let pools): return pools.map { $0.entry(.accountDownload, name: $0.name) }
    case .user(let account, let pool):
      return [AuditEntry(.accountDownload, of: account, in: pool)]
    }
  }
}

public struct ExportedAccount: Sendable {
  public let account: Account
  public let passwordHash: PasswordHash?
}

extension Accounts {
  /// Reads accounts with their password hashes, ordered by uid.
  ///
  /// Second factors are returned without their secrets, as everywhere. A caller that reads hashes
  /// records it with ``recordHashDownload(of:count:by:)``.
  public func export(
    _ pool: Pool, after: String?, limit: Int
  ) async throws -> Page<ExportedAccount> {
    let limit = Page<Account>.size(limit)
    return try await store.read { connection in
      let here: SQL = "a.scope_key = \(pool.key) AND a.uid > \(after ?? "")"
      let accounts = try AccountRecord.many(
        here, order: "ORDER BY a.uid", limit: limit + 1, connection)
      let hashes = try connection.all(
        "SELECT a.password_hash FROM account a WHERE \(here) ORDER BY a.uid LIMIT \(limit + 1)"
      ) { try $0.next() as String? }
      let rows = zip(accounts, hashes).map { account, hash in
        ExportedAccount(
          account: account, passwordHash: hash.map(PasswordHash.init(encoded:)))
      }
      return Page(rows, limit: limit) { $0.account.id.text }
    }
  }
}
