import Database

extension Support {
  /// Unlocks an account whose codes aren't checked after incorrect ones, however it was locked.
  ///
  /// - Returns: The account before the change.
  /// - Throws: ``ActionDenial/nothingToDo`` if there were no wrong codes.
  public func unlock(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await authorization.act(
      .unlockCodes, request, on: account, in: pool
    ) { account, _, now, connection in
      let isLocked = account.codeLock(at: now) != .open
      guard account.wrongCodes > 0 || isLocked else { throw ActionDenial.nothingToDo }
      try AccountRecord.unlockCodes(account.key, connection)
      try store.outbox.notify(.codesUnlocked, account, in: pool, at: now, connection)
      var entry = AuditEntry(.accountUnlock, of: account, in: pool)
      entry.add(.wrongCodes, from: .number(account.wrongCodes), to: .number(0))
      if isLocked { entry.add(.codesLocked, from: .flag(true), to: .flag(false)) }
      return CompletedAction(entry: entry, value: account)
    }
  }

  /// - Returns: The number of sessions ended.
  public func endSessions(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Int> {
    try await authorization.act(
      .endSessions, request, on: account, in: pool
    ) { account, _, now, connection in
      let ended = try AccountRecord.endSessions(account.key, at: now, connection)
      if ended > 0 {
        try store.outbox.notify(.sessionsEnded, account, in: pool, at: now, connection)
      }
      var entry = AuditEntry(.sessionsEnd, of: account, in: pool)
      entry.add(.sessionsEnded, .number(ended))
      return CompletedAction(entry: entry, value: ended)
    }
  }

  /// Protects an account, so that only owners can act on it, or removes the protection.
  ///
  /// - Returns: The account before the change.
  /// - Throws: ``ActionDenial/nothingToDo`` if the protection doesn't change.
  public func protect(
    _ pool: Pool, _ account: ID<Account>, _ isProtected: Bool, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await authorization.act(
      .protectUser, request, on: account, in: pool
    ) { account, _, _, connection in
      guard account.isProtected != isProtected else { throw ActionDenial.nothingToDo }
      try connection.run(
        "UPDATE account SET protected = \(isProtected) WHERE account_key = \(account.key)")
      var entry = AuditEntry(
        isProtected ? .accountProtect : .accountUnprotect, of: account, in: pool)
      entry.add(.isProtected, from: .flag(!isProtected), to: .flag(isProtected))
      return CompletedAction(entry: entry, value: account)
    }
  }

  /// Unlocks second-factor changes on an account whose user reported a change as unauthorized, and
  /// notifies the user.
  ///
  /// - Returns: The account before the change.
  /// - Throws: ``ActionDenial/nothingToDo`` if changes weren't locked.
  public func allowChanges(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await authorization.act(
      .allowChanges, request, on: account, in: pool
    ) { account, _, now, connection in
      guard let since = account.changesLockedAt else { throw ActionDenial.nothingToDo }
      try connection.run(
        "UPDATE account SET changes_locked_at = NULL WHERE account_key = \(account.key)")
      try store.outbox.notify(.changesAllowed, account, in: pool, at: now, connection)
      var entry = AuditEntry(.accountAllowChanges, of: account, in: pool)
      entry.add(.changesLockedAt, from: .instant(since), to: .absent)
      return CompletedAction(entry: entry, value: account)
    }
  }

  /// Disables an account, which ends its sessions.
  ///
  /// - Returns: The number of sessions ended.
  /// - Throws: ``ActionDenial/nothingToDo`` if it's already disabled.
  public func disable(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Int> {
    try await authorization.act(
      .disableUser, request, on: account, in: pool
    ) { account, _, now, connection in
      guard !account.disabled else { throw ActionDenial.nothingToDo }
      try connection.run("UPDATE account SET disabled = 1 WHERE account_key = \(account.key)")
      let ended = try AccountRecord.endSessions(account.key, at: now, connection)
      let new = try AccountRecord.changed(
        account, in: pool, isNewPassword: false, at: now, connection)
      var entry = AuditEntry(.accountChange, of: account, in: pool)
      entry.compare(account.auditFields(), new.auditFields())
      entry.addEnded(ended)
      return CompletedAction(entry: entry, value: ended)
    }
  }

  /// - Returns: The account before the change.
  /// - Throws: ``ActionDenial/nothingToDo`` if it isn't disabled.
  public func enable(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await authorization.act(
      .enableUser, request, on: account, in: pool
    ) { account, _, now, connection in
      guard account.disabled else { throw ActionDenial.nothingToDo }
      try connection.run("UPDATE account SET disabled = 0 WHERE account_key = \(account.key)")
      return try Self.changed(account, in: pool, at: now, connection)
    }
  }

  /// - Returns: The account before the change.
  /// - Throws: ``ActionDenial/nothingToDo`` if it's already verified or there is none.
  public func verifyEmail(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await authorization.act(
      .verifyEmail, request, on: account, in: pool
    ) { account, _, now, connection in
      guard account.email != nil, !account.emailVerified else { throw ActionDenial.nothingToDo }
      try connection.run(
        "UPDATE account SET email_verified = 1 WHERE account_key = \(account.key)")
      return try Self.changed(account, in: pool, at: now, connection)
    }
  }

  /// Returns the audit log entry of a change to an account's columns, after updating the data
  /// derived from them.
  private static func changed(
    _ old: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> CompletedAction<Account> {
    let new = try AccountRecord.changed(old, in: pool, isNewPassword: false, at: now, connection)
    var entry = AuditEntry(.accountChange, of: old, in: pool)
    entry.compare(old.auditFields(), new.auditFields())
    return CompletedAction(entry: entry, value: old)
  }

  /// Deletes an account with its factors, sessions, and recently removed factors.
  ///
  /// The agent must have typed the account's email, case-insensitive, or its uid.
  public func delete(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await authorization.act(
      .deleteUser, request, on: account, in: pool,
      answers: { account, _ in request.confirms(account) ? [] : [.notConfirmed] }
    ) { account, _, now, connection in
      try store.outbox.notify(.accountDeleted, account, in: pool, at: now, connection)
      let entry = try Accounts.delete(
        account, in: pool, by: request.author, at: now, connection)
      return CompletedAction(entry: entry, value: account)
    }
  }
}
