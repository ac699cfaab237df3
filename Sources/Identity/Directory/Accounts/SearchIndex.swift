package import Database
package import Text

/// The user search indexes, updated in the same transaction as every account change.
///
/// `account_search` matches three or more characters anywhere; `account_beginning` matches one or
/// two characters at the beginning of a word. Both store account keys; each pool has one range of
/// keys.
package enum SearchIndex {
  package static let parts = TextIndex(
    table: "account_search", of: "account_text", key: "account_key", text: "folded")

  /// The name of the progress marker: `complete` once all accounts are indexed, before that the
  /// last indexed account.
  private static let mark = InstanceValue("search_3")
  /// The progress marker of the index without linked identities, and with addresses in an earlier
  /// folded form.
  private static let formerMark = InstanceValue("search_2")
  /// The progress marker of texts indexed before ``SearchText/replacements`` were made.
  private static let replacements = InstanceValue("search_replacements")
  /// When such texts were first all indexed again.
  private static let replacedAt = InstanceValue("search_replaced_at")
  private static let complete = "complete"

  static func update(_ account: Account, _ connection: borrowing Connection) throws {
    let new = SearchText(account)
    let old = try stored(account.key, connection)
    if let old, old.folded.isSameBytes(as: new.folded) { return }
    let kept = old?.beginnings ?? []
    let wanted = new.beginnings
    try remove(account.key, old, except: wanted, connection)
    try connection.runLater(
      """
      INSERT INTO account_text (account_key, folded) VALUES (\(account.key), \(new.folded))
      """)
    try parts.insert(account.key, new.folded, connection)
    for beginning in wanted.subtracting(kept) {
      try connection.runLater(
        """
        INSERT INTO account_beginning (beginning, account_key)
        VALUES (\(beginning.text), \(account.key))
        """)
    }
    guard !(new.name ?? "").isSameBytes(as: old?.name ?? "") else { return }
    try AccountRecord.setLater("name_folded = \(new.name)", of: account.key, connection)
  }

  static func remove(_ account: Account, _ connection: borrowing Connection) throws {
    try remove(account.key, stored(account.key, connection), except: [], connection)
  }

  static func removeAll(
    _ keys: ClosedRange<Int64>, _ connection: borrowing Connection
  ) throws {
    var last = keys.lowerBound - 1
    while true {
      let rows = try connection.all(
        """
        SELECT account_key, folded FROM account_text
        WHERE account_key > \(last) AND account_key <= \(keys.upperBound)
        ORDER BY account_key LIMIT 500
        """
      ) { row in (key: try row.next() as Int64, folded: try row.next() as String) }
      for row in rows {
        try remove(row.key, SearchText(folded: row.folded), except: [], connection)
      }
      guard let end = rows.last else { return }
      last = end.key
    }
  }

  private static func stored(
    _ account: Int64, _ connection: borrowing Connection
  ) throws -> SearchText? {
    try connection.first(
      "SELECT folded FROM account_text WHERE account_key = \(account)"
    ) { SearchText(folded: try $0.next()) }
  }

  private static func remove(
    _ account: Int64, _ old: SearchText?, except kept: Set<UntrustedText>,
    _ connection: borrowing Connection
  ) throws {
    guard let old else { return }
    try parts.remove(account, old.folded, connection)
    try connection.runLater("DELETE FROM account_text WHERE account_key = \(account)")
    for beginning in old.beginnings.subtracting(kept) {
      try connection.runLater(
        """
        DELETE FROM account_beginning
        WHERE beginning = \(beginning.text) AND account_key = \(account)
        """)
    }
  }
}

extension SearchIndex {
  /// The maximum number of accounts indexed per transaction.
  private static let batch = 500

  /// The maximum number of texts compared at once.
  private static let window = 5_000

  /// For how many seconds texts are compared again, because nodes of the previous version may still
  /// store some without ``SearchText/replacements``.
  private static let upgrade: Int64 = 86_400

  /// Indexes accounts created before the index existed or before the current folding.
  ///
  /// If startup is interrupted, the next startup continues where it stopped.
  static func complete(_ store: Store) async throws {
    while !(try await store.write { try indexNext($0) }) {}
    while try await store.read({ try replacedAt.read($0) == nil }),
      try await replaceNext(store)
    {}
  }

