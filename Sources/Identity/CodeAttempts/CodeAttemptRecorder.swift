import Database
import OTP

/// A code that a user gives: what it is for, and where it came from.
///
/// Each way to end it writes the verdict and what follows from it for the account, in the
/// transaction that looked at the code.
struct CodeAttemptRecorder {
  let account: Account
  let scope: Scope
  let way: CodeAttempt.Way
  var enrollment: ID<Factor>?
  var window: Window?
  let origin: RequestOrigin

  /// The code counts: the row of wrong ones is over, and nothing else ends it.
  ///
  /// Neither a password nor a new session tells that whoever guesses has the device.
  func pass(
    _ finding: CodeFinding, at now: Instant, _ connection: borrowing Connection
  ) throws {
    if account.wrongCodes > 0 {
      try CodeAttemptRecord.confirmNearMisses(of: account, in: scope, at: now, connection)
    }
    let at = try insert(finding, at: now, connection)
    try connection.run(
      """
      UPDATE account SET wrong_codes = 0, last_code_attempt_at = \(at)
      WHERE account_key = \(account.key)
      """)
    if account.codesBlockedUntil != nil {
      try AccountRecord.unlockCodes(account.key, connection)
    }
  }

  /// The code does not count: it is one more wrong one in the row, unless it is the right one of a
  /// suspended factor.
  ///
  /// That one is answered as a wrong one is. It is no guess, whoever has the device, and so it must
  /// not close the codes of the account: until the suspension ends there is nothing but those that
  /// stand in for the app.
  ///
  /// - Returns: What to answer.
  func fail(
    _ finding: CodeFinding, at now: Instant, _ connection: borrowing Connection
  ) throws -> SignInError {
    guard finding.result != .suspended else {
      try note(finding, at: now, connection)
      return .invalidCode
    }
    let at = try insert(finding, at: now, connection)
    let wrong = account.wrongCodes + 1
    try connection.run(
      """
      UPDATE account SET wrong_codes = \(wrong), last_code_attempt_at = \(at)
      WHERE account_key = \(account.key)
      """)
    let cap = try SupportRules.find(scope, connection).codeCap
    guard let until = CodeLock.end(afterWrongCodes: wrong, cap: cap, at: now) else {
      return .invalidCode
    }
    try AccountRecord.lockCodes(of: account, until: until, connection)
    return .quotaExceeded(until: until)
  }

  /// The code is not even looked at.
  ///
  /// - Returns: What to answer.
  func refuse(
    until: Instant, at now: Instant, _ connection: borrowing Connection
  ) throws -> SignInError {
    try note(
      CodeFinding(until == CodeLock.forever ? .closed : .blocked), at: now, connection)
    return .quotaExceeded(until: until)
  }

  /// Writes the verdict, and counts nothing.
  ///
  /// What is not looked at, too late or of a suspended factor, and comes again and again, has one
  /// row.
  func note(
    _ finding: CodeFinding, at now: Instant, _ connection: borrowing Connection
  ) throws {
    if [.blocked, .closed, .expired, .suspended].contains(finding.result) {
      // Of a suspended factor it matters which.
      let factor = finding.result == .suspended ? enrollment : nil
      let isKept = try CodeAttemptRecord.repeated(
        finding.result, of: account, in: scope, factor: factor, connection)
      if isKept { return }
    }
    let at = try insert(finding, at: now, connection)
    try connection.run(
      "UPDATE account SET last_code_attempt_at = \(at) WHERE account_key = \(account.key)")
  }

  private func insert(
    _ finding: CodeFinding, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int64 {
    let place = CodeAttemptRecord.Place(
      scope: scope.key, account: account.key, way: way, enrollment: enrollment?.text,
      intervals: window?.adjacentIntervals, origin: origin)
    return try CodeAttemptRecord.insert(
      finding, place, after: account.lastCodeAttemptAt, at: now, connection)
  }
}
