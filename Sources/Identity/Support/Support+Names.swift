import Database
import Text

public struct Renaming: Sendable {
  /// The account before the change.
  public let account: Account
  /// The factor before the change.
  public let factor: Factor
  public let name: String
}

extension Support {
  /// Renames a factor of a user and notifies the user.
  ///
  /// The name has 1 to ``Factor/longestName`` characters.
  ///
  /// - Throws: ``ActionDenial/nothingToDo`` if the name doesn't change.
  public func rename(
    _ pool: Pool, _ account: ID<Account>, _ factor: ID<Factor>, to name: String,
    _ request: ActionRequest
  ) async throws -> ActionOutcome<Renaming> {
    let name = name.trimmed
    let faults: [ActionInputError] =
      name.isEmpty ? [.nameRequired] : Factor.isTooLong(name) ? [.nameTooLong] : []
    return try await authorization.act(
      .renameFactor, request, on: account, in: pool, answers: { _, _ in faults }
    ) { account, _, now, connection in
      let old = try Self.find(factor, of: account).factor
      guard old.displayName?.isSameBytes(as: name) != true else { throw ActionDenial.nothingToDo }
      try connection.run(
        """
        UPDATE factor SET display_name = \(name)
        WHERE account_key = \(account.key) AND enrollment_id = \(factor)
        """)
      let new = try Factor.all(of: account.key, connection).first { $0.id == factor }
      try store.outbox.notify(
        .factorRenamed(from: old.label, to: name), account, in: pool, at: now, connection)
      var entry = AuditEntry(.factorRename, of: account, in: pool)
      entry.add(.factors, from: .of([old]), to: .of([new].compactMap { $0 }))
      return CompletedAction(
        entry: entry, value: Renaming(account: account, factor: old, name: name))
    }
  }
}
