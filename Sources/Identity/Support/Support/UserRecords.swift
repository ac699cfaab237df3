import Database

/// Everything that the page of a user shows, as of one time.
public struct UserRecords: Sendable {
  public let account: Account
  public let rules: SupportRules
  /// The newest code attempts, newest first.
  public let codeAttempts: Page<CodeAttempt>
  public let diagnosis: SignInDiagnosis
  public let sessions: [OpenSession]
  public let sessionCount: Int
  public let messages: [OutboxEntry]
  /// The states of the links in the newest messages, by the messages' IDs.
  public let links: [Int64: SentLink]
  /// Removed factors that can be restored.
  public let removalHolds: [RemovalHold]
  public let approval: Approval?
  public let exemption: Exemption?
  public let backupCodes: BackupCodeState
  public let canEnrollByLink: Bool
  /// The newest audit rows about the user; empty if they weren't requested.
  public let history: [AuditRow]
  public let guidance: GuidanceBeginning?

  /// The number of the newest code attempts, changes, and messages that are read of each.
  public static let mostEvents = CodeAttempts.shown
}

extension Identity {
  /// Reads everything that the page of a user shows, in one transaction.
  public func records(
    of id: ID<Account>, in pool: Pool, history hasHistory: Bool
  ) async throws -> UserRecords? {
    let (now, audit) = (store.clock.now(), audit)
    return try await store.read { connection in
      guard let account = try AccountRecord.find(pool, id, connection) else { return nil }
      let kinds = try RecordKinds.find(account, in: pool, connection)
      let sessions = try Sessions.list(account, connection)
      let codeAttempts =
        if let newest = account.lastCodeAttemptAt {
          try CodeAttempts.list(account, from: newest, limit: CodeAttempts.shown, connection)
        } else {
          Page<CodeAttempt>(items: [], next: nil)
        }
      let history =
        hasHistory
        ? try audit.list(
          AuditFilter(pool: pool, object: .account, objectID: account.id.text), after: nil,
          limit: UserRecords.mostEvents, connection
        ).items.ofPresentUser(in: pool) : []
      let policy = try Policies.stored(pool.key, connection)
      let forecast = try store.forecast(of: account, policy, at: now, connection)
      let messages = try OutboxEntries.list(
        about: account, limit: UserRecords.mostEvents, at: now, connection)
      let rules = try SupportRules.find(pool, connection)
      let backupCodes =
        kinds.backupCodes
        ? try BackupCodes.state(of: account, by: rules, at: now, connection) : .nothing
      let exemption = kinds.exemptions ? try Exemptions.find(account, at: now, connection) : nil
      return UserRecords(
        account: account, rules: rules, codeAttempts: codeAttempts,
        diagnosis: SignInDiagnosis(
          forecast, codeAttempts.items, backupCodes, isExempt: exemption != nil,
          hadFactor: kinds.removedFactors,
          patternSince: try patternStart(account, policy, at: now, connection), at: now),
        sessions: sessions,
        sessionCount: sessions.count < Sessions.mostListed
          ? sessions.count : try Sessions.count(account.key, connection),
        messages: messages,
        links: try SentLink.states(
          in: messages, to: account, under: policy, at: now, connection),
        removalHolds: kinds.removedFactors
          ? try RemovedFactors.list(account.key, at: now, connection) : [],
        approval: kinds.approvals
          ? try Approvals.waiting(for: account.id, in: pool, at: now, connection) : nil,
        exemption: exemption,
        backupCodes: backupCodes,
        canEnrollByLink: try EnrollmentLinks.canSend(to: account, under: policy, connection),
        history: history, guidance: try PoolGuidance.beginning(pool, connection))
    }
  }
}

extension Identity {
  /// Returns since when enrollment has been mandatory for a user who has no second factor, if the
  /// policy has no day for it; nil for other users, who don't need to know, and if its newest changes
  /// don't say.
  private func patternStart(
    _ account: Account, _ policy: StoredPolicy, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    guard account.factors.isEmpty, policy.pattern == .mandatory, policy.mandatoryFrom == nil,
      policy.isMandatory(at: now)
    else { return nil }
    let versions = try audit.list(
      .policyVersions(of: policy.pool), after: nil, limit: 10, connection)
    var edit = policy.edit
    for row in versions.items {
      guard let earlier = edit.before(row.changes) else { return nil }
      let former = policy.changed(to: earlier, by: "", because: nil, at: row.at)
      guard former.isMandatory(at: row.at) else {
        return edit.mandatoryFrom.map { max($0.start, row.at) } ?? row.at
      }
      edit = earlier
    }
    return nil
  }
}

