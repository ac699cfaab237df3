package import Database

/// The effect of a removal of factors, planned or done.
public struct Removal: Sendable {
  /// The account before the change.
  public let account: Account
  public let factors: [Factor]
  public let isOfAll: Bool
  public let rules: SupportRules
  public internal(set) var sessionsEnded = 0
  /// Why a second administrator must approve it; nil if that isn't required.
  public internal(set) var approval: Approval.Cause?
  /// Whether a temporary code is revoked too; set only before the removal.
  public internal(set) var endsTemporaryCode = false
  /// The number of recovery codes revoked too; set only before the removal.
  public internal(set) var recoveryCodesEnded = 0
  /// The removal that can be undone and its deadline; nil if it can't be, and before the removal.
  public internal(set) var hold: (id: ID<RemovalHold>, until: Instant)?
  /// The number of remaining second factors that sign-in requires: those whose kind is enabled.
  public let factorsRequired: Int
  /// What happens at the user's sign-ins if none remains that's required.
  public internal(set) var signInWithoutFactor = SignInWithoutFactor.accepted
  /// The number of second factors left on the account, of any kind.
  public var factorsLeft: Int { account.factors.count - factors.count }

  /// The number of hours within which another administrator can undo the removal; 0 if it can't be
  /// undone.
  public var undoHours: Int { rules.undoHours }

  /// The account after the change.
  var remaining: Account { account.without(factors) }
}

public enum RemovalOutcome: Sendable {
  case done(Removal)
  /// The removal is waiting for a second administrator until the given time.
  case waits(Removal, until: Instant)
  /// The server of the connected project is to remove them, under the number of the intent.
  case requested(Int64)
}

public struct FactorRemovals: Sendable {
  let store: Store
  let removed: RemovedFactors

  /// Returns what the removal of one factor, or of all factors if it's nil, would do.
  public func consequences(
    _ pool: Pool, _ account: ID<Account>, _ factor: ID<Factor>?
  ) async throws -> Removal {
    try await store.read { now, connection in
      guard let account = try AccountRecord.find(pool, account, connection) else {
        throw ActionDenial.accountNotFound
      }
      let rules = try SupportRules.find(pool, connection)
      var removal = try planned(
        factor, from: account, rules, in: pool, at: now, connection)
      removal.sessionsEnded = try Sessions.count(account.key, connection)
      let codes = try BackupCodeCounts(of: account, at: now, connection)
      removal.endsTemporaryCode = codes.temporary > 0
      if !removal.remaining.has(.totp) { removal.recoveryCodesEnded = codes.recovery }
      return removal
    }
  }

  /// Removes one or all factors, ends the account's sessions, writes the audit row, and notifies
  /// the user by email in one transaction, or requests approval if the pool requires it.
  ///
  /// The removed factors are kept for the time that the support rules define, unless they may be in
  /// someone else's possession. If the agent decided about certain factors (`seen`), the removal of
  /// another one is denied.
  public func remove(
    _ pool: Pool, _ account: ID<Account>, _ factor: ID<Factor>?, _ request: ActionRequest,
    seen: Set<ID<Factor>>? = nil
  ) async throws -> ActionOutcome<RemovalOutcome> {
    try await store.run(
      factor == nil ? .removeAllFactors : .removeFactor, by: .console(request),
      on: .user(account, in: pool),
      plan: { account, context, connection in
        let removal = try planned(
          factor, from: account, context.rules, in: pool, at: context.now, connection)
        if let seen, removal.factors.contains(where: { !seen.contains($0.id) }) {
          throw ActionDenial.factorEnrolled
        }
        let change = DirectoryChange.factorsRemoved(factor, seen: account.factors.map(\.id))
        guard let cause = removal.approval else {
          return .directory(removal, change, requested: RemovalOutcome.requested)
        }
        let approval = try NewApproval(
          removal, cause, change, in: pool, at: context.now, connection)
        return .approval(approval) { expiry, _ in .waits(removal, until: expiry) }
      }
    ) { removal, context, connection in
      var removal = removal
      let hold = NewRemovalHold(request, context.rules, at: context.now, random: store.random)
      let entry = try perform(&removal, hold, in: pool, at: context.now, connection)
      try context.record(entry, connection)
      return .done(removal)
    }
  }

