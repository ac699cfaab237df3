import Database

extension Account {
  /// Records that its user has made it; `way` is how, in words behind those of the account.
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
  /// The user of an account, from where the request came.
  func user(_ account: Account) -> Author {
    Author(actor: .user(account.id), address: address, requestID: requestID)
  }
}
