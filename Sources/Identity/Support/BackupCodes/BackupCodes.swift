public import Crypto
import Database

/// A temporary code for an agent to give to a user, shown only once.
public struct TemporaryCode: Sendable {
  /// The code, in two groups of four characters.
  public let code: Secret
  public let expiresAt: Instant
}

public struct BackupCodeState: Sendable {
  public let temporaryUntil: Instant?
  public let temporaryMadeAt: Instant?
  /// The number of recovery codes left; nil if none were generated.
  public let recoveryLeft: Int?
  public let recoveryMadeAt: Instant?
  /// Whether there's a temporary code that sign-in rejects because they're off in the pool.
  public let temporaryIsOff: Bool
  /// Whether there are unused recovery codes that sign-in rejects because they're off in the pool.
  public let recoveryIsOff: Bool

  public static let nothing = BackupCodeState(
    temporaryUntil: nil, temporaryMadeAt: nil, recoveryLeft: nil, recoveryMadeAt: nil,
    temporaryIsOff: false, recoveryIsOff: false)
}

extension SupportRules {
  func accepts(_ kind: BackupCodeStore.Kind) -> Bool {
    kind == .temporary ? temporaryCodes : recoveryCodes
  }

  public func temporaryCodeDenial(for account: Account) -> ActionDenial? {
    guard accepts(.temporary) else { return .switchedOff }
    return account.has(.totp) ? nil : .noAuthenticator
  }
}

public struct BackupCodes: Sendable {
  let store: Store
  let codes: BackupCodeStore

  /// The allowed lifetimes of a temporary code, in hours.
  public static let hours = [1, 4, 8, 24]

  public func state(
    of account: Account, in pool: Pool
  ) async throws -> BackupCodeState {
    try await store.read { now, connection in
      try Self.state(
        of: account, by: try SupportRules.find(pool, connection), at: now, connection)
    }
  }

