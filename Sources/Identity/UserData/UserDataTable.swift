import Database

/// The user whose data is exported or erased; the account may be deleted already.
struct UserDataSubject: Sendable {
  let scope: Scope
  let uid: String
  /// The account; nil if it was deleted.
  let account: Account?
  let identifiers: UserIdentifiers
}

/// A table with data of users, and how it's exported.
package struct UserDataTable: Sendable {
  /// The table's name in the database.
  package let name: String
  /// The member of the file.
  package let section: String
  /// The exported columns.
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

  /// The selected columns.
  var selection: SQL { columns.map(\.sql).joined(separator: ", ") }
}
