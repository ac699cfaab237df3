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
  let authorization: SupportAuthorization
  let codes: BackupCodeStore

  /// The allowed lifetimes of a temporary code, in hours.
  public static let hours = [1, 4, 8, 24]
  public static let recoveryCodes = RecoveryCodes.count

  public func state(
    of account: Account, in pool: Pool
  ) async throws -> BackupCodeState {
    let now = store.clock.now()
    return try await store.read { connection in
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
    return try await authorization.act(
      .createTemporaryCode, request, on: id, in: pool
    ) { account, settings, now, connection in
      if let denial = settings.temporaryCodeDenial(for: account) { throw denial }
      let expires = now.advanced(bySeconds: Int64(hours) * 3_600)
      let created = try codes.make(.temporary, for: account, until: expires, at: now, connection)
      guard let code = created.first else { throw Failure("no code was created") }
      try store.outbox.notify(
        .temporaryCodeMade(until: expires), account, in: pool, at: now, connection)
      var entry = AuditEntry(.factorTemporaryCode, of: account, in: pool)
      entry.add(.expiresAt, .instant(expires))
      return CompletedAction(entry: entry, value: TemporaryCode(code: code, expiresAt: expires))
    }
  }

  public func endTemporaryCode(
    _ request: ActionRequest, of id: ID<Account>, in pool: Pool
  ) async throws -> ActionOutcome<Int> {
    try await end(
      .temporary, request, of: id, in: pool, as: .factorEndTemporaryCode,
      telling: .temporaryCodeEnded)
  }

  /// - Returns: The number of codes that were left.
  public func endRecoveryCodes(
    _ request: ActionRequest, of id: ID<Account>, in pool: Pool
  ) async throws -> ActionOutcome<Int> {
    try await end(
      .recovery, request, of: id, in: pool, as: .factorEndRecoveryCodes,
      telling: .recoveryCodesVoided)
  }

  private func end(
    _ kind: BackupCodeStore.Kind, _ request: ActionRequest, of id: ID<Account>, in pool: Pool,
    as action: AuditAction, telling notice: UserNotice
  ) async throws -> ActionOutcome<Int> {
    let outbox = store.outbox
    return try await authorization.act(
      kind == .temporary ? .revokeTemporaryCode : .revokeRecoveryCodes, request, on: id, in: pool
    ) { account, _, now, connection in
      guard let left = try BackupCodeStore.left(kind, of: account.key, at: now, connection) else {
        throw ActionDenial.noCodes
      }
      try BackupCodeStore.clear([kind], of: account.key, connection)
      try outbox.notify(notice, account, in: pool, at: now, connection)
      var entry = AuditEntry(action, of: account, in: pool)
      entry.add(.codes, lost: .number(left.count))
      entry.add(.codesCreatedAt, .instant(left.madeAt))
      return CompletedAction(entry: entry, value: left.count)
    }
  }
}
