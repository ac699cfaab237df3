import Database
import Text

/// A factor that has another name now.
public struct Renaming: Sendable {
  /// The account, as it was before.
  public let account: Account
  /// The factor, as it was before.
  public let factor: Factor
  /// Its new name.
  public let name: String
}

extension Support {
  /// Gives a factor of a user another name, and tells the user.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - account: Whose factor.
  ///   - factor: Which.
  ///   - name: The new name, of 1 to ``Factor/longestName`` characters.
  ///   - request: Who renames it, and why.
  /// - Returns: The factor as it was before, and its new name.
  /// - Throws: ``ActionDenial``; ``ActionDenial/nothingToDo`` when it is called so already.
  public func rename(
    _ scope: Scope, _ account: ID<Account>, _ factor: ID<Factor>, to name: String,
    _ request: ActionRequest
  ) async throws(ActionDenial) -> ActionOutcome<Renaming> {
    let name = name.trimmed
    let faults: [ActionInputError] =
      name.isEmpty ? [.nameRequired] : Factor.isTooLong(name) ? [.nameTooLong] : []
    return try await gate.act(
      .renameFactor, request, on: account, in: scope, answers: { _, _ in faults }
    ) { account, _, now, connection in
      let old = try Self.find(factor, of: account).factor
      guard old.displayName?.isSameBytes(as: name) != true else { throw ActionDenial.nothingToDo }
      try connection.run(
        """
        UPDATE factor SET display_name = \(name)
        WHERE account_key = \(account.key) AND enrollment_id = \(factor.text)
        """)
      let new = try Factor.all(of: account.key, connection).first { $0.id == factor }
      try store.outbox.notify(
        .factorRenamed(from: old.label, to: name), account, in: scope, at: now, connection)
      var entry = AuditEntry(
        "factor.rename", "account", account.id.text, name: account.label, in: scope)
      (entry.from, entry.to) = (old.words, new?.words)
      return SupportAction(entry: entry, value: Renaming(account: account, factor: old, name: name))
    }
  }
}
