import Database

struct AccountSearch {
  let query: SearchQuery
  let filter: Accounts.Filter
  /// The keys of accounts that are exempt from MFA, if the filter depends on them.
  private let exempt: Set<Int64>
  /// The maximum number of hits; the search looks for one more to know whether there are others.
  let most: Int
  private let now: Instant
  private var hits: [FoundAccounts.Hit] = []
  /// True if the search stopped before examining every candidate.
  private(set) var isCut = false
  private var seen: Set<Int64> = []
  /// Keys that match but weren't read because enough hits had been found.
  private var further: Set<Int64> = []
  private var examined = 0
  private var skipped = 0
  private var pools: [Int64: Pool] = [:]
  private var isLimitedToPools = false

  /// The maximum number of accounts to read when most of them don't match, and of accounts that a
  /// filter or a short word leaves to be compared with the other words.
  private let mostExamined: Int
  /// The maximum number of keys from other pools to skip.
  private static let mostSkipped = 50_000

  init(
    query: SearchQuery, filter: Accounts.Filter, exempt: Set<Int64> = [], most: Int,
    at now: Instant,
    examining mostExamined: Int = 5_000
  ) {
    self.query = query
    self.filter = filter
    self.exempt = exempt
    self.most = most
    self.now = now
    self.mostExamined = mostExamined
  }

  var isFull: Bool { hits.count > most }

  /// The number of matches, as far as it's known without reading more accounts than requested.
  var total: FoundAccounts.Total {
    let count = hits.count + further.subtracting(seen).count
    return isCut || count > Accounts.mostHits
      ? .atLeast(min(count, Accounts.mostHits)) : .exactly(count)
  }

  /// True if every index key is a match, so that matches can be counted without reading the
  /// accounts.
  static func isCountable(_ query: SearchQuery, _ filter: Accounts.Filter) -> Bool {
    filter == .all && (query.long.isEmpty ? query.short.count == 1 : query.short.isEmpty)
  }

  var counted: [FoundAccounts.Hit] { Array(hits.prefix(most)) }

  /// Finds an exact match for the whole text, so that partial matches can't crowd it out.
  mutating func exactly(in pool: Pool, _ connection: borrowing Connection) throws {
    let email = AccountRules.folded(email: query.typed)
    // Several mirrored accounts can have the same address.
    let matches: [SQL] = [
      "a.uid = \(query.typed)", "a.email_folded = \(email)", "a.phone = \(query.typed)",
    ]
    for match in matches {
      let found = try AccountRecord.many(
        "a.scope_key = \(pool.key) AND \(match)", limit: most, connection)
      for account in found { add(account, pool) }
    }
  }

  /// Finds exact matches in every pool, each by the pool's own indexes.
  mutating func exactlyEverywhere(_ connection: borrowing Connection) throws {
    let email = AccountRules.folded(email: query.typed)
    let matches: [SQL] = [
      "a.uid = \(query.typed)", "a.email_folded = \(email)", "a.phone = \(query.typed)",
    ]
    for match in matches {
      // The join order is fixed: pools first, then the account by its index.
      let keys = try connection.all(
        """
        SELECT a.account_key FROM scope s
          \(SQL.orderedJoin) account a ON a.scope_key = s.scope_key
        WHERE s.project_id > '' AND s.deleted_at IS NULL AND \(match)
        LIMIT \(most)
        """
      ) { try $0.next() as Int64 }
      for key in keys {
        guard let account = try AccountRecord.find(key: key, connection),
          let pool = try pool(of: key, connection)
        else { continue }
        add(account, pool)
      }
    }
  }

  /// Searches the keys of one pool, or of all pools, from the newest.
  mutating func run(
    in keys: ClosedRange<Int64>, _ pool: Pool?, _ connection: borrowing Connection
  ) throws {
    var last = keys.upperBound
    while !isCut, !isFull {
      let batch = try candidates(keys.lowerBound...last, connection)
      for (index, key) in batch.enumerated() {
        if isLimitedToPools, pools[Pool.key(ofAccount: key)] == nil {
          skipped += 1
          if skipped > Self.mostSkipped { isCut = true }
          continue
        }
        guard examined < mostExamined else {
          return try examineFew(keys.lowerBound...key, pool, connection)
        }
        examined += 1
        try examine(key, pool, connection)
        if isFull {
          if Self.isCountable(query, filter) { further.formUnion(batch[(index + 1)...]) }
          return
        }
      }
      guard batch.count == Self.batch, let end = batch.last, end > keys.lowerBound else { return }
      last = end - 1
    }
  }

