import Database

/// The effect of undoing a removal, planned or done.
public struct Restoration: Sendable {
  /// The account before the change.
  public let account: Account
  public let hold: RemovalHold
  public let sessionsEnded: Int
}

extension FactorRemovals {
  /// - Throws: ``ActionDenial``; ``ActionDenial/factorNotFound`` also if the removal can no longer
  ///   be undone because the time has passed or the user has enrolled a new factor.
  public func consequencesOfUndo(
    _ pool: Pool, _ account: ID<Account>, _ removal: ID<RemovalHold>
  ) async throws -> Restoration {
    let now = store.clock.now()
    return try await store.read { connection in
      guard let account = try AccountRecord.find(pool, account, connection) else {
        throw ActionDenial.accountNotFound
      }
      return try Self.restoration(of: removal, to: account, at: now, connection)
    }
  }

  /// Undoes a removal: its factors are valid again and keep the last accepted interval.
  ///
  /// Only an administrator other than the one who removed them can do this. All sessions end: those
  /// from before the removal have already ended, and the others began without the factor.
  public func undo(
    _ pool: Pool, _ account: ID<Account>, _ removal: ID<RemovalHold>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Restoration> {
    try await authorization.act(
      .restoreFactors, request, on: account, in: pool
    ) { account, _, now, connection in
      let restoration = try Self.restoration(of: removal, to: account, at: now, connection)
      guard restoration.hold.remover != request.agent.administrator.id else {
        throw ActionDenial.ownRemoval
      }
      let entry = try restore(restoration.hold, to: account, in: pool, at: now, connection)
      return CompletedAction(entry: entry, value: restoration)
    }
  }

  /// Restores factors, ends the account's sessions, and notifies the user by email in the caller's
  /// transaction.
  ///
  /// - Returns: The audit entry, without author and reason.
  func restore(
    _ hold: RemovalHold, to account: Account, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> AuditEntry {
    let codes = try BackupCodeCounts(of: account, at: now, connection)
    try removed.restore(hold, to: account, in: pool, connection)
    let ended = try AccountRecord.endSessions(account.key, at: now, connection)
    try store.outbox.notify(
      .factorsRestored(names: hold.factors.map(\.label)), account, in: pool, at: now, connection)
    var entry = AuditEntry(.factorRestore, of: account, in: pool)
    entry.add(.factors, .of(hold.factors))
    entry.add(.sessionsEnded, .number(ended))
    try entry.addEnded(codes, of: account, at: now, connection)
    return entry
  }

  /// Permanently deletes removed factors before their time; the secrets are deleted in this
  /// transaction, and the removal can't be undone.
  ///
  /// The administrator who removed them can do this too, because it grants no access.
  ///
  /// - Returns: The deleted factors; no session ends.
  public func purge(
    _ pool: Pool, _ account: ID<Account>, _ removal: ID<RemovalHold>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Restoration> {
    try await authorization.act(
      .purgeFactors, request, on: account, in: pool
    ) { account, _, now, connection in
      let found = try Self.restoration(of: removal, to: account, at: now, connection)
      try RemovedFactors.delete(found.hold, of: account.key, connection)
      var entry = AuditEntry(.factorPurgeNow, of: account, in: pool)
      entry.add(.factors, lost: .of(found.hold.factors))
      entry.add(.remover, .text(found.hold.removerName))
      entry.add(.undoUntil, .instant(found.hold.until))
      return CompletedAction(entry: entry, value: found)
    }
  }

  private static func restoration(
    of removal: ID<RemovalHold>, to account: Account, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Restoration {
    let found = try RemovedFactors.list(account.key, at: now, connection).first {
      $0.id == removal
    }
    guard let found else { throw ActionDenial.factorNotFound }
    return Restoration(
      account: account, hold: found, sessionsEnded: try Sessions.count(account.key, connection))
  }
}
