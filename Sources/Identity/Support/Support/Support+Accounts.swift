import Database
import Text

extension Support {
  /// Unlocks an account whose codes aren't checked after incorrect ones, however it was locked.
  ///
  /// - Returns: The account before the change.
  /// - Throws: ``ActionDenial/nothingToDo`` if there were no wrong codes.
  public func unlock(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await store.run(.unlockCodes, by: .console(request), on: .user(account, in: pool)) {
      account, context, connection in
      let now = context.now
      let isLocked = account.codeLock(at: now) != .open
      guard account.wrongCodes > 0 || isLocked else { throw ActionDenial.nothingToDo }
      try AccountRecord.unlockCodes(account.key, connection)
      try store.outbox.notify(UserNotice(.codesUnlocked), account, in: pool, at: now, connection)
      var entry = AuditEntry(.accountUnlock, of: account, in: pool)
      entry.add(.wrongCodes, from: .number(account.wrongCodes), to: .number(0))
      if isLocked { entry.add(.codesLocked, from: .flag(true), to: .flag(false)) }
      try context.record(entry, connection)
      return account
    }
  }

  public func endSessions(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<UserChangeOutcome> {
    try await store.run(
      .endSessions, by: .console(request), on: .user(account, in: pool),
      plan: { account, _, _ in
        .directory(
          account, .sessionsEnded(seen: account.validSince),
          requested: UserChangeOutcome.requested)
      }
    ) { account, context, connection in
      let (entry, ended) = try Self.ending(
        account, in: pool, store.outbox, at: context.now, connection)
      try context.record(entry, connection)
      return .done(sessions: ended)
    }
  }

  /// Ends a user's sessions, and returns their number with the entry to record.
  static func ending(
    _ account: Account, in pool: Pool, _ outbox: Outbox, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> (entry: AuditEntry, sessions: Int) {
    let ended = try AccountRecord.endSessions(account.key, at: now, connection)
    try OwnChange.renew(of: account.key, connection)
    if ended > 0 {
      try outbox.notify(UserNotice(.sessionsEnded), account, in: pool, at: now, connection)
    }
    var entry = AuditEntry(.sessionsEnd, of: account, in: pool)
    entry.add(.sessionsEnded, .number(ended))
    return (entry, ended)
  }

  /// Protects an account, so that only owners can act on it, or removes the protection.
  ///
  /// - Returns: The account before the change.
  /// - Throws: ``ActionDenial/nothingToDo`` if the protection doesn't change.
  public func protect(
    _ pool: Pool, _ account: ID<Account>, _ isProtected: Bool, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await store.run(.protectUser, by: .console(request), on: .user(account, in: pool)) {
      account, context, connection in
      guard account.isProtected != isProtected else { throw ActionDenial.nothingToDo }
      try AccountRecord.set("protected = \(isProtected)", of: account.key, connection)
      var entry = AuditEntry(
        isProtected ? .accountProtect : .accountUnprotect, of: account, in: pool)
      entry.add(.isProtected, from: .flag(!isProtected), to: .flag(isProtected))
      try context.record(entry, connection)
      return account
    }
  }

  /// Unlocks an account whose user reported a change as unauthorized, and notifies the user.
  ///
  /// - Returns: The account before the change.
  /// - Throws: ``ActionDenial/nothingToDo`` if it isn't locked.
  public func allowChanges(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await store.run(.allowChanges, by: .console(request), on: .user(account, in: pool)) {
      account, context, connection in
      let now = context.now
      guard let since = account.changesLockedAt else { throw ActionDenial.nothingToDo }
      try AccountLock.store(nil, of: account.key, connection)
      try store.outbox.notify(UserNotice(.changesAllowed), account, in: pool, at: now, connection)
      var entry = AuditEntry(.accountAllowChanges, of: account, in: pool)
      entry.add(.changesLockedAt, from: .instant(since), to: .absent)
      try context.record(entry, connection)
      return account
    }
  }

  /// Disables an account, which ends its sessions.
  ///
  /// - Throws: ``ActionDenial/nothingToDo`` if it's already disabled.
  public func disable(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<UserChangeOutcome> {
    try await store.run(
      .disableUser, by: .console(request), on: .user(account, in: pool),
      plan: { account, _, _ in try Self.planned(true, account) }
    ) { account, context, connection in
      let (entry, ended) = try Self.disabling(account, in: pool, at: context.now, connection)
      try context.record(entry, connection)
      return .done(sessions: ended)
    }
  }

  /// Disables a user, and returns the number of ended sessions with the entry to record.
  static func disabling(
    _ account: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> (entry: AuditEntry, sessions: Int) {
    try AccountRecord.set("disabled = 1", of: account.key, connection)
    let ended = try AccountRecord.endSessions(account.key, at: now, connection)
    try OwnChange.renew(of: account.key, connection)
    var entry = try changed(account, in: pool, at: now, connection)
    entry.addEnded(ended)
    return (entry, ended)
  }

  /// - Throws: ``ActionDenial/nothingToDo`` if it isn't disabled.
  public func enable(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<UserChangeOutcome> {
    try await store.run(
      .enableUser, by: .console(request), on: .user(account, in: pool),
      plan: { account, _, _ in try Self.planned(false, account) }
    ) { account, context, connection in
      let entry = try Self.enabling(account, in: pool, at: context.now, connection)
      try context.record(entry, connection)
      return .done(sessions: 0)
    }
  }

  static func enabling(
    _ account: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> AuditEntry {
    try AccountRecord.set("disabled = 0", of: account.key, connection)
    return try changed(account, in: pool, at: now, connection)
  }

  private static func planned(
    _ isDisabled: Bool, _ account: Account
  ) throws(ActionDenial) -> ActionPlan<Account, UserChangeOutcome> {
    guard account.disabled != isDisabled else { throw .nothingToDo }
    return .directory(
      account, .disabled(isDisabled, seen: account.disabled),
      requested: UserChangeOutcome.requested)
  }

  /// - Returns: The account before the change.
  /// - Throws: ``ActionDenial/nothingToDo`` if it's already verified or there is none.
  public func verifyEmail(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await store.run(.verifyEmail, by: .console(request), on: .user(account, in: pool)) {
      account, context, connection in
      let now = context.now
      guard account.email != nil, !account.emailVerified else { throw ActionDenial.nothingToDo }
      try AccountRecord.set("email_verified = 1", of: account.key, connection)
      let entry = try Self.changed(account, in: pool, at: now, connection)
      try context.record(entry, connection)
      return account
    }
  }

  /// Returns the audit log entry of a change to an account's columns, after updating the data
  /// derived from them.
  private static func changed(
    _ old: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> AuditEntry {
    let new = try AccountRecord.changed(old, in: pool, isNewPassword: false, at: now, connection)
    var entry = AuditEntry(.accountChange, of: old, in: pool)
    entry.compare(old.auditFields(), new.auditFields())
    return entry
  }

  /// Deletes an account with its factors, sessions, and recently removed factors.
  ///
  /// The agent must have typed the account's email, case-insensitive, or its uid.
  public func delete(
    _ pool: Pool, _ account: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Account> {
    try await store.run(
      .deleteUser, by: .console(request),
      on: .user(
        account, in: pool,
        inputErrors: { account, _ in request.confirms(account) ? [] : [.notConfirmed] })
    ) { account, context, connection in
      let now = context.now
      try store.outbox.notify(
        UserNotice(.accountDeleted), account, in: pool, within: nil, at: now, connection)
      let entry = try Accounts.delete(
        account, in: pool, by: request.author, at: now, connection)
      try context.record(entry, connection)
      return account
    }
  }
}

public enum UserChangeOutcome: Sendable {
  /// The number of sessions ended.
  case done(sessions: Int)
  /// The server of the connected project is to change the user, under the number of the intent.
  case requested(Int64)
}

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
    return try await store.run(
      .renameFactor, by: .console(request),
      on: .user(account, in: pool, inputErrors: { _, _ in faults })
    ) { account, context, connection in
      let old = try Self.find(factor, of: account).factor
      guard old.displayName?.isSameBytes(as: name) != true else { throw ActionDenial.nothingToDo }
      try connection.run(
        """
        UPDATE factor SET display_name = \(name)
        WHERE account_key = \(account.key) AND enrollment_id = \(factor)
        """)
      let new = try Factor.all(of: account.key, connection).first { $0.id == factor }
      try store.outbox.notify(
        UserNotice(.factorRenamed, [old.label, name]), account, in: pool, at: context.now,
        connection)
      var entry = AuditEntry(.factorRename, of: account, in: pool)
      entry.add(.factors, from: .of([old]), to: .of([new].compactMap { $0 }))
      try context.record(entry, connection)
      return Renaming(account: account, factor: old, name: name)
    }
  }
}

/// A factor that was suspended or resumed.
public struct Suspension: Sendable {
  /// The account before the change.
  public let account: Account
  /// The factor before the change.
  public let factor: Factor
  /// The account's factors that sign-in requires; set only before the change.
  public internal(set) var factorsDue: [Factor] = []
}

extension Support {
  /// The maximum length of a suspension, in days.
  public static let longestSuspension = 30

  public func factor(
    _ pool: Pool, _ account: ID<Account>, _ factor: ID<Factor>
  ) async throws -> Suspension {
    try await store.read { connection in
      guard let account = try AccountRecord.find(pool, account, connection) else {
        throw ActionDenial.accountNotFound
      }
      var found = try Self.find(factor, of: account)
      let configuration = try Policies.stored(pool.key, connection).configuration
      found.factorsDue = SignInForecast.factorsDue(of: account, configuration)
      return found
    }
  }

  /// Suspends a factor until a given time: sign-in still requires a second factor, but the factor's
  /// codes are rejected and counted as wrong ones.
  ///
  /// The suspension ends automatically. Suspending a suspended factor replaces the end time; an
  /// earlier end requires what ending the suspension does.
  public func suspend(
    _ pool: Pool, _ account: ID<Account>, _ factor: ID<Factor>, until: Instant?,
    _ request: ActionRequest
  ) async throws -> ActionOutcome<Suspension> {
    try await store.run(
      .suspendFactor, by: .console(request),
      on: .user(
        account, in: pool,
        requiring: { account, now in
          Self.isShortened(factor, of: account, to: until, at: now) ? .resumeFactor : nil
        },
        inputErrors: { _, now in
          until?.isWithin(days: Self.longestSuspension, after: now) == true
            ? [] : [.untilOutOfRange]
        })
    ) { account, context, connection in
      let now = context.now
      let found = try Self.find(factor, of: account)
      guard let until else { throw ActionDenial.answers([.untilOutOfRange]) }
      try Self.store(until, found, connection)
      try store.outbox.notify(
        UserNotice(.factorSuspended, [found.factor.label], until: until), account, in: pool,
        at: now,
        connection)
      var entry = AuditEntry(.factorSuspend, of: account, in: pool)
      entry.add(.factors, .of([found.factor]))
      let before = found.factor.isSuspended(at: now) ? found.factor.suspendedUntil : nil
      entry.add(.suspendedUntil, from: .optional(before), to: .instant(until))
      try context.record(entry, connection)
      return found
    }
  }

  public func resume(
    _ pool: Pool, _ account: ID<Account>, _ factor: ID<Factor>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Suspension> {
    try await store.run(.resumeFactor, by: .console(request), on: .user(account, in: pool)) {
      account, context, connection in
      let now = context.now
      let found = try Self.find(factor, of: account)
      guard found.factor.isSuspended(at: now) else { throw ActionDenial.nothingToDo }
      try Self.store(nil, found, connection)
      try store.outbox.notify(
        UserNotice(.factorResumed, [found.factor.label]), account, in: pool, at: now, connection)
      var entry = AuditEntry(.factorResume, of: account, in: pool)
      entry.add(.factors, .of([found.factor]))
      entry.add(.suspendedUntil, from: .optional(found.factor.suspendedUntil), to: .absent)
      try context.record(entry, connection)
      return found
    }
  }

  /// Returns whether a new end lets a factor's codes be accepted earlier than without it.
  private static func isShortened(
    _ factor: ID<Factor>, of account: Account, to until: Instant?, at now: Instant
  ) -> Bool {
    guard let until, let factor = account.factors.first(where: { $0.id == factor }),
      factor.isSuspended(at: now), let end = factor.suspendedUntil
    else { return false }
    return until < end
  }

  static func find(
    _ factor: ID<Factor>, of account: Account
  ) throws(ActionDenial) -> Suspension {
    guard let found = account.factors.first(where: { $0.id == factor }) else {
      throw .factorNotFound
    }
    return Suspension(account: account, factor: found)
  }

  private static func store(
    _ until: Instant?, _ found: Suspension, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE factor SET suspended_until = \(until)
      WHERE account_key = \(found.account.key) AND enrollment_id = \(found.factor.id)
      """)
    try FactorRecord.settleSuspension(found.account.key, connection)
  }
}