/// The kinds of support records that an account has.
///
/// Most accounts have none, so one statement saves their page a query for each kind.
private struct RecordKinds {
  let removedFactors: Bool
  let approvals: Bool
  let backupCodes: Bool
  let exemptions: Bool

  static func find(
    _ account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws -> RecordKinds {
    let found = try connection.first(
      """
      SELECT EXISTS (SELECT 1 FROM removed_factor WHERE account_key = \(account.key)),
        EXISTS (SELECT 1 FROM approval \(index: "approval_of_user")
          WHERE scope_key = \(pool.key) AND uid = \(account.id)),
        EXISTS (SELECT 1 FROM backup_code_set WHERE account_key = \(account.key)),
        EXISTS (SELECT 1 FROM exemption WHERE account_key = \(account.key))
      """
    ) { row in
      RecordKinds(
        removedFactors: try row.next(), approvals: try row.next(),
        backupCodes: try row.next(), exemptions: try row.next())
    }
    guard let found else { throw Failure("no row of record kinds") }
    return found
  }
}

/// The most important reason why a user can't sign in or why their codes are rejected.
public struct SignInDiagnosis: Sendable {
  public enum Cause: Sendable {
    case disabled
    case signInOff
    /// The pool's sign-in methods that the user has are all disabled.
    case methodsOff
    case locked(CodeLock)
    case suspended(Factor, until: Instant)
    case drift(ClockDrift)
    /// The last code was correct, but already used or older than one already used; from when the
    /// device's codes are accepted, nil if the next one is.
    case reused(acceptedFrom: Instant?)
    /// The last codes matched no near interval.
    case incorrect(count: Int)
    /// Backup codes that the user has are rejected, because they're off in the pool.
    case backupCodesOff(BackupCodeState)
    /// The user should have a second factor by now, which the server enforces.
    case enrollmentDue(Enforcement.Mode)
    /// All of the user's second factors are of disabled kinds.
    case factorsOff
    /// The user has no second factor and can't enroll one without a verified email.
    case unverifiedEmail
    case noFactor
  }

  public let cause: Cause?
  /// The drift of the device's clock, which may also explain a lock; nil for none.
  public let drift: DriftEvidence?
  public let last: CodeAttempt?
  /// Whether the user has no second factor although the policy makes enrollment mandatory by now.
  public let lacksMandatoryFactor: Bool
  /// Whether a factor of the user was removed lately, or a code of one was ever checked.
  public let hasHadFactor: Bool
  /// The day since which enrollment has been mandatory; nil if that isn't known.
  public let mandatorySince: Day?

  /// The number of consecutive incorrect codes from which typing errors are unlikely.
  static let fewestIncorrect = 3

  /// Diagnoses an account by the forecast of its sign-in and its newest code attempts, newest first.
  init(
    _ forecast: SignInForecast, _ codeAttempts: [CodeAttempt],
    _ backupCodes: BackupCodeState = .nothing, isExempt: Bool = false,
    hadFactor: Bool = false, patternSince: Instant? = nil, at now: Instant
  ) {
    let (account, policy) = (forecast.account, forecast.policy)
    let current = codeAttempts.withFactors(of: account)
    drift = account.factors.isEmpty ? nil : DriftEvidence(current)
    lacksMandatoryFactor =
      account.factors.isEmpty && !account.isAnonymous && !isExempt && policy.isMandatory(at: now)
    hasHadFactor = hadFactor || account.lastCodeAttemptAt != nil
    mandatorySince =
      policy.mandatoryFrom.flatMap { $0.start <= now ? $0 : nil } ?? patternSince.map { Day($0) }
    last = codeAttempts.first
    cause = Self.cause(forecast, current, drift?.drift, backupCodes, at: now)
  }

