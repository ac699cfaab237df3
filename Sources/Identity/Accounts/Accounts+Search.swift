import Database
import Text

/// The accounts that a search has found.
public struct FoundAccounts: Sendable {
  /// The accounts with their scopes; what was typed exactly comes first, then the rest in order.
  public let hits: [Hit]
  /// How many hits lie before the next part; nil when this is the last.
  public let next: Int?
  /// True when there are more behind the last part, so that the search should be narrowed.
  public let isCut: Bool
  /// How many accounts fit.
  public let total: Total
  /// The pools of a search in all of them that have hits, in the order of the hits.
  public let pools: [Pool]

  /// A number of accounts that fit what was typed.
  public enum Total: Sendable, Equatable {
    /// So many.
    case exactly(Int)
    /// So many and more: not all were looked at.
    case atLeast(Int)
  }

  /// A user pool that has hits.
  public struct Pool: Sendable {
    /// The user pool.
    public let scope: Scope
    /// How many hits it has.
    public let count: Int
  }

  /// An account and the user pool it is in.
  public struct Hit: Sendable {
    /// The user pool.
    public let scope: Scope
    /// The account.
    public let account: Account
  }

  /// The accounts alone.
  public var accounts: [Account] { hits.map(\.account) }

  /// The hit of a search that has no other.
  public var only: Hit? { total == .exactly(1) ? hits.first : nil }
}

extension Accounts {
  /// The most hits that a search gives in all its parts.
  public static let mostHits = 200
  /// How many of them a part has: as many as a page of a list, so that the first part among a
  /// million users takes no longer than among a thousand.
  public static let hitsOfPart = 50

  /// Finds accounts of a scope by parts of email address, name, phone number, uid or enrollment id.
  ///
  /// Case, accents and the width of letters do not matter. A part of one or two characters must be
  /// the beginning of a word; several words must all occur.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - text: What was typed; nothing in it is an operator.
  ///   - filter: Which accounts count.
  ///   - sort: In which order; any but the newest first is that of the newest ``mostHits``.
  ///   - part: Which of the hits are given.
  /// - Returns: The accounts of that part.
  /// - Throws: ``AccountError/unavailable(_:)``.
  public func search(
    _ scope: Scope, _ text: String, filter: Filter = .all, sort: Sort = .newest,
    part: SearchPart = .first
  ) async throws(AccountError) -> FoundAccounts {
    guard let query = SearchQuery(text) else { return .nobody }
    return try await store.read(AccountError.self) { connection in
      // Where hits can't be counted unseen, or go in another order, all of them are looked at.
      let isPart = sort == .newest && AccountSearch.isCountable(query, filter)
      let most = isPart ? part.end : Self.mostHits
      var search = AccountSearch(query: query, filter: filter, most: most)
      try search.exactly(in: scope, connection)
      try search.run(in: scope.accountKeys, scope, connection)
      return FoundAccounts(search, part) { sort.sorted($0) }
    }
  }

  /// Finds accounts in every scope where an administrator may find users.
  ///
  /// - Parameters:
  ///   - text: What was typed; nothing in it is an operator.
  ///   - administrator: Who looks; scopes that they may not see are not searched.
  ///   - part: Which of the hits are given; those of a pool follow each other.
  /// - Returns: The accounts of that part.
  /// - Throws: ``AccountError/unavailable(_:)``.
  public func search(
    everywhere text: String, visibleTo administrator: Administrator, part: SearchPart = .first
  ) async throws(AccountError) -> FoundAccounts {
    guard let query = SearchQuery(text) else { return .nobody }
    return try await store.read(AccountError.self) { connection in
      // Pools are searched one after the other, so their order is known when all have been.
      var search = AccountSearch(query: query, filter: .all, most: Self.mostHits)
      if administrator.may(.findUsers, in: nil) {
        try search.run(in: 0...Int64.max - 1, nil, connection)
      } else {
        let scopes = try Self.scopes(searchableBy: administrator, connection)
        for scope in scopes { try search.exactly(in: scope, connection) }
        try search.run(in: scopes, connection)
      }
      return FoundAccounts(byPool: search, part)
    }
  }

