import Database

/// Which parts of the desk have anything to say about an account.
///
/// Most accounts have nothing there, so that one statement spares their page a read of each part.
public struct DeskTraces: Sendable {
  /// Factors wait apart, or have waited and are not purged yet.
  public let setApart: Bool
  /// Agents have written notes.
  public let notes: Bool
  /// A second administrator was asked for, at any time.
  public let approvals: Bool
  /// Codes were made that stand in for the authenticator app.
  public let standIns: Bool
}

extension Desk {
  /// Which parts of the desk have anything to say about an account.
  ///
  /// - Throws: ``DeskError/unavailable(_:)``.
  public func traces(of account: Account, in scope: Scope) async throws(DeskError) -> DeskTraces {
    try await store.read(DeskError.self) { connection in
      let found = try connection.first(
        """
        SELECT EXISTS (SELECT 1 FROM removed_factor WHERE account_key = \(account.key)),
          EXISTS (SELECT 1 FROM user_note WHERE account_key = \(account.key)),
          EXISTS (SELECT 1 FROM approval INDEXED BY approval_of_user
            WHERE scope_key = \(scope.key) AND uid = \(account.id.text)),
          EXISTS (SELECT 1 FROM stand_in WHERE account_key = \(account.key))
        """
      ) { row in
        DeskTraces(
          setApart: try row.value(0), notes: try row.value(1), approvals: try row.value(2),
          standIns: try row.value(3))
      }
      guard let found else { throw Failure("no row of traces") }
      return found
    }
  }
}