  /// Searches several pools: each range separately if there are few, otherwise one range that skips
  /// the pools in between.
  mutating func run(in pools: [Pool], _ connection: borrowing Connection) throws {
    guard pools.count > Self.mostRanges else {
      for pool in pools { try run(in: pool.accountKeys, pool, connection) }
      return
    }
    for pool in pools { self.pools[pool.key] = pool }
    isLimitedToPools = true
    let keys = pools.map(\.accountKeys)
    let first = keys.map(\.lowerBound).min() ?? 0
    try run(in: first...(keys.map(\.upperBound).max() ?? first), nil, connection)
  }

  private static let mostRanges = 20
  private static let batch = Accounts.mostHits + 1

  /// Returns the keys of accounts that match the long words, or the first short one.
  private func candidates(
    _ keys: ClosedRange<Int64>, _ connection: borrowing Connection
  ) throws -> [Int64] {
    if !query.long.isEmpty {
      return try connection.all(
        SearchIndex.parts.query(
          containing: query.long, in: keys, limit: Self.batch, connection.dialect)
      ) { try $0.next() }
    }
    return try connection.all(
      """
      SELECT account_key FROM account_beginning
      WHERE beginning = \(query.short.first ?? "")
        AND account_key BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
      ORDER BY account_key DESC LIMIT \(Self.batch)
      """
    ) { try $0.next() }
  }

  private mutating func examine(
    _ key: Int64, _ pool: Pool?, _ connection: borrowing Connection
  ) throws {
    guard !seen.contains(key) else { return }
    for word in query.short.dropFirst(query.long.isEmpty ? 1 : 0) {
      let begins = try connection.first(
        """
        SELECT 1 FROM account_beginning WHERE beginning = \(word) AND account_key = \(key)
        """
      ) { try $0.next() as Int }
      guard begins != nil else { return }
    }
    guard let account = try AccountRecord.find(key: key, connection) else { return }
    guard let pool = try pool ?? self.pool(of: key, connection) else { return }
    add(account, pool)
  }

  /// Searches the remaining keys by what fewer accounts have than the long words: the filter, or a
  /// short word; cuts the search if neither leaves few.
  private mutating func examineFew(
    _ keys: ClosedRange<Int64>, _ pool: Pool?, _ connection: borrowing Connection
  ) throws {
    guard let few = try few(keys, pool, connection) else {
      isCut = true
      return
    }
    for (key, text) in few where query.matches(text) {
      if isLimitedToPools, pools[Pool.key(ofAccount: key)] == nil { continue }
      try examine(key, pool, connection)
      if isFull { return }
    }
  }

  /// Returns the accounts that the filter or a short word leaves, newest first; nil if neither
  /// leaves few.
  private func few(
    _ keys: ClosedRange<Int64>, _ pool: Pool?, _ connection: borrowing Connection
  ) throws -> [(key: Int64, text: SearchText)]? {
    var sources: [(table: SQL, conditions: [SQL])] = []
    if let pool, filter != .all {
      let list = AccountList(pool: pool, filter: filter, sort: .newest, now: now)
      sources.append(list.source)
    }
    for word in query.short {
      sources.append(("account_beginning a", ["a.beginning = \(word)"]))
    }
    for source in sources where !source.conditions.isEmpty {
      var few: [(key: Int64, text: SearchText)] = []
      for condition in source.conditions {
        few += try connection.all(
          """
          SELECT t.account_key, t.folded FROM \(source.table)
            \(SQL.orderedJoin) account_text t ON t.account_key = a.account_key
          WHERE \(condition)
            AND a.account_key BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
          LIMIT \(mostExamined + 1)
          """
        ) { (key: try $0.next(), text: SearchText(folded: try $0.next())) }
      }
      if few.count <= mostExamined { return few.sorted { $0.key > $1.key } }
    }
    return nil
  }

  private mutating func add(_ account: Account, _ pool: Pool) {
    guard filter.includes(account, exempt: exempt, at: now), seen.insert(account.key).inserted
    else { return }
    hits.append(
      FoundAccounts.Hit(pool: pool, account: account, match: query.match(of: account)))
  }

  private mutating func pool(
    of account: Int64, _ connection: borrowing Connection
  ) throws -> Pool? {
    let key = Pool.key(ofAccount: account)
    if let known = pools[key] { return known }
    let pool = try connection.first(
      """
      SELECT \(Pool.columns) FROM scope s JOIN project p USING (project_id)
      WHERE s.scope_key = \(key) AND s.deleted_at IS NULL
      """
    ) { try Pool(&$0) }
    pools[key] = pool
    return pool
  }
}