  /// The scopes in which an administrator without a grant for the whole instance finds users.
  private static func scopes(
    searchableBy administrator: Administrator, _ connection: borrowing Connection
  ) throws -> [Scope] {
    var scopes: [Scope] = []
    for grant in administrator.grants where grant.role.permissions.contains(.findUsers) {
      guard let project = grant.project else { continue }
      // A role in the project reaches its tenants, as a range of tenant ids that has all of them.
      let (first, last) = (grant.tenant?.text ?? "", grant.tenant?.text ?? "\u{10FFFF}")
      scopes += try connection.all(
        """
        SELECT \(Scope.columns) FROM scope s JOIN project p USING (project_id)
        WHERE s.project_id = \(project.text) AND s.tenant_id BETWEEN \(first) AND \(last)
          AND s.deleted_at IS NULL
        ORDER BY s.tenant_id
        """
      ) { try Scope($0) }
    }
    var seen: Set<Int64> = []
    return scopes.filter { seen.insert($0.key).inserted }
  }
}

/// A part of what a search finds.
public struct SearchPart: Sendable {
  /// How many hits lie before it.
  public let start: Int
  /// How many lie before its end, ``Accounts/mostHits`` at most.
  let end: Int

  /// The first part.
  public static let first = SearchPart(after: 0)
  /// All of it.
  public static let whole = SearchPart(start: 0, end: Accounts.mostHits)

  /// Makes the part that follows some hits.
  ///
  /// - Parameter count: How many hits lie before it; what is beyond the last part counts as the
  ///   last, and what is below zero as the first.
  public init(after count: Int) {
    let start = min(max(count, 0), Accounts.mostHits - Accounts.hitsOfPart)
    self.init(start: start, end: start + Accounts.hitsOfPart)
  }

  private init(start: Int, end: Int) {
    self.start = start
    self.end = end
  }
}

extension FoundAccounts {
  fileprivate static let nobody = FoundAccounts(
    hits: [], next: nil, isCut: false, total: .exactly(0), pools: [])

  fileprivate init(_ search: AccountSearch, _ part: SearchPart, _ sorted: ([Hit]) -> [Hit]) {
    self.init(search, part, exactFirst(sorted(search.counted), search.query), pools: [])
  }

  /// The hits of each pool together: first of the pools that have what was typed exactly, then by
  /// the names of project and tenant, and in a pool the newest first.
  fileprivate init(byPool search: AccountSearch, _ part: SearchPart) {
    let hits = exactFirst(search.counted.sorted { $0.account.key > $1.account.key }, search.query)
    var byPool: [Int64: [Hit]] = [:]
    for hit in hits { byPool[hit.scope.key, default: []].append(hit) }
    func order(_ pool: [Hit]) -> (isLater: Int, names: [UInt8], key: Int64) {
      let first = pool[0]
      let isExact = first.account.isNamed(search.query.typed)
      let names = [first.scope.projectName, first.scope.tenant == nil ? "" : first.scope.name]
      return (isExact ? 0 : 1, Array(names.joined(separator: "\u{0}").utf8), first.scope.key)
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
      pools: pools.map { Pool(scope: $0[0].scope, count: $0.count) })
  }

  private init(_ search: AccountSearch, _ part: SearchPart, _ all: [Hit], pools: [Pool]) {
    let isMore = all.count > part.end || (search.isFull && part.end < Accounts.mostHits)
    self.init(
      hits: Array(all.dropFirst(part.start).prefix(part.end - part.start)),
      next: isMore ? part.end : nil, isCut: !isMore && (search.isFull || search.isCut),
      total: search.total, pools: pools)
  }
}

/// The hits with those that are what was typed before the others.
private func exactFirst(
  _ hits: [FoundAccounts.Hit], _ query: SearchQuery
) -> [FoundAccounts.Hit] {
  let exact = hits.filter { $0.account.isNamed(query.typed) }
  let keys = Set(exact.map(\.account.key))
  return exact + hits.filter { !keys.contains($0.account.key) }
}

extension Account {
  /// True when the text is one of the things that only this account of its scope has.
  fileprivate func isNamed(_ text: String) -> Bool {
    id.text.isSameBytes(as: text) || phoneNumber == text
      || email?.isSameBytes(as: AccountRules.folded(email: text)) == true
      || factors.contains { $0.id.text.isSameBytes(as: text) }
  }
}

extension Accounts.Sort {
  /// Hits in this order; they are few.
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
