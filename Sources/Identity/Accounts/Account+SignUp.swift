import Database

extension Account {
  /// Records the user's sign-up in the audit log.
  func recordSignUp(
    in scope: Scope, method: SignInProvider? = nil, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry(.accountSignUp, .account, id.text, name: label, in: scope)
    describe(in: &entry, isNew: true)
    if let method { entry.add(.signUpMethod, .code(method.rawValue)) }
    try entry.record(by: author.user(self), at: now, connection)
  }
}

extension Author {
  /// Creates an author for the account's user, with the address and ID of this request.
  func user(_ account: Account) -> Author {
    Author(actor: .user(account.id), address: address, requestID: requestID)
  }
}
