import Database

extension Account {
  /// Counts the user's sign-up for the network, and records it in the audit log.
  ///
  /// - Throws: ``CallError/tooManySignUps(until:)``, and database errors.
  func recordSignUp(
    in pool: Pool, method: SignInProvider? = nil, by author: Author, _ profile: Profile,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    try SignUpQuota.count(by: author, in: pool, profile, at: now, connection)
    var entry = AuditEntry(.accountSignUp, of: self, in: pool)
    describe(in: &entry, isNew: true)
    if let method { entry.add(.signUpMethod, .code(method.rawValue)) }
    try entry.record(by: author.user(self), limitedBy: .account, at: now, connection)
  }
}

extension Author {
  /// Creates an author for the account's user, with the address and ID of this request.
  func user(_ account: Account) -> Author {
    var author = self
    author.actor = .user(account.id)
    return author
  }
}
