import Database

extension Enrolments {
  /// Gives a factor of a user another name, for somebody who helps them.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - account: Whose factor.
  ///   - factor: Which.
  ///   - name: The new name, of at most ``Factor/longestName`` characters.
  ///   - author: Who renames it.
  /// - Throws: ``EnrolmentError``.
  public func rename(
    _ scope: Scope, _ account: ID<Account>, _ factor: ID<Factor>, to name: String,
    by author: Author
  ) async throws(EnrolmentError) {
    let name = name.trimmed
    guard !name.isEmpty else { throw .missingDisplayName }
    guard !Factor.isTooLong(name) else { throw .displayNameTooLong }
    let now = store.clock.now()
    try await store.write(EnrolmentError.self) { connection in
      guard let account = try AccountRecord.find(scope, account, connection) else {
        throw EnrolmentError.session(.userNotFound)
      }
      try Self.checkChanges(account)
      guard let old = account.factors.first(where: { $0.id == factor }) else {
        throw EnrolmentError.enrolmentNotFound
      }
      guard old.displayName?.isSameBytes(as: name) != true else { return }
      try connection.run(
        """
        UPDATE factor SET display_name = \(name)
        WHERE account_key = \(account.key) AND enrolment_id = \(factor.text)
        """)
      var entry = AuditEntry(
        "factor.rename", "account", account.id.text, name: account.label, in: scope)
      entry.from = old.words
      entry.to = try AccountRecord.find(key: account.key, connection)?.factors
        .first { $0.id == factor }?.words
      try entry.record(by: author, at: now, connection)
    }
  }
}
