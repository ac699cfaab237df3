import Database
import Text

/// Limits and records what service tokens do to second factors, so that programs can't bypass the
/// support rules unnoticed.
enum TokenFactorRules {
  /// Checks and records a service token's changes to an account's second factors.
  ///
  /// Changes by other authors are recorded where they're made. Throws
  /// ``AccountError/factorRemovalByTokenOff``, ``AccountError/tooManyFactorChanges(until:)``.
  static func apply(
    from old: Account, to new: Account, removed: [Factor], sessionsEnded: Int,
    codes: BackupCodeCounts?, in pool: Pool, by author: Author, outbox: Outbox, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard case .serviceToken(let token, _) = author.actor else { return }
    let added = new.factors(addedTo: old)
    let renamed = renamed(from: old, to: new)
    guard !(removed.isEmpty && added.isEmpty && renamed.isEmpty) else { return }
    try check(removed: removed, in: pool, by: token, at: now, connection)
    if !removed.isEmpty {
      var entry = AuditEntry.removal(
        of: removed, from: old, left: new.factors.count, sessionsEnded: sessionsEnded, in: pool)
      try entry.addEnded(codes, of: old, at: now, connection)
      try entry.record(by: author, at: now, connection)
    }
    for factor in added {
      var entry = AuditEntry(.factorEnroll, of: new, in: pool)
      entry.add(.factors, .of([factor]))
      try entry.record(by: author, at: now, connection)
    }
    for (before, after) in renamed {
      try outbox.notify(
        UserNotice(.factorRenamed, [before.label, after.label]), new, in: pool,
        within: author.noticeQuota, at: now, connection)
      var entry = AuditEntry(.factorRename, of: new, in: pool)
      entry.add(.factors, from: .of([before]), to: .of([after]))
      try entry.record(by: author, at: now, connection)
    }
  }

  /// Rejects an import row with which a service token would change the second factors of an existing
  /// user, if the pool doesn't allow it or the token has reached its hourly limit.
  ///
  /// - Throws: ``ImportFault/factorRemovalByTokenOff``, ``ImportFault/tooManyFactorChanges``.
  static func checkImport(
    removing removed: [Factor], in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard case .serviceToken(let token, _) = author.actor else { return }
    do {
      try check(removed: removed, in: pool, by: token, at: now, connection)
    } catch AccountError.factorRemovalByTokenOff {
      throw ImportFault.factorRemovalByTokenOff
    } catch AccountError.tooManyFactorChanges {
      throw ImportFault.tooManyFactorChanges
    }
  }

  fileprivate static func check(
    removed: [Factor], in pool: Pool, by token: ID<ServiceToken>, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let settings = try SupportRules.find(pool, connection)
    guard removed.isEmpty || settings.tokensRemoveFactors else {
      throw AccountError.factorRemovalByTokenOff
    }
    guard let limit = settings.tokenChangesPerHour else { return }
    let name = CounterName.factorChanges(of: token, in: pool.key)
    if let until = try HourlyQuota.take(name, limit: limit, at: now, connection) {
      throw AccountError.tooManyFactorChanges(until: until)
    }
  }

  private static func renamed(from old: Account, to new: Account) -> [(Factor, Factor)] {
    new.factors.compactMap { after in
      guard let before = old.factors.first(where: { $0.id == after.id }),
        !before.label.isSameBytes(as: after.label),
        before.phoneNumber == after.phoneNumber
      else { return nil }
      return (before, after)
    }
  }
}

extension Account {
  /// Returns the factors added since `old`; a factor whose phone number changed is one of them.
  func factors(addedTo old: Account) -> [Factor] {
    factors.filter { factor in
      !old.factors.contains { $0.id == factor.id && $0.phoneNumber == factor.phoneNumber }
    }
  }
}

extension AuditEntry {
  /// Creates the audit entry for a removal of second factors by someone other than their user.
  static func removal(
    of factors: [Factor], from account: Account, left: Int, sessionsEnded: Int, in pool: Pool
  ) -> AuditEntry {
    let isOfAll = left == 0 && factors.count == account.factors.count
    return removal(
      of: factors, from: account, isOfAll: isOfAll, left: left, sessionsEnded: sessionsEnded,
      in: pool)
  }

  /// Creates the same entry when the caller knows whether all factors were to be removed.
  static func removal(
    of factors: [Factor], from account: Account, isOfAll: Bool, left: Int, sessionsEnded: Int,
    in pool: Pool
  ) -> AuditEntry {
    var entry = AuditEntry(isOfAll ? .factorRemoveAll : .factorRemove, of: account, in: pool)
    entry.add(.factors, lost: .of(factors))
    entry.add(.factorsLeft, .number(left))
    entry.add(.sessionsEnded, .number(sessionsEnded))
    return entry
  }
}

/// Decides who may delete an account: who may not remove its second factors may not get rid of them by
/// deleting it, because the account could be created again without them.
enum DeletionRules {
  /// - Throws: ``AccountError`` for a user or a service token, ``SessionError`` for a user,
  ///   ``ActionDenial`` for an administrator, database errors.
  static func check(
    deletionOf account: Account, in pool: Pool, by author: Author, _ session: UserSession?,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    switch author.actor {
    case .user, .visitor:
      guard let session else { throw AccountError.adminOnly }
      do {
        try Enrollments.check(
          .deletion, of: account.factors, from: account, in: session, at: now, connection)
      } catch EnrollmentError.factorSuspended {
        throw AccountError.factorSuspended
      } catch EnrollmentError.changesLocked {
        throw AccountError.changesLocked
      }
    case .serviceToken(let token, _):
      guard account.changesLockedAt == nil else { throw AccountError.changesLocked }
      guard !account.factors.isEmpty else { return }
      try TokenFactorRules.check(
        removed: account.factors, in: pool, by: token, at: now, connection)
    case .administrator:
      guard account.changesLockedAt == nil else { throw ActionDenial.changesLocked }
      guard !account.factors.isEmpty, account.goneAt == nil else { return }
      let rules = try SupportRules.find(pool, connection)
      let policy = try Policies.stored(pool.key, connection)
      let removal = try FactorRemovals.removal(of: nil, from: account, rules, policy)
      guard Approval.Cause(of: removal, policy, at: now) == nil else {
        throw ActionDenial.factorsNeedApproval
      }
    case .commandLine, .emulatorOwner, .server, .remote:
      return
    }
  }

  static func canDeleteAll(_ actor: Actor) -> Bool {
    switch actor {
    case .commandLine, .emulatorOwner, .server: true
    case .administrator, .serviceToken, .user, .visitor, .remote: false
    }
  }
}
