import Database

extension Account {
  /// Records the user's sign-up in the audit log; `way` describes the method and follows the
  /// account's fields.
  func recordSignUp(
    in scope: Scope, way: String = "", by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry("account.sign-up", "account", id.text, name: label, in: scope)
    entry.to = words + way
    try entry.record(by: author.user(self), at: now, connection)
  }
}

extension Author {
  /// Creates an author for the account's user, with the address and ID of this request.
  func user(_ account: Account) -> Author {
    Author(actor: .user(account.id), address: address, requestID: requestID)
  }
}
