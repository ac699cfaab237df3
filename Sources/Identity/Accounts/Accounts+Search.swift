import Database

/// The accounts that a search has found.
public struct FoundAccounts: Sendable {
  /// The accounts with their scopes; what was typed exactly comes first, then the newest.
  public let hits: [Hit]
  /// True when there are more, so that the search should be narrowed.
  public let isCut: Bool
  /// The hit whose uid, e-mail address, phone number or enrolment id is just what was typed; nil
  /// when there is none, or more than one.
  public let exact: Hit?

  /// An account and the user pool it is in.
  public struct Hit: Sendable {
    /// The user pool.
    public let scope: Scope
    /// The account.
    public let account: Account
  }

  /// The accounts alone.
  public var accounts: [Account] { hits.map(\.account) }

  /// The only hit, or the only exact one.
  public var only: Hit? { hits.count == 1 && !isCut ? hits.first : exact }
}

extension Accounts {
  /// The most hits that a search gives: as many as a page of a list has, so that a search among a
  /// million users takes no longer than one among a thousand.
  public static let mostHits = 50

  /// Finds accounts of a scope by parts of e-mail address, name, phone number, uid or enrolment id.
  ///
  /// Case, accents and the width of letters do not matter. A part of one or two characters must be
  /// the beginning of a word; several words must all occur.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - text: What was typed; nothing in it is an operator.
  ///   - filter: Which accounts count.
  ///   - sort: In which order.
  /// - Returns: At most ``mostHits`` accounts.
  /// - Throws: ``AccountError/unavailable(_:)``.
  public func search(
    _ scope: Scope, _ text: String, filter: Filter = .all, sort: Sort = .newest
  ) async throws(AccountError) -> FoundAccounts {
    guard let query = SearchQuery(text) else { return FoundAccounts([], query: nil) }
    return try await store.read(AccountError.self) { connection in
      var search = Search(query: query, filter: filter)
      try search.exactly(in: scope, connection)
      try search.run(in: scope.accountKeys, scope, connection)
      let hits = sort.sorted(search.hits)
      return FoundAccounts(hits, query: query, isCut: search.isCut)
    }
  }

