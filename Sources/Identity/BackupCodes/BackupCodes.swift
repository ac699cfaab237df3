public import Crypto
import Database

/// A code that an agent hands over, to be shown once.
public struct TemporaryCode: Sendable {
  /// The code, in two groups of four.
  public let code: Secret
  /// Until when it counts.
  public let expiresAt: Instant
}

/// What stands in for the authenticator app of an account; never the codes themselves.
public struct BackupCodeState: Sendable {
  /// Until when a temporary code counts; nil when there is none.
  public let temporaryUntil: Instant?
  /// When a temporary code was made.
  public let temporaryMadeAt: Instant?
  /// How many recovery codes are left; nil when none were made.
  public let recoveryLeft: Int?
  /// When the recovery codes were made.
  public let recoveryMadeAt: Instant?

  /// Of an account for which no code was made.
  public static let nothing = BackupCodeState(
    temporaryUntil: nil, temporaryMadeAt: nil, recoveryLeft: nil, recoveryMadeAt: nil)
}

/// What agents do with codes that stand in for an authenticator app.
public struct BackupCodes: Sendable {
  let store: Store
  let gate: SupportAuthorization
  let codes: BackupCodeStore

  /// For how many hours a temporary code may count.
  public static let hours = [1, 4, 8, 24]
  /// How many recovery codes there are in a set.
  public static let recoveryCodes = RecoveryCodes.count

  /// What stands in for the authenticator app of an account.
  ///
  /// - Throws: ``ActionDenial``.
  public func state(of account: Account) async throws(ActionDenial) -> BackupCodeState {
    let now = store.clock.now()
    return try await store.read(ActionDenial.self) { connection in
      let temporary = try BackupCodeStore.left(.temporary, of: account.key, at: now, connection)
      let recovery = try BackupCodeStore.left(.recovery, of: account.key, at: now, connection)
      return BackupCodeState(
        temporaryUntil: temporary?.expiresAt, temporaryMadeAt: temporary?.madeAt,
        recoveryLeft: recovery?.count, recoveryMadeAt: recovery?.madeAt)
    }
  }

  /// Makes a code that lets a user in once in place of one of their authenticator app.
  ///
  /// It ends an earlier one. It counts for a suspended factor too, and not for an account whose codes
  /// are not looked at: that takes an unlocking.
  ///
  /// - Parameters:
  ///   - request: Who makes it, and why.
  ///   - id: Whose account.
  ///   - scope: The user pool.
  ///   - hours: For how many hours it counts, one of ``hours``.
  /// - Returns: The code, which is kept as a digest alone.
  /// - Throws: ``ActionDenial``.
  public func makeTemporaryCode(
    _ request: ActionRequest, for id: ID<Account>, in scope: Scope, hours: Int
  ) async throws(ActionDenial) -> ActionOutcome<TemporaryCode> {
    let (store, codes) = (store, codes)
    let hours = Self.hours.contains(hours) ? hours : Self.hours[0]
    return try await gate.act(
      .createTemporaryCode, request, on: id, in: scope
    ) { account, settings, now, connection in
      guard settings.temporaryCodes else { throw ActionDenial.switchedOff }
      guard account.has(.totp) else { throw ActionDenial.noAuthenticator }
      let expires = now.advanced(bySeconds: Int64(hours) * 3_600)
      let made = try codes.make(.temporary, for: account, until: expires, at: now, connection)
      guard let code = made.first else { throw Failure("no code was made") }
      try store.outbox.notify(
        .temporaryCodeMade(until: expires), account, in: scope, at: now, connection)
      var entry = AuditEntry(
        "factor.temporary-code", "account", account.id.text, name: account.label, in: scope)
      entry.to = "counts once until \(expires.formatted)"
      return SupportAction(entry: entry, value: TemporaryCode(code: code, expiresAt: expires))
    }
  }

  /// Ends the temporary code of a user before its time.
  ///
  /// - Throws: ``ActionDenial``; ``ActionDenial/noCodes`` when there is none.
  public func endTemporaryCode(
    _ request: ActionRequest, of id: ID<Account>, in scope: Scope
  ) async throws(ActionDenial) -> ActionOutcome<Int> {
    try await end(
      .temporary, request, of: id, in: scope, as: "factor.end-temporary-code",
      telling: .temporaryCodeEnded)
  }

  /// Ends the recovery codes of a user.
  ///
  /// - Returns: How many were left.
  /// - Throws: ``ActionDenial``; ``ActionDenial/noCodes`` when there are none.
  public func endRecoveryCodes(
    _ request: ActionRequest, of id: ID<Account>, in scope: Scope
  ) async throws(ActionDenial) -> ActionOutcome<Int> {
    try await end(
      .recovery, request, of: id, in: scope, as: "factor.end-recovery-codes",
      telling: .recoveryCodesVoided)
  }

  private func end(
    _ kind: BackupCodeStore.Kind, _ request: ActionRequest, of id: ID<Account>, in scope: Scope,
    as action: String, telling notice: UserNotice
  ) async throws(ActionDenial) -> ActionOutcome<Int> {
    let outbox = store.outbox
    return try await gate.act(
      kind == .temporary ? .revokeTemporaryCode : .revokeRecoveryCodes, request, on: id, in: scope
    ) { account, _, now, connection in
      guard let left = try BackupCodeStore.left(kind, of: account.key, at: now, connection) else {
        throw ActionDenial.noCodes
      }
      try BackupCodeStore.clear(kind, of: account.key, connection)
      try outbox.notify(notice, account, in: scope, at: now, connection)
      var entry = AuditEntry(action, "account", account.id.text, name: account.label, in: scope)
      entry.from = "\(Words.count(left.count, "code", "codes")) of \(left.madeAt.formatted)"
      entry.to = "none"
      return SupportAction(entry: entry, value: left.count)
    }
  }
}
