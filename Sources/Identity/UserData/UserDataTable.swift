import Database

/// The user whose data is exported or erased; the account may be deleted already.
struct UserDataSubject: Sendable {
  let pool: Pool
  let uid: String
  /// The account; nil if it was deleted.
  let account: Account?
  let identifiers: UserIdentifiers

  /// The rows of links and codes sent to an address of the user that name no account.
  func emailCodes(to recipient: String) -> SQL {
    """
    FROM oob_code WHERE scope_key = \(pool.key) AND account_key IS NULL
      AND (email = \(recipient) OR new_email = \(recipient))
    """
  }

  /// The rows of messages sent to an address or number of the user that are no account's, without
  /// ``messagesOfDeleted``.
  func messages(to recipient: String) -> SQL {
    """
    FROM outbox \(index: "outbox_by_recipient") WHERE scope_key = \(pool.key)
      AND recipient = \(recipient) AND coalesce(about_uid, '') <> \(uid) AND \(Self.isOfNoAccount)
    """
  }

  /// The rows of messages that remain from a deleted account of the user, whatever their recipient.
  var messagesOfDeleted: SQL {
    """
    FROM outbox \(index: "outbox_about") WHERE scope_key = \(pool.key) AND about_uid = \(uid)
      AND administrator_id IS NULL AND \(Self.isOfNoAccount)
    """
  }

  /// The condition for messages of deleted accounts, and of none.
  static let isOfNoAccount: SQL =
    "NOT EXISTS (SELECT 1 FROM account a WHERE a.account_key = outbox.account_key)"
}

/// A table with data of users, and how it's exported.
package struct UserDataTable: Sendable {
  package let name: String
  /// The member of the file.
  package let section: String
  package let columns: [UserDataColumn]
  /// The other columns, with the reason.
  package let omitted: [String: UserDataOmission]
  private let table: SQL
  /// The clauses after the table that find the user's rows, beginning with `FROM`.
  let sources: @Sendable (UserDataSubject) -> [SQL]

  init(
    _ table: SQL, as section: String, _ columns: [UserDataColumn],
    without omitted: [String: UserDataOmission],
    _ sources: @escaping @Sendable (UserDataSubject) -> [SQL]
  ) {
    self.table = table
    name = table.text
    self.section = section
    (self.columns, self.omitted, self.sources) = (columns, omitted, sources)
  }

  /// A table whose rows name the account by its number.
  static func ofAccount(
    _ table: SQL, as section: String, order: SQL, _ columns: [UserDataColumn],
    without omitted: [String: UserDataOmission] = [:]
  ) -> UserDataTable {
    var omitted = omitted
    omitted["account_key"] = .key
    return UserDataTable(table, as: section, columns, without: omitted) { subject in
      guard let key = subject.account?.key else { return [] }
      return ["FROM \(table) WHERE account_key = \(key) ORDER BY \(order)"]
    }
  }

  var selection: SQL { columns.map(\.sql).joined(separator: ", ") }
}
