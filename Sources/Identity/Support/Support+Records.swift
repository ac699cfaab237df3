import Database

/// Which parts of the desk have anything to say about an account.
///
/// Most accounts have nothing there, so that one statement spares their page a read of each part.
public struct SupportRecords: Sendable {
  /// Factors wait apart, or have waited and are not purged yet.
  public let removalHold: Bool
  /// Agents have written notes.
  public let notes: Bool
  /// A second administrator was asked for, at any time.
  public let approvals: Bool
  /// Codes were made that stand in for the authenticator app.
  public let backupCodes: Bool
}

extension Support {
  /// Which parts of the desk have anything to say about an account.
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
          EXISTS (SELECT 1 FROM backup_code_set WHERE account_key = \(account.key))
        """
      ) { row in
        SupportRecords(
          removalHold: try row.value(0), notes: try row.value(1), approvals: try row.value(2),
          backupCodes: try row.value(3))
      }
      guard let found else { throw Failure("no row of traces") }
      return found
    }
  }
}