  /// Finds accounts in every scope where an administrator may find users.
  ///
  /// - Parameters:
  ///   - text: What was typed; nothing in it is an operator.
  ///   - administrator: Who looks; scopes that they may not see are not searched.
  /// - Returns: At most ``mostHits`` accounts.
  /// - Throws: ``AccountError/unavailable(_:)``.
  public func search(
    everywhere text: String, visibleTo administrator: Administrator
  ) async throws(AccountError) -> FoundAccounts {
    guard let query = SearchQuery(text) else { return FoundAccounts([], query: nil) }
    return try await store.read(AccountError.self) { connection in
      var search = Search(query: query, filter: .all)
      if administrator.may(.findUsers, in: nil) {
        try search.run(in: 0...Int64.max - 1, nil, connection)
      } else {
        let scopes = try Self.scopes(searchableBy: administrator, connection)
        for scope in scopes { try search.exactly(in: scope, connection) }
        try search.run(in: scopes, connection)
      }
      let hits = search.hits.sorted { $0.account.createdAt > $1.account.createdAt }
      return FoundAccounts(hits, query: query, isCut: search.isCut)
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

/// A search under way.
private struct Search {
  let query: SearchQuery
  let filter: Accounts.Filter
  private(set) var hits: [FoundAccounts.Hit] = []
  private(set) var isCut = false
  private var seen: Set<Int64> = []
  private var examined = 0
  private var skipped = 0
  private var scopes: [Int64: Scope] = [:]
  /// True when only accounts of `scopes` count.
  private var isLimitedToScopes = false

  /// How many accounts are looked at when most of them do not count.
  private static let mostExamined = 5_000
  /// How many keys of other scopes are passed over.
  private static let mostSkipped = 50_000

  init(query: SearchQuery, filter: Accounts.Filter) {
    self.query = query
    self.filter = filter
  }

  /// Looks for what was typed as a whole, which must not be crowded out by what contains it.
  mutating func exactly(in scope: Scope, _ connection: borrowing Connection) throws {
    let found = [
      try AccountRecord.find(scope, ID(query.typed), connection),
      try AccountRecord.find(scope, email: query.typed, connection),
      try AccountRecord.find(scope, phone: query.typed, connection),
    ]
    for account in found { if let account { add(account, scope) } }
  }

  /// Looks through the keys of one scope, or of all, from the newest.
  mutating func run(
    in keys: ClosedRange<Int64>, _ scope: Scope?, _ connection: borrowing Connection
  ) throws {
    var last = keys.upperBound
    while !isCut {
      let batch = try candidates(keys.lowerBound...last, connection)
      for key in batch {
        if isLimitedToScopes, scopes[key >> 40] == nil {
          skipped += 1
          if skipped > Self.mostSkipped { isCut = true }
          continue
        }
        guard hits.count < Accounts.mostHits, examined < Self.mostExamined else {
          isCut = true
          return
        }
        examined += 1
        try examine(key, scope, connection)
      }
      guard batch.count == Self.batch, let end = batch.last, end > keys.lowerBound else { return }
      last = end - 1
    }
  }

  /// Looks through several scopes: one by one when they are few, else past those between them.
  mutating func run(in scopes: [Scope], _ connection: borrowing Connection) throws {
    guard scopes.count > Self.mostRanges else {
      for scope in scopes { try run(in: scope.accountKeys, scope, connection) }
      return
    }
    for scope in scopes { self.scopes[scope.key] = scope }
    isLimitedToScopes = true
    let keys = scopes.map(\.accountKeys)
    let first = keys.map(\.lowerBound).min() ?? 0
    try run(in: first...(keys.map(\.upperBound).max() ?? first), nil, connection)
  }

  /// How many ranges are searched each for itself.
  private static let mostRanges = 20
  private static let batch = Accounts.mostHits + 1

  /// Accounts that fit the expression, or the first short word.
  private func candidates(
    _ keys: ClosedRange<Int64>, _ connection: borrowing Connection
  ) throws -> [Int64] {
    if let expression = query.expression {
      return try connection.all(
        """
        SELECT rowid FROM account_search
        WHERE account_search MATCH \(expression)
          AND rowid BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
        ORDER BY rowid DESC LIMIT \(Self.batch)
        """
      ) { try $0.value(0) }
    }
    return try connection.all(
      """
      SELECT account_key FROM account_beginning
      WHERE beginning = \(query.short.first ?? "")
        AND account_key BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
      ORDER BY account_key DESC LIMIT \(Self.batch)
      """
    ) { try $0.value(0) }
  }

  private mutating func examine(
    _ key: Int64, _ scope: Scope?, _ connection: borrowing Connection
  ) throws {
    guard !seen.contains(key) else { return }
    for word in query.short.dropFirst(query.expression == nil ? 1 : 0) {
      let begins = try connection.first(
        """
        SELECT 1 FROM account_beginning WHERE beginning = \(word) AND account_key = \(key)
        """
      ) { try $0.value(0) as Int }
      guard begins != nil else { return }
    }
    guard let account = try AccountRecord.find(key: key, connection) else { return }
    guard let scope = try scope ?? self.scope(of: key, connection) else { return }
    add(account, scope)
  }

  private mutating func add(_ account: Account, _ scope: Scope) {
    guard filter.includes(account), seen.insert(account.key).inserted else { return }
    hits.append(FoundAccounts.Hit(scope: scope, account: account))
  }

  private mutating func scope(
    of account: Int64, _ connection: borrowing Connection
  ) throws -> Scope? {
    let key = account >> 40
    if let known = scopes[key] { return known }
    let scope = try connection.first(
      """
      SELECT \(Scope.columns) FROM scope s JOIN project p USING (project_id)
      WHERE s.scope_key = \(key) AND s.deleted_at IS NULL
      """
    ) { try Scope($0) }
    scopes[key] = scope
    return scope
  }
}

extension FoundAccounts {
  fileprivate init(_ hits: [Hit], query: SearchQuery?, isCut: Bool = false) {
    let exact = query.map { query in hits.filter { $0.account.isNamed(query.typed) } } ?? []
    self.exact = exact.count == 1 ? exact.first : nil
    self.hits = exact + hits.filter { hit in !exact.contains { $0.account.key == hit.account.key } }
    self.isCut = isCut
  }
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
