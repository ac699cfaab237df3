import Database
import OTP

/// The result of a resynchronization or of its undo.
public enum Resynchronization: Sendable {
  /// The offset is that of the device's clock now.
  case done(ClockChange)
  /// The codes aren't consecutive codes near the server's time; counted as one incorrect code.
  case codesWrong
  /// The codes don't both come after the last accepted one, so others may have seen them; not counted.
  /// The device shows codes that do from a time on, which isn't later than now if the next two do.
  case codesOld(until: Instant)
}

public struct ClockChange: Sendable {
  /// The account before the change.
  public let account: Account
  /// The factor before the change.
  public let factor: Factor
  /// The offset after it, in intervals; nil if it was cleared.
  public let offset: Int?
  /// From when codes of a device that shows the server's time are accepted, since the next ones are
  /// used; nil if the next one is accepted.
  public var acceptedFrom: Instant?
}

extension SupportRules {
  /// Returns why a factor can't be resynchronized, whatever its codes; nil if it can.
  public func resynchronizationDenial(
    of factor: Factor, of account: Account, isClockDoubted: Bool, at now: Instant
  ) -> ActionDenial? {
    guard resynchronization else { return .switchedOff }
    guard factor.kind == .totp else { return .noAuthenticator }
    // The server's time would be compared with that of a device that may be right.
    guard !isClockDoubted else { return .clockDoubted }
    guard account.codeLock(at: now) == .open else { return .codesLocked }
    return account.factors.contains { $0.isSuspended(at: now) } ? .factorsSuspended : nil
  }
}

/// Resynchronizes TOTP factors whose clock can't be set, as those of hardware tokens (RFC 6238,
/// section 6).
///
/// The window is shifted and never widened, so a guess is as unlikely to succeed as before.
public struct Resynchronizations: Sendable {
  let store: Store
  let totp: TOTPFactor

  /// Returns why a factor can't be resynchronized, whatever its codes; nil if it can.
  public func denial(
    of factor: Factor, of account: Account, by rules: SupportRules
  ) -> ActionDenial? {
    rules.resynchronizationDenial(
      of: factor, of: account, isClockDoubted: store.expectedTime.isDoubted, at: store.clock.now())
  }

  /// Stores how far a device's clock is off, by two consecutive codes, and uses both up.
  ///
  /// It neither unlocks the user's codes nor resets the count of incorrect ones.
  public func resynchronize(
    _ factor: ID<Factor>, of id: ID<Account>, in pool: Pool, with codes: CodePair,
    _ request: ActionRequest
  ) async throws -> ActionOutcome<Resynchronization> {
    let (store, totp, faults) = (store, totp, codes.faults)
    return try await store.run(
      .resynchronizeFactor, by: .console(request),
      on: .user(id, in: pool, inputErrors: { _, _ in faults })
    ) { account, context, connection in
      let (rules, now) = (context.rules, context.now)
      let old = try Support.find(factor, of: account).factor
      let denial = rules.resynchronizationDenial(
        of: old, of: account, isClockDoubted: store.expectedTime.isDoubted, at: now)
      if let denial { throw denial }
      let (found, clock) = try totp.resynchronize(
        codes, of: factor, of: account, in: pool, at: now, connection)
      // The agent's address and browser aren't data about the user.
      let attempt = CodeAttemptRecorder(
        account: account, pool: pool, way: .resynchronization, enrollment: factor,
        origin: RequestOrigin())
      let step: Int64
      switch found {
      case .found(let later, _): step = later
      case .old(let shown, let wait):
        let until = now.advanced(bySeconds: wait * TOTPFactor.period)
        let finding = CodeFinding(.older, step: shown)
        return try Self.refuse(
          .codesOld(until: until), finding, attempt, old, context, connection)
      case .refused:
        return try Self.refuse(
          .codesWrong, CodeFinding(.wrong), attempt, old, context, connection)
      }
      // On time by the new clock, so what was said about the former one is over.
      try attempt.note(
        CodeFinding(.accepted, distance: 0, step: step), at: now, connection)
      try store.outbox.notify(
        UserNotice(.factorResynchronized, [old.label]), account, in: pool, at: now, connection)
      var entry = AuditEntry(.factorResynchronize, of: account, in: pool)
      entry.add(.factors, .of([old]))
      entry.add(
        .clockOffset, from: .optional(old.clockOffset), to: .optional(clock.offset))
      let change = ClockChange(account: account, factor: old, offset: clock.offset)
      try context.record(entry, connection)
      return .done(change)
    }
  }

  /// Records codes that aren't accepted, and counts those that don't match as one incorrect code.
  ///
  /// It's a result rather than an error, which would roll back the count.
  private static func refuse(
    _ result: Resynchronization, _ finding: CodeFinding, _ attempt: CodeAttemptRecorder,
    _ factor: Factor, _ context: ActionContext, _ connection: borrowing Connection
  ) throws -> Resynchronization {
    let (account, now) = (attempt.account, context.now)
    var entry = AuditEntry(.factorRefuseResynchronization, of: account, in: attempt.pool)
    entry.add(.factors, .of([factor]))
    if case .codesOld = result {
      try attempt.note(finding, at: now, connection)
    } else {
      _ = try attempt.fail(finding, at: now, connection)
      entry.add(
        .wrongCodes, from: .number(account.wrongCodes), to: .number(account.wrongCodes + 1))
    }
    try context.record(entry, isDone: false, connection)
    return result
  }

  /// Forgets how far a device's clock is off, so that its codes are compared with the server's time
  /// again; used steps stay used.
  ///
  /// It's the undo of a resynchronization, so it's possible whenever the user can be acted on.
  public func clearOffset(
    _ factor: ID<Factor>, of id: ID<Account>, in pool: Pool, _ request: ActionRequest
  ) async throws -> ActionOutcome<ClockChange> {
    try await store.run(.clearClockOffset, by: .console(request), on: .user(id, in: pool)) {
      account, context, connection in
      let now = context.now
      let old = try Support.find(factor, of: account).factor
      guard let offset = old.clockOffset else { throw ActionDenial.nothingToDo }
      try connection.run(
        """
        UPDATE factor SET clock_offset = NULL, clock_trend = 0
        WHERE account_key = \(account.key) AND enrollment_id = \(factor)
        """)
      try store.outbox.notify(
        UserNotice(.clockOffsetCleared, [old.label]), account, in: pool, at: now, connection)
      var entry = AuditEntry(.factorClearOffset, of: account, in: pool)
      entry.add(.factors, .of([old]))
      entry.add(.clockOffset, from: .number(offset), to: .absent)
      try context.record(entry, connection)
      return ClockChange(
        account: account, factor: old, offset: nil,
        acceptedFrom: old.acceptedWithoutOffset(at: now))
    }
  }
}
