import Database

/// What the removal of all factors of an account does, or has done.
public struct RemovalOfAll: Sendable {
  /// The account, with the factors.
  public let account: Account
  /// How many sessions end.
  public let sessionsEnded: Int
}

extension Unenrolments {
  /// What removing all factors would do.
  ///
  /// - Throws: ``UnenrolmentError``.
  public func consequencesOfAll(
    _ scope: Scope, _ account: ID<Account>
  ) async throws(UnenrolmentError) -> RemovalOfAll {
    try await store.read(UnenrolmentError.self) { connection in
      try Self.findAll(scope, account, connection)
    }
  }

  /// Removes all factors of an account, ends its sessions, writes the audit row and tells
  /// the user by mail, all at once.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - account: Whose factors.
  ///   - reason: Why.
  ///   - note: More about it, at most ``longestNote`` characters; needed when the reason is
  ///     "other".
  ///   - author: Who removes them.
  /// - Returns: What it has done.
  /// - Throws: ``UnenrolmentError``.
  public func removeAll(
    _ scope: Scope, _ account: ID<Account>, reason: DeskReason, note: String,
    by author: Author
  ) async throws(UnenrolmentError) -> RemovalOfAll {
    let note = try Self.checked(note, for: reason)
    let now = store.clock.now()
    let outbox = store.outbox
    return try await store.write(UnenrolmentError.self) { connection in
      let removal = try Self.findAll(scope, account, connection)
      try FactorRecord.delete(
        removal.account.factors, of: removal.account, in: scope, connection)
      let ended = try AccountRecord.endSessions(removal.account.key, at: now, connection)
      var entry = AuditEntry(
        "factor.remove-all", "account", account.text, name: removal.account.label, in: scope)
      let factors = removal.account.factors.map(\.words)
      entry.from =
        factors.joined(separator: ", ") + ", " + Words.count(ended, "session", "sessions")
      entry.to = "no second factors, no sessions"
      entry.reason = reason.rawValue
      entry.note = note.isEmpty ? nil : note
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        .factorsRemoved(names: removal.account.factors.map(\.label)), removal.account, in: scope,
        at: now, connection)
      return removal
    }
  }

  private static func findAll(
    _ scope: Scope, _ id: ID<Account>, _ connection: borrowing Connection
  ) throws -> RemovalOfAll {
    guard let account = try AccountRecord.find(scope, id, connection) else {
      throw UnenrolmentError.accountNotFound
    }
    guard !account.factors.isEmpty else { throw UnenrolmentError.factorNotFound }
    return RemovalOfAll(
      account: account, sessionsEnded: try Sessions.count(account.key, connection))
  }
}
