public import Crypto
import Database

/// A temporary code for an agent to give to a user, shown only once.
public struct TemporaryCode: Sendable {
  /// The code, in two groups of four characters.
  public let code: Secret
  /// The time the code expires.
  public let expiresAt: Instant
}

/// The backup codes of an account, without the codes themselves.
public struct BackupCodeState: Sendable {
  /// The time the temporary code expires; nil if there is none.
  public let temporaryUntil: Instant?
  /// The time the temporary code was generated.
  public let temporaryMadeAt: Instant?
  /// The number of recovery codes left; nil if none were generated.
  public let recoveryLeft: Int?
  /// The time the recovery codes were generated.
  public let recoveryMadeAt: Instant?
  /// Whether there's a temporary code that sign-in rejects because they're off in the pool.
  public let temporaryIsOff: Bool
  /// Whether there are unused recovery codes that sign-in rejects because they're off in the pool.
  public let recoveryIsOff: Bool

  /// The state of an account without backup codes.
  public static let nothing = BackupCodeState(
    temporaryUntil: nil, temporaryMadeAt: nil, recoveryLeft: nil, recoveryMadeAt: nil,
    temporaryIsOff: false, recoveryIsOff: false)
}

extension SupportRules {
  /// Returns whether backup codes of a kind can be generated and are accepted at sign-in.
  func accepts(_ kind: BackupCodeStore.Kind) -> Bool {
    kind == .temporary ? temporaryCodes : recoveryCodes
  }

  /// Returns why no temporary code can be generated for an account; nil if one can.
  public func temporaryCodeDenial(for account: Account) -> ActionDenial? {
    guard accepts(.temporary) else { return .switchedOff }
    return account.has(.totp) ? nil : .noAuthenticator
  }
}

/// Support actions on backup codes.
public struct BackupCodes: Sendable {
  let store: Store
  let authorization: SupportAuthorization
  let codes: BackupCodeStore

  /// The allowed lifetimes of a temporary code, in hours.
  public static let hours = [1, 4, 8, 24]
  /// The number of recovery codes in a set.
  public static let recoveryCodes = RecoveryCodes.count

  /// Reads the state of an account's backup codes.
  ///
  /// - Throws: ``ActionDenial``.
  public func state(
    of account: Account, in scope: Scope
  ) async throws(ActionDenial) -> BackupCodeState {
    let now = store.clock.now()
    return try await store.read(ActionDenial.self) { connection in
      try Self.state(
        of: account, by: try SupportRules.find(scope, connection), at: now, connection)
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
  /// - Parameters:
  ///   - request: The agent and their reason.
  ///   - id: The user's account.
  ///   - scope: The user pool.
  ///   - hours: The lifetime in hours, one of ``hours``.
  /// - Returns: The code, stored only as a digest.
  /// - Throws: ``ActionDenial``.
  public func makeTemporaryCode(
    _ request: ActionRequest, for id: ID<Account>, in scope: Scope, hours: Int
  ) async throws(ActionDenial) -> ActionOutcome<TemporaryCode> {
    let (store, codes) = (store, codes)
    let hours = Self.hours.contains(hours) ? hours : Self.hours[0]
    return try await authorization.act(
      .createTemporaryCode, request, on: id, in: scope
    ) { account, settings, now, connection in
      if let denial = settings.temporaryCodeDenial(for: account) { throw denial }
      let expires = now.advanced(bySeconds: Int64(hours) * 3_600)
      let created = try codes.make(.temporary, for: account, until: expires, at: now, connection)
      guard let code = created.first else { throw Failure("no code was created") }
      try store.outbox.notify(
        .temporaryCodeMade(until: expires), account, in: scope, at: now, connection)
      var entry = AuditEntry(.factorTemporaryCode, of: account, in: scope)
      entry.add(.expiresAt, .instant(expires))
      return SupportAction(entry: entry, value: TemporaryCode(code: code, expiresAt: expires))
    }
  }

  /// Revokes a user's temporary code.
  ///
  /// - Throws: ``ActionDenial``; ``ActionDenial/noCodes`` if there is none.
  public func endTemporaryCode(
    _ request: ActionRequest, of id: ID<Account>, in scope: Scope
  ) async throws(ActionDenial) -> ActionOutcome<Int> {
    try await end(
      .temporary, request, of: id, in: scope, as: .factorEndTemporaryCode,
      telling: .temporaryCodeEnded)
  }

  /// Revokes a user's recovery codes.
  ///
  /// - Returns: The number of codes that were left.
  /// - Throws: ``ActionDenial``; ``ActionDenial/noCodes`` if there are none.
  public func endRecoveryCodes(
    _ request: ActionRequest, of id: ID<Account>, in scope: Scope
  ) async throws(ActionDenial) -> ActionOutcome<Int> {
    try await end(
      .recovery, request, of: id, in: scope, as: .factorEndRecoveryCodes,
      telling: .recoveryCodesVoided)
  }

  private func end(
    _ kind: BackupCodeStore.Kind, _ request: ActionRequest, of id: ID<Account>, in scope: Scope,
    as action: AuditAction, telling notice: UserNotice
  ) async throws(ActionDenial) -> ActionOutcome<Int> {
    let outbox = store.outbox
    return try await authorization.act(
      kind == .temporary ? .revokeTemporaryCode : .revokeRecoveryCodes, request, on: id, in: scope
    ) { account, _, now, connection in
      guard let left = try BackupCodeStore.left(kind, of: account.key, at: now, connection) else {
        throw ActionDenial.noCodes
      }
      try BackupCodeStore.clear(kind, of: account.key, connection)
      try outbox.notify(notice, account, in: scope, at: now, connection)
      var entry = AuditEntry(action, of: account, in: scope)
      entry.add(.codes, lost: .number(left.count))
      entry.add(.codesCreatedAt, .instant(left.madeAt))
      return SupportAction(entry: entry, value: left.count)
    }
  }
}
