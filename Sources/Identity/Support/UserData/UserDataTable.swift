import Database
import JSON

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
  /// The clauses after the table that find the user's rows, beginning with `FROM`.
  let sources: @Sendable (UserDataSubject) -> [SQL]

  init(
    _ table: SQL, as section: String, _ columns: [UserDataColumn],
    _ sources: @escaping @Sendable (UserDataSubject) -> [SQL]
  ) {
    name = table.text
    (self.section, self.columns, self.sources) = (section, columns, sources)
  }

  /// A table whose rows name the account by its number.
  static func ofAccount(
    _ table: SQL, as section: String, order: SQL, _ columns: [UserDataColumn]
  ) -> UserDataTable {
    UserDataTable(table, as: section, columns) { subject in
      guard let key = subject.account?.key else { return [] }
      return ["FROM \(table) WHERE account_key = \(key) ORDER BY \(order)"]
    }
  }

  var selection: SQL { columns.map(\.sql).joined(separator: ", ") }
}

/// A column of a table with data of users, as it's exported.
package struct UserDataColumn: Sendable {
  package enum Kind: String, Sendable {
    case text
    case number
    /// True or false, stored as 1 or 0.
    case flag
    /// A time in RFC 3339 format, stored in microseconds.
    case time
    /// A time in RFC 3339 format, stored in seconds.
    case seconds
    case lines
    /// Whether there is a value, which is a secret.
    case presence
  }

  /// The member's name in the file.
  package let name: String
  package let kind: Kind
  let sql: SQL

  private init(_ sql: SQL, _ kind: Kind, as name: String?) {
    (self.sql, self.kind) = (sql, kind)
    self.name = name ?? Self.member(sql.text)
  }

  static func text(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .text, as: name) }
  static func number(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .number, as: name) }
  static func flag(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .flag, as: name) }
  static func time(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .time, as: name) }
  static func seconds(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .seconds, as: name) }
  static func lines(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .lines, as: name) }
  static func presence(_ sql: SQL, as name: String) -> Self { Self(sql, .presence, as: name) }

  /// Returns the name of a column as the name of a member: `sent_at` is `sentAt`.
  private static func member(_ column: String) -> String {
    let words = column.split(separator: "_").filter { $0 != "s" }
    return words.enumerated().map { index, word in
      index == 0 ? String(word) : word.prefix(1).uppercased() + word.dropFirst()
    }.joined()
  }

  func value(_ row: inout Row) throws -> JSON {
    switch kind {
    case .text: (try row.next() as String?).map { .string($0) } ?? .null
    case .number: (try row.next() as Int64?).map { .number(JSON.Number($0)) } ?? .null
    case .flag: .bool(try row.next() as Bool)
    case .time:
      (try row.next() as Instant?).map { .string($0.rfc3339Milliseconds) } ?? .null
    case .seconds:
      (try row.next() as Int64?).map { .string(Instant(seconds: $0).rfc3339Milliseconds) } ?? .null
    case .lines:
      .array(
        (try row.next() as String? ?? "").split(separator: "\n").map { .string("\($0)") })
    case .presence:
      .bool(try row.next() as SQLValue != .null)
    }
  }
}
