package import Database
import Text

/// The user search indexes, updated in the same transaction as every account change.
///
/// `account_search` matches three or more characters anywhere; `account_beginning` matches one or
/// two characters at the beginning of a word. Both store account keys; each pool has one range of
/// keys.
package enum SearchIndex {
  /// Parts of three or more characters.
  package static let parts = TextIndex(
    table: "account_search", of: "account_text", key: "account_key", text: "folded")

  /// The name of the progress marker: `complete` once all accounts are indexed, before that the
  /// last indexed account.
  private static let mark = InstanceValue("search_2")
  /// The progress marker of texts indexed before ``SearchText/replacements`` were made.
  private static let replacements = InstanceValue("search_replacements")
  private static let complete = "complete"

  /// Replaces an account's index entries.
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
    guard new.name != nil || old?.name != nil else { return }
    try connection.runLater(
      "UPDATE account SET name_folded = \(new.name) WHERE account_key = \(account.key)")
  }

  /// Removes a deleted account from the index.
  static func remove(_ account: Account, _ connection: borrowing Connection) throws {
    try remove(account.key, stored(account.key, connection), except: [], connection)
  }

  /// Removes all accounts in a key range from the index before they're deleted.
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

  /// Removes index entries.
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
  /// The number of accounts indexed per transaction at startup.
  private static let batch = 500

  /// The number of texts compared per transaction at startup.
  private static let window = 5_000

  /// Indexes accounts created before the index existed or before the current folding.
  ///
  /// If startup is interrupted, the next startup continues where it stopped.
  static func complete(_ store: Store) async throws(StartError) {
    for next in [indexNext, replaceNext] {
      while true {
        let isDone = try await store.write(StartError.self) { try next($0) }
        if isDone { break }
      }
    }
  }

  /// Indexes the next batch; returns true if none are left.
  private static func indexNext(_ connection: borrowing Connection) throws -> Bool {
    let reached = try mark.read(connection)
    if reached == complete { return true }
    let last = reached.flatMap { Int64($0) } ?? 0
    let accounts = try AccountRecord.many(
      "a.account_key > \(last)", order: "ORDER BY a.account_key", limit: batch, connection)
    for account in accounts { try update(account, connection) }
    try mark.store(accounts.last.map { String($0.key) } ?? complete, connection)
    return accounts.isEmpty
  }

  /// Indexes those of the next accounts again whose texts have letters that are replaced now; returns
  /// true if none are left.
  private static func replaceNext(_ connection: borrowing Connection) throws -> Bool {
    let reached = try replacements.read(connection)
    if reached == complete { return true }
    let last = reached.flatMap { Int64($0) } ?? 0
    let end =
      try connection.first(
        """
        SELECT account_key FROM account_text WHERE account_key > \(last)
        ORDER BY account_key LIMIT 1 OFFSET \(window - 1)
        """
      ) { try $0.value(0) as Int64 }
    let hasLetter: [SQL] = SearchText.replacements.keys.sorted().map {
      "\(SQL.position)(folded, \(String($0))) > 0"
    }
    let keys = try connection.all(
      """
      SELECT account_key FROM account_text
      WHERE account_key > \(last) AND account_key <= \(end ?? .max)
        AND (\(hasLetter.joined(separator: " OR ")))
      """
    ) { try $0.value(0) as Int64 }
    for key in keys {
      guard let account = try AccountRecord.find(key: key, connection) else { continue }
      try update(account, connection)
    }
    try replacements.store(end.map { String($0) } ?? complete, connection)
    return end == nil
  }
}
