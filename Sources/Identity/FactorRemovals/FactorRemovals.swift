import Database

/// What the removal of factors does, or has done.
public struct Removal: Sendable {
  /// The account, as it was before.
  public let account: Account
  /// The factors that go.
  public let factors: [Factor]
  /// True when all factors of the account were meant.
  public let isOfAll: Bool
  /// How many sessions end.
  public let sessionsEnded: Int
  /// For how many hours another administrator can take it back; 0 for not at all.
  public let undoHours: Int
  /// Whether a temporary code ends with them; only known beforehand.
  public internal(set) var endsTemporaryCode = false
  /// How many recovery codes end with them; only known beforehand.
  public internal(set) var recoveryCodesEnded = 0
  /// What can come back; nil for nothing, and beforehand.
  public internal(set) var apart: (id: ID<RemovalHold>, until: Instant)?
  /// How many second factors the account keeps.
  public var factorsLeft: Int { account.factors.count - factors.count }
}

/// What came of an agent's wish to remove factors.
public enum RemovalOutcome: Sendable {
  /// It is done.
  case done(Removal)
  /// It waits for a second administrator until then.
  case waits(Removal, until: Instant)

  /// What was done, or would be.
  public var removal: Removal {
    switch self {
    case .done(let removal), .waits(let removal, _): removal
    }
  }
}

/// Removes factors for users who lost them.
public struct FactorRemovals: Sendable {
  let store: Store
  let gate: SupportAuthorization
  let removed: RemovedFactors

  /// What a removal would do.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - account: Whose factors.
  ///   - factor: Which; nil for all of them.
  /// - Returns: What it would do.
  /// - Throws: ``ActionDenial``.
  public func consequences(
    _ scope: Scope, _ account: ID<Account>, _ factor: ID<Factor>?
  ) async throws(ActionDenial) -> Removal {
    let now = store.clock.now()
    return try await store.read(ActionDenial.self) { connection in
      guard let account = try AccountRecord.find(scope, account, connection) else {
        throw ActionDenial.accountNotFound
      }
      let settings = try SupportRules.find(scope, connection)
      var removal = try Self.removal(of: factor, from: account, settings, connection)
      let temporary = try BackupCodeStore.left(.temporary, of: account.key, at: now, connection)
      removal.endsTemporaryCode = temporary != nil
      let going = Set(removal.factors.map(\.id))
      if !account.factors.contains(where: { $0.kind == .totp && !going.contains($0.id) }) {
        let recovery = try BackupCodeStore.left(.recovery, of: account.key, at: now, connection)
        removal.recoveryCodesEnded = recovery?.count ?? 0
      }
      return removal
    }
  }

  /// Removes a factor or all of them, ends the account's sessions, writes the audit row and tells
  /// the user by mail, all at once; or lets it wait for a second administrator where the pool asks
  /// for one.
  ///
  /// They are kept apart for as long as the pool says, unless somebody else may hold them.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - account: Whose factors.
  ///   - factor: Which; nil for all of them.
  ///   - request: Who removes them, and why.
  /// - Returns: What came of it.
  /// - Throws: ``ActionDenial``.
  public func remove(
    _ scope: Scope, _ account: ID<Account>, _ factor: ID<Factor>?, _ request: ActionRequest
  ) async throws(ActionDenial) -> ActionOutcome<RemovalOutcome> {
    try await gate.act(
      factor == nil ? .removeAllFactors : .removeFactor, request, on: account, in: scope
    ) { account, settings, now, connection in
      var removal = try Self.removal(of: factor, from: account, settings, connection)
      if let cause = try Approval.Cause(
        of: removal, settings, in: scope, at: now, connection)
      {
        let (entry, expiry) = try Approvals.ask(
          for: removal, cause, request, settings, in: scope, at: now, connection)
        return SupportAction(entry: entry, value: .waits(removal, until: expiry))
      }
      let apart = NewRemovalHold(request, settings, at: now, random: store.random)
      let entry = try perform(removal, apart, in: scope, at: now, connection)
      removal.apart = apart.map { ($0.id, $0.until) }
      return SupportAction(entry: entry, value: .done(removal))
    }
  }

  /// What removing a factor, or all of them, means for an account.
  static func removal(
    of factor: ID<Factor>?, from account: Account, _ settings: SupportRules,
    _ connection: borrowing Connection
  ) throws -> Removal {
    let factors = account.factors.filter { factor == nil || $0.id == factor }
    guard !factors.isEmpty else { throw ActionDenial.factorNotFound }
    return Removal(
      account: account, factors: factors, isOfAll: factor == nil,
      sessionsEnded: try Sessions.count(account.key, connection), undoHours: settings.undoHours)
  }

  /// Does what a removal means, in the caller's write.
  ///
  /// - Parameters:
  ///   - removal: What goes.
  ///   - apart: Who keeps it apart, and until when; nil for what never comes back, and then nothing
  ///     that was removed from the account before comes back either.
  ///   - scope: The user pool.
  ///   - now: The moment.
  ///   - connection: The caller's.
  /// - Returns: The row for the log, without who and why.
  /// - Throws: What the database throws.
  func perform(
    _ removal: Removal, _ apart: NewRemovalHold?, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> AuditEntry {
    let account = removal.account
    if let apart {
      try removed.keep(removal, apart, in: scope, at: now, connection)
    } else {
      try RemovedFactors.end(account.key, connection)
    }
    try FactorRecord.delete(removal.factors, of: account, in: scope, connection)
    let ended = try AccountRecord.endSessions(account.key, at: now, connection)
    try store.outbox.notify(
      .factorsRemoved(names: removal.factors.map(\.label)), account, in: scope, at: now,
      connection)
    return AuditEntry.removal(
      of: removal.factors, from: account, isOfAll: removal.isOfAll, left: removal.factorsLeft,
      sessionsEnded: ended, in: scope)
  }

  /// Removes a factor as somebody did who does not sit at a desk: the past of the demo.
  func remove(
    _ scope: Scope, _ account: ID<Account>, _ factor: ID<Factor>, reason: SupportReason,
    note: String,
    by author: Author
  ) async throws(ActionDenial) {
    let now = store.clock.now()
    try await store.write(ActionDenial.self) { connection in
      guard let account = try AccountRecord.find(scope, account, connection) else {
        throw ActionDenial.accountNotFound
      }
      let settings = try SupportRules.find(scope, connection)
      let removal = try Self.removal(of: factor, from: account, settings, connection)
      var entry = try perform(removal, nil, in: scope, at: now, connection)
      entry.reason = reason.rawValue
      entry.note = note.isEmpty ? nil : note
      try entry.record(by: author, at: now, connection)
    }
  }
}
