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
    /// The last code was correct, but already used or older than one already used.
    case reused
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

  /// The number of consecutive incorrect codes from which typing errors are unlikely.
  static let fewestIncorrect = 3

  /// Diagnoses an account by the forecast of its sign-in and its newest code attempts, newest first.
  init(
    _ forecast: SignInForecast, _ codeAttempts: [CodeAttempt],
    _ backupCodes: BackupCodeState = .nothing, at now: Instant
  ) {
    let factors = Set(forecast.account.factors.map(\.id))
    // Attempts with a removed factor say nothing about those that the user has.
    let current = codeAttempts.filter { $0.enrollment.map(factors.contains) ?? true }
    drift = factors.isEmpty ? nil : DriftEvidence(current)
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
    case .used, .older: return .reused
    case .wrong:
      // Without intervals, it wasn't a code of the app, and if it wasn't sent either, a backup code.
      if let off, let newest = checked.first, newest.window == nil, !newest.way.isSent {
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
    case .drift, .incorrect: .createTemporaryCode
    case .unverifiedEmail: .verifyEmail
    case .noFactor, .enrollmentDue: .sendEnrollmentLink
    case .signInOff, .methodsOff, .factorsOff, .backupCodesOff, .reused, nil: nil
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

/// The code attempts that show that the clock of a user's device is off.
public struct DriftEvidence: Sendable {
  public let drift: ClockDrift
  /// The number of consecutive codes that were off in the same direction.
  public let count: Int
  /// Their distances in 30-second intervals.
  public let intervals: ClosedRange<Int>
  public let newest: CodeAttempt
  /// The time of the last code that was on time; nil if there is none.
  public let lastOnTime: Instant?

  /// Finds the evidence in code attempts, newest first; nil if the clock isn't off.
  init?(_ codeAttempts: [CodeAttempt]) {
    guard let drift = ClockDrift(codeAttempts) else { return nil }
    let near = codeAttempts.filter(ClockDrift.isNear)
    let off = near.prefix { codeAttempt in
      guard let distance = codeAttempt.distance else { return false }
      return abs(distance) >= ClockDrift.least && (distance < 0) == drift.isSlow
    }
    let distances = off.compactMap(\.distance).map(abs)
    guard let newest = off.first, let least = distances.min(), let most = distances.max() else {
      return nil
    }
    self.drift = drift
    self.newest = newest
    count = off.reduce(0) { $0 + $1.times }
    intervals = least...most
    lastOnTime =
      near.dropFirst(off.count).first { $0.result == .accepted && $0.drift == nil }?.at
  }
}
