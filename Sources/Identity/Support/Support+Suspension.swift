import Database

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
    try await authorization.act(
      .suspendFactor, request, on: account, in: pool,
      guardedAs: { account, now in
        Self.isShortened(factor, of: account, to: until, at: now) ? .resumeFactor : nil
      },
      answers: { _, now in Self.isEnd(until, at: now) ? [] : [.untilOutOfRange] }
    ) { account, _, now, connection in
      let found = try Self.find(factor, of: account)
      guard let until else { throw ActionDenial.answers([.untilOutOfRange]) }
      try Self.store(until, found, connection)
      try store.outbox.notify(
        .factorSuspended(name: found.factor.label, until: until), account, in: pool, at: now,
        connection)
      var entry = AuditEntry(.factorSuspend, of: account, in: pool)
      entry.add(.factors, .of([found.factor]))
      let before = found.factor.isSuspended(at: now) ? found.factor.suspendedUntil : nil
      entry.add(.suspendedUntil, from: .optional(before), to: .instant(until))
      return CompletedAction(entry: entry, value: found)
    }
  }

  public func resume(
    _ pool: Pool, _ account: ID<Account>, _ factor: ID<Factor>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Suspension> {
    try await authorization.act(
      .resumeFactor, request, on: account, in: pool
    ) { account, _, now, connection in
      let found = try Self.find(factor, of: account)
      guard found.factor.isSuspended(at: now) else { throw ActionDenial.nothingToDo }
      try Self.store(nil, found, connection)
      try store.outbox.notify(
        .factorResumed(name: found.factor.label), account, in: pool, at: now, connection)
      var entry = AuditEntry(.factorResume, of: account, in: pool)
      entry.add(.factors, .of([found.factor]))
      entry.add(.suspendedUntil, from: .optional(found.factor.suspendedUntil), to: .absent)
      return CompletedAction(entry: entry, value: found)
    }
  }

  /// Returns whether a suspension may last until this time.
  private static func isEnd(_ until: Instant?, at now: Instant) -> Bool {
    guard let until else { return false }
    return until > now
      && until <= now.advanced(bySeconds: Int64(longestSuspension) * 86_400)
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