  private static func cause(
    _ forecast: SignInForecast, _ codeAttempts: [CodeAttempt], _ drift: ClockDrift?,
    _ backupCodes: BackupCodeState, at now: Instant
  ) -> Cause? {
    let account = forecast.account
    if account.disabled { return .disabled }
    if forecast.pool.isDisabled { return .signInOff }
    if forecast.methods.areOff(for: account) { return .methodsOff }
    let lock = account.codeLock(at: now)
    if lock != .open { return .locked(lock) }
    for factor in forecast.suspended {
      if let until = factor.suspendedUntil, now < until { return .suspended(factor, until: until) }
    }
    guard case .due = forecast.secondFactor else {
      if let mode = forecast.enforcement { return .enrollmentDue(mode) }
      guard account.factors.isEmpty else { return .factorsOff }
      if case .unverifiedEmail? = forecast.enrollmentRefusal, account.email != nil {
        return .unverifiedEmail
      }
      return .noFactor
    }
    if let drift { return .drift(drift) }
    // People try again while codes are blocked, which says nothing about their codes.
    let checked = codeAttempts.filter { $0.result.isOfCheckedCode }
    let off: Cause? =
      backupCodes.temporaryIsOff || backupCodes.recoveryIsOff ? .backupCodesOff(backupCodes) : nil
    switch checked.first?.result {
    case .used, .older:
      let from = checked.first.flatMap { attempt in
        let factor = account.factors.first { $0.id == attempt.enrollment }
        return attempt.step.flatMap { factor?.accepted(after: $0, at: attempt.at) }
      }
      return .reused(acceptedFrom: from.flatMap { now < $0 ? $0 : nil })
    case .wrong:
      // Without intervals, it wasn't a code of the app, but a backup code.
      if let off, let newest = checked.first, newest.window == nil, newest.way == .app {
        return off
      }
      let count = checked.prefix { $0.result == .wrong }.reduce(0) { $0 + $1.times }
      return count >= fewestIncorrect ? .incorrect(count: count) : off
    default: return off
    }
  }

  /// The action that helps the user most; nil if none does.
  public var remedy: ConsoleAction? {
    switch cause {
    case .disabled: .enableUser
    case .locked: .unlockCodes
    case .suspended: .resumeFactor
    case .drift: .resynchronizeFactor
    case .unverifiedEmail: .verifyEmail
    case .noFactor, .enrollmentDue: .sendEnrollmentLink
    case .signInOff, .methodsOff, .factorsOff, .backupCodesOff, .reused, .incorrect, nil: nil
    }
  }

  /// The factor that the remedy is for; nil for the user.
  public var factor: ID<Factor>? {
    switch cause {
    case .suspended(let factor, _): factor.id
    case .drift: drift?.newest.enrollment
    default: nil
    }
  }
}

extension SignInMethods {
  /// Returns whether an account has methods of the pool and all of them are disabled.
  ///
  /// Users of providers and custom tokens don't depend on these methods.
  fileprivate func areOff(for account: Account) -> Bool {
    guard account.hasPassword || account.phoneNumber != nil, account.providers.isEmpty,
      !account.isCustomAuth, !account.isAnonymous
    else { return false }
    let isOn =
      account.hasPassword && password || account.email != nil && emailLink
      || account.phoneNumber != nil && phone
    return !isOn
  }
}

extension CodeAttempt.Result {
  /// Whether a code was compared with those of the factor, and the result says something about it.
  fileprivate var isOfCheckedCode: Bool {
    switch self {
    case .unreadable, .blocked, .closed, .suspended: false
    default: true
    }
  }
}

extension [CodeAttempt] {
  /// Returns those that say something about the factors that a user has, not about removed ones.
  fileprivate func withFactors(of account: Account) -> [CodeAttempt] {
    let factors = Set(account.factors.map(\.id))
    return filter { $0.enrollment.map(factors.contains) ?? true }
  }
}

extension CodeAttempts {
  /// Returns what shows that the clock of a user's device is off; nil if it isn't.
  public func drift(of account: Account) async throws -> DriftEvidence? {
    try await store.read { try Self.drift(of: account, $0) }
  }

  static func drift(
    of account: Account, _ connection: borrowing Connection
  ) throws -> DriftEvidence? {
    guard let newest = account.lastCodeAttemptAt, !account.factors.isEmpty else { return nil }
    let attempts = try list(account, from: newest, limit: shown, connection).items
    return DriftEvidence(attempts.withFactors(of: account))
  }
}

extension [AuditRow] {
  /// Returns the newest entries of a connected pool's user, from all, newest first: what was before a
  /// deletion is another user's, or was to be forgotten.
  func ofPresentUser(in pool: Pool) -> [AuditRow] {
    pool.kind == .hosted ? self : Array(prefix { $0.action != .accountDelete })
  }
}
