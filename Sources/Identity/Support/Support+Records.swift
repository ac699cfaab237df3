import Database

/// The kinds of support records that an account has.
///
/// Most accounts have none, so one statement saves their page a query for each kind.
public struct SupportRecords: Sendable {
  /// Whether factors were recently removed and aren't permanently deleted yet.
  public let removalHold: Bool
  /// Whether agents wrote notes.
  public let notes: Bool
  /// Whether approval was ever requested.
  public let approvals: Bool
  /// Whether backup codes were created.
  public let backupCodes: Bool
  /// Whether the user was ever exempt from MFA.
  public let exemptions: Bool
}

extension Support {
  /// Returns which kinds of support records an account has.
  ///
  /// - Throws: ``ActionDenial/unavailable(_:)``.
  public func traces(of account: Account, in scope: Scope) async throws(ActionDenial)
    -> SupportRecords
  {
    try await store.read(ActionDenial.self) { connection in
      let found = try connection.first(
        """
        SELECT EXISTS (SELECT 1 FROM removed_factor WHERE account_key = \(account.key)),
          EXISTS (SELECT 1 FROM user_note WHERE account_key = \(account.key)),
          EXISTS (SELECT 1 FROM approval INDEXED BY approval_of_user
            WHERE scope_key = \(scope.key) AND uid = \(account.id.text)),
          EXISTS (SELECT 1 FROM backup_code_set WHERE account_key = \(account.key)),
          EXISTS (SELECT 1 FROM exemption WHERE account_key = \(account.key))
        """
      ) { row in
        SupportRecords(
          removalHold: try row.value(0), notes: try row.value(1), approvals: try row.value(2),
          backupCodes: try row.value(3), exemptions: try row.value(4))
      }
      guard let found else { throw Failure("no row of traces") }
      return found
    }
  }
}