  private func planned(
    _ factor: ID<Factor>?, from account: Account, _ rules: SupportRules, in pool: Pool,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Removal {
    let policy = try Policies.stored(pool.key, connection)
    var removal = try Self.removal(of: factor, from: account, rules, policy)
    removal.approval = Approval.Cause(of: removal, policy, at: now)
    removal.signInWithoutFactor = try store.signInWithoutFactor(
      of: removal.remaining, under: policy, at: now, connection)
    return removal
  }

  package static func removal(
    of factor: ID<Factor>?, from account: Account, _ rules: SupportRules, _ policy: StoredPolicy
  ) throws(ActionDenial) -> Removal {
    let factors = account.factors.filter { factor == nil || $0.id == factor }
    guard !factors.isEmpty else { throw ActionDenial.factorNotFound }
    let due = factor == nil ? [] : SignInForecast.factorsDue(of: account, policy.configuration)
    return Removal(
      account: account, factors: factors, isOfAll: factor == nil, rules: rules,
      factorsRequired: due.count { $0.id != factor })
  }

  /// Performs a removal in the caller's transaction.
  ///
  /// Without a hold, the factors are deleted permanently, along with all factors removed from the
  /// account earlier. Sets the number of ended sessions, and how long it can be undone.
  ///
  /// - Returns: The audit entry, without author and reason.
  package func perform(
    _ removal: inout Removal, _ hold: NewRemovalHold?, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> AuditEntry {
    let account = removal.account
    if let hold {
      try removed.keep(removal, hold, in: pool, at: now, connection)
    } else {
      try RemovedFactors.end(account.key, connection)
    }
    let codes = try BackupCodeCounts(of: account, at: now, connection)
    removal.sessionsEnded = try FactorRecord.delete(
      removal.factors, of: account, endingSessionsAt: now, in: pool, connection)
    try OwnChange.renew(of: account.key, connection)
    removal.hold = hold.map { ($0.id, $0.until) }
    try store.outbox.notify(
      UserNotice(.factorsRemoved, removal.factors.map(\.label)), account, in: pool, at: now,
      connection)
    var entry = AuditEntry.removal(
      of: removal.factors, from: account, isOfAll: removal.isOfAll, left: removal.factorsLeft,
      sessionsEnded: removal.sessionsEnded, in: pool)
    try entry.addEnded(codes, of: account, at: now, connection)
    return entry
  }
}

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
    try await store.read { now, connection in
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
    try await store.run(.restoreFactors, by: .console(request), on: .user(account, in: pool)) {
      account, context, connection in
      let now = context.now
      let restoration = try Self.restoration(of: removal, to: account, at: now, connection)
      guard restoration.hold.remover != request.agent.administrator.id else {
        throw ActionDenial.ownRemoval
      }
      let entry = try restore(restoration.hold, to: account, in: pool, at: now, connection)
      try context.record(entry, connection)
      return restoration
    }
  }

  /// Restores factors, ends the account's sessions, and notifies the user by email in the caller's
  /// transaction; returns the audit entry, without author and reason.
  func restore(
    _ hold: RemovalHold, to account: Account, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> AuditEntry {
    let codes = try BackupCodeCounts(of: account, at: now, connection)
    try removed.restore(hold, to: account, in: pool, connection)
    let ended = try AccountRecord.endSessions(account.key, at: now, connection)
    try OwnChange.renew(of: account.key, connection)
    try store.outbox.notify(
      UserNotice(.factorsRestored, hold.factors.map(\.label)), account, in: pool, at: now,
      connection)
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
    try await store.run(.purgeFactors, by: .console(request), on: .user(account, in: pool)) {
      account, context, connection in
      let now = context.now
      let found = try Self.restoration(of: removal, to: account, at: now, connection)
      try RemovedFactors.delete(found.hold, of: account.key, connection)
      var entry = AuditEntry(.factorPurgeNow, of: account, in: pool)
      entry.add(.factors, lost: .of(found.hold.factors))
      entry.add(.remover, .text(found.hold.removerName))
      entry.add(.undoUntil, .instant(found.hold.until))
      try context.record(entry, connection)
      return found
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
