import Database
import Text

/// The indexes by which users are found, kept in the write of every change of an account.
///
/// `account_search` finds three characters and more in any place, `account_beginning` one and two
/// at the beginning of a word. Both hold keys of accounts, of which a scope has one range.
enum SearchIndex {
  /// The mark of an instance whose accounts are all indexed; before it the last one that is.
  ///
  /// The number goes up when texts are folded in another way, so that all are indexed again.
  private static let mark = "search_2"
  private static let complete = "complete"

  /// Indexes an account as it is now, in place of what it was.
  static func update(_ account: Account, _ connection: borrowing Connection) throws {
    let new = SearchText(account)
    let old = try stored(account.key, connection)
    if let old, old.folded.isSameBytes(as: new.folded) { return }
    let kept = old?.beginnings ?? []
    let wanted = new.beginnings
    try remove(account.key, old, except: wanted, connection)
    try connection.run(
      """
      INSERT INTO account_text (account_key, folded) VALUES (\(account.key), \(new.folded))
      """)
    try connection.run(
      """
      INSERT INTO account_search (rowid, folded) VALUES (\(account.key), \(new.folded))
      """)
    for beginning in wanted.subtracting(kept) {
      try connection.run(
        """
        INSERT INTO account_beginning (beginning, account_key)
        VALUES (\(beginning.text), \(account.key))
        """)
    }
    guard new.name != nil || old?.name != nil else { return }
    try connection.run(
      "UPDATE account SET name_folded = \(new.name) WHERE account_key = \(account.key)")
  }

  /// Forgets an account that goes.
  static func remove(_ account: Account, _ connection: borrowing Connection) throws {
    try remove(account.key, stored(account.key, connection), except: [], connection)
  }

  /// Forgets all accounts of a range of keys, before they go.
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
      ) { row in (key: try row.value(0) as Int64, folded: try row.value(1) as String) }
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
    ) { SearchText(folded: try $0.value(0)) }
  }

  /// FTS5 must be told the old text, or it would keep a part of it.
  private static func remove(
    _ account: Int64, _ old: SearchText?, except kept: Set<UntrustedText>,
    _ connection: borrowing Connection
  ) throws {
    guard let old else { return }
    try connection.run(
      """
      INSERT INTO account_search (account_search, rowid, folded)
      VALUES ('delete', \(account), \(old.folded))
      """)
    try connection.run("DELETE FROM account_text WHERE account_key = \(account)")
    for beginning in old.beginnings.subtracting(kept) {
      try connection.run(
        """
        DELETE FROM account_beginning
        WHERE beginning = \(beginning.text) AND account_key = \(account)
        """)
    }
  }
}

extension SearchIndex {
  /// How many accounts are indexed in one write at the start.
  private static let batch = 500

  /// Indexes the accounts that were made before there was an index, or before its present folding.
  ///
  /// A start that is stopped half way goes on where it was.
  static func complete(_ store: Store) async throws(StartError) {
    while true {
      let isDone = try await store.write(StartError.self) { connection in
        try indexNext(connection)
      }
      if isDone { return }
    }
  }

  /// Indexes the next accounts; true when there are none left.
  private static func indexNext(_ connection: borrowing Connection) throws -> Bool {
    let reached = try connection.first(
      "SELECT value FROM instance WHERE name = \(mark)"
    ) { try $0.value(0) as String }
    if reached == complete { return true }
    let last = reached.flatMap { Int64($0) } ?? 0
    let accounts = try AccountRecord.many(
      "a.account_key > \(last)", order: "ORDER BY a.account_key", limit: batch, connection)
    for account in accounts { try update(account, connection) }
    let now = accounts.last.map { String($0.key) } ?? complete
    try connection.run(
      """
      INSERT INTO instance (name, value) VALUES (\(mark), \(now))
      ON CONFLICT (name) DO UPDATE SET value = \(now)
      """)
    return accounts.isEmpty
  }
}
