package import Database
package import Text

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
