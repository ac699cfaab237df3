import Database

extension Identity {
  private var cleanupTasks: [CleanupTask] {
    let isSettled = clockGuard.isSettled(for: Ticket.recordLifetime)
    let (reviews, outbox, totp) = (reviews, store.outbox, totp)
    return [
      Self.once(RestoreMark.limit),
      { try isSettled ? Ticket.deleteExpired(at: $0, $1) : false },
      AccountRecord.expireLocks,
      CodeAttemptRecord.purgeDeleted,
      PhoneCodes.deleteExpired,
      OutOfBandRecord.deleteExpired,
      UserLink.deleteExpired,
      CallerCode.deleteExpired,
      BackupCodeStore.deleteExpired,
      ShownUsers.recordHours,
      Throttle.deleteExpired,
      Invitations.deleteExpired,
      Outbox.purgeExpired,
      SMSLimits.purgeExpired,
      UnreadableSecrets.purgeExpired,
      Support.purgeExpired,
      Audit.forgetReadings,
      Approvals.purgeExpired,
      Intent.purgeExpired,
      reviews.remind,
      { try Administrators.endGrants(outbox, at: $0, $1) },
      { try Administrators.remindOfGrants(outbox, at: $0, $1) },
      BulkRemovals.purgeExpired,
      ConsoleSessions.purgeExpired,
      ConsoleStorage.purgeExpired,
      Self.once(Alerts.endBreakGlass),
      RemovedFactors.purge,
      totp.addDigests,
      GoneUsers.purge,
    ]
  }

  /// Returns a cleanup task that one transaction completes.
  private static func once(
    _ work: @escaping @Sendable (Instant, borrowing Connection) throws -> Void
  ) -> CleanupTask {
    { now, connection in
      try work(now, connection)
      return false
    }
  }

  /// Deletes expired data, such as tickets, guesses, invitations, and console sessions, and records
  /// when keys and tokens were used.
  ///
  /// Each cleanup task has its own transactions. One that fails doesn't prevent the others.
  ///
  /// Call it about every minute. It does nothing while the clock isn't trusted.
  ///
  /// - Throws: The first failure.
  public func purgeExpired() async throws {
    guard clockGuard.doubt == nil else { return }
    let now = clock.now()
    var firstFailure: (any Error)?
    func attempt(_ work: () async throws -> Void) async {
      do { try await work() } catch { firstFailure = firstFailure ?? error }
    }
    for task in cleanupTasks {
      await attempt { try await store.run(task, at: now) }
    }
    await attempt { try await signingKeys.retireExpired() }
    await attempt { try await expireAnonymousAccounts(at: now) }
    await attempt { try await recordUses() }
    if let firstFailure { throw firstFailure }
  }
}