  /// Indexes the next batch, with addresses in folded form; returns true if none are left.
  private static func indexNext(_ connection: borrowing Connection) throws -> Bool {
    let reached = try mark.read(connection)
    if reached == complete { return true }
    let last = reached.flatMap { Int64($0) } ?? 0
    var condition: SQL = "a.account_key > \(last)"
    if try formerMark.read(connection) == complete {
      condition = """
        \(condition) AND (a.has_providers = 1
          OR length(a.email) <> \(SQL.byteCount("a.email"))
          OR length(a.initial_email) <> \(SQL.byteCount("a.initial_email")))
        """
    }
    let accounts = try AccountRecord.many(
      condition, order: "ORDER BY a.account_key", limit: batch, connection)
    for account in accounts {
      try update(try AccountRecord.refolded(account, connection), connection)
    }
    if accounts.isEmpty { try Administrators.refold(connection) }
    try mark.store(accounts.last.map { String($0.key) } ?? complete, connection)
    return accounts.isEmpty
  }

  /// Indexes one batch of accounts again whose texts have letters that are replaced now, until a day
  /// after there were none for the first time: nodes of the previous version may still store some.
  static func replaceNext(_ store: Store) async throws -> Bool {
    let now = store.clock.now()
    // Not in the transaction, since reading so much conflicts with other writes.
    let found = try await store.read { try Outdated($0) }
    guard let found else { return false }
    return try await store.write { connection in
      // Another node may have continued.
      guard try replacements.read(connection) == found.reached else { return true }
      for key in found.accounts {
        guard let account = try AccountRecord.find(key: key, connection) else { continue }
        try update(account, connection)
      }
      if let next = found.next {
        try replacements.store(String(next), connection)
        return true
      }
      let first = try replacedAt.readNumber(connection)
      if first == nil { try replacedAt.store(String(now.microseconds), connection) }
      let isLast = first.map { $0 + upgrade * 1_000_000 <= now.microseconds } ?? false
      try replacements.store(isLast ? complete : nil, connection)
      return false
    }
  }

  /// The next accounts whose texts have letters that are replaced now.
  private struct Outdated {
    let reached: String?
    let accounts: [Int64]
    /// The last account that was looked at; nil if it was the last of all.
    let next: Int64?

    /// Reads them; nil once there can't be any.
    init?(_ connection: borrowing Connection) throws {
      reached = try replacements.read(connection)
      if reached == complete { return nil }
      let last = reached.flatMap { Int64($0) } ?? 0
      let end =
        try connection.first(
          """
          SELECT account_key FROM account_text WHERE account_key > \(last)
          ORDER BY account_key LIMIT 1 OFFSET \(window - 1)
          """
        ) { try $0.next() as Int64 }
      let hasLetter: [SQL] = SearchText.replacements.keys.sorted().map {
        "\(SQL.position)(folded, \(String($0))) > 0"
      }
      accounts = try connection.all(
        """
        SELECT account_key FROM account_text
        WHERE account_key > \(last) AND account_key <= \(end ?? .max)
          AND (\(hasLetter.joined(separator: " OR ")))
        ORDER BY account_key LIMIT \(batch)
        """
      ) { try $0.next() as Int64 }
      next = accounts.count == batch ? accounts.last : end
    }
  }
}

extension SearchIndex {
  package struct New: Sendable {
    package let key: Int64
    let folded: String
    let beginnings: Set<UntrustedText>

    package init(key: Int64, folded: String, beginnings: Set<UntrustedText>) {
      self.key = key
      self.folded = folded
      self.beginnings = beginnings
    }
  }

  /// Indexes a batch of new accounts in key order.
  ///
  /// Word beginnings are inserted in index order rather than by account, so that neighboring index
  /// entries are written together.
  package static func insert(_ accounts: [New], _ connection: borrowing Connection) throws {
    var beginnings: [(beginning: String, key: Int64)] = []
    beginnings.reserveCapacity(accounts.count * 16)
    for account in accounts {
      try connection.run(
        """
        INSERT INTO account_text (account_key, folded) VALUES (\(account.key), \(account.folded))
        """)
      for beginning in account.beginnings { beginnings.append((beginning.text, account.key)) }
    }
    for account in accounts {
      try parts.insert(account.key, account.folded, connection)
    }
    beginnings.sort { one, other in
      one.beginning.isSameBytes(as: other.beginning)
        ? one.key < other.key
        : one.beginning.utf8.lexicographicallyPrecedes(other.beginning.utf8)
    }
    for (beginning, key) in beginnings {
      try connection.runLater(
        """
        INSERT INTO account_beginning (beginning, account_key) VALUES (\(beginning), \(key))
        """)
    }
  }
}