  static func state(
    of account: Account, by rules: SupportRules, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> BackupCodeState {
    let temporary = try BackupCodeStore.left(.temporary, of: account.key, at: now, connection)
    let recovery = try BackupCodeStore.left(.recovery, of: account.key, at: now, connection)
    return BackupCodeState(
      temporaryUntil: temporary?.expiresAt, temporaryMadeAt: temporary?.madeAt,
      recoveryLeft: recovery?.count, recoveryMadeAt: recovery?.madeAt,
      temporaryIsOff: temporary != nil && !rules.accepts(.temporary),
      recoveryIsOff: (recovery?.count ?? 0) > 0 && !rules.accepts(.recovery))
  }

  /// Generates a code that a user can enter once instead of a code of their authenticator app.
  ///
  /// It replaces any previous temporary code. It's valid even if the factor is suspended, but not
  /// while the account's codes are locked; the account must be unlocked first.
  ///
  /// - Returns: The code, stored only as a digest.
  public func makeTemporaryCode(
    _ request: ActionRequest, for id: ID<Account>, in pool: Pool, hours: Int
  ) async throws -> ActionOutcome<TemporaryCode> {
    let (store, codes) = (store, codes)
    let hours = Self.hours.contains(hours) ? hours : Self.hours[0]
    return try await store.run(.createTemporaryCode, by: .console(request), on: .user(id, in: pool))
    {
      account, context, connection in
      let now = context.now
      let settings = context.rules
      if let denial = settings.temporaryCodeDenial(for: account) { throw denial }
      let expires = now.advanced(bySeconds: Int64(hours) * 3_600)
      let created = try codes.make(.temporary, for: account, until: expires, at: now, connection)
      guard let code = created.first else { throw Failure("no code was created") }
      try store.outbox.notify(
        UserNotice(.temporaryCodeMade, until: expires), account, in: pool, at: now, connection)
      var entry = AuditEntry(.factorTemporaryCode, of: account, in: pool)
      entry.add(.expiresAt, .instant(expires))
      try context.record(entry, connection)
      return TemporaryCode(code: code, expiresAt: expires)
    }
  }

  public func endTemporaryCode(
    _ request: ActionRequest, of id: ID<Account>, in pool: Pool
  ) async throws -> ActionOutcome<Int> {
    try await end(
      .temporary, request, of: id, in: pool, as: .factorEndTemporaryCode,
      telling: UserNotice(.temporaryCodeEnded))
  }

  /// - Returns: The number of codes that were left.
  public func endRecoveryCodes(
    _ request: ActionRequest, of id: ID<Account>, in pool: Pool
  ) async throws -> ActionOutcome<Int> {
    try await end(
      .recovery, request, of: id, in: pool, as: .factorEndRecoveryCodes,
      telling: UserNotice(.recoveryCodesVoided))
  }

  private func end(
    _ kind: BackupCodeStore.Kind, _ request: ActionRequest, of id: ID<Account>, in pool: Pool,
    as action: AuditAction, telling notice: UserNotice
  ) async throws -> ActionOutcome<Int> {
    try await store.run(
      kind == .temporary ? .revokeTemporaryCode : .revokeRecoveryCodes, by: .console(request),
      on: .user(id, in: pool)
    ) {
      account, context, connection in
      let now = context.now
      guard let left = try BackupCodeStore.left(kind, of: account.key, at: now, connection) else {
        throw ActionDenial.noCodes
      }
      try BackupCodeStore.clear([kind], of: account.key, connection)
      try store.outbox.notify(notice, account, in: pool, at: now, connection)
      var entry = AuditEntry(action, of: account, in: pool)
      entry.add(.codes, lost: .number(left.count))
      entry.add(.codesCreatedAt, .instant(left.madeAt))
      try context.record(entry, connection)
      return left.count
    }
  }
}

public struct RecoveryCodeCount: Sendable {
  /// The number; 0 if none were ever generated.
  public let left: Int
  public let madeAt: Instant?
}

extension Enrollments {
  /// Generates ten recovery codes for a user, replacing any previous ones.
  ///
  /// This requires a recent session (``SignInChange``) that passed a second factor with the app or
  /// phone itself: someone who gains access to an open session must not obtain permanent access.
  ///
  /// - Returns: The codes, stored only as digests.
  public func makeRecoveryCodes(
    _ session: UserSession, by author: Author
  ) async throws -> [Secret] {
    let now = store.clock.now()
    let (outbox, codes) = (store.outbox, backupCodes)
    return try await store.write(by: author) { connection in
      let account = try Self.check(session, .totp, at: now, connection)
      guard try SupportRules.find(session.pool, connection).accepts(.recovery) else {
        throw EnrollmentError.recoveryCodesNotEnabled
      }
      guard account.has(.totp) else { throw EnrollmentError.enrollmentNotFound }
      // A code that someone was told must not become ten that don't expire.
      guard try !Sessions.usedBackupCode(session, account, connection) else {
        throw SessionError.secondFactorNeeded
      }
      try SignInChange.check([.recoveryCodes], of: account, in: session, at: now, connection)
      try OwnChange.alert.count(of: account.key, at: now, connection)
      let before = try BackupCodeStore.left(.recovery, of: account.key, at: now, connection)
      let created = try codes.make(.recovery, for: account, at: now, connection)
      try outbox.notify(
        UserNotice(.recoveryCodesMade), account, in: session.pool, within: nil, at: now, connection)
      var entry = AuditEntry(.factorRecoveryCodes, of: account, in: session.pool)
      entry.add(
        .codes, from: before.map { .number($0.count) } ?? .absent, to: .number(created.count))
      try entry.record(by: author, at: now, connection)
      return created
    }
  }

  public func recoveryCodes(
    of session: UserSession
  ) async throws -> RecoveryCodeCount {
    try await store.read { now, connection in
      let account = try Sessions.check(session, connection)
      let settings = try SupportRules.find(session.pool, connection)
      let left = try BackupCodeStore.left(.recovery, of: account.key, at: now, connection)
      return RecoveryCodeCount(
        left: settings.accepts(.recovery) ? left?.count ?? 0 : 0, madeAt: left?.madeAt)
    }
  }
}
