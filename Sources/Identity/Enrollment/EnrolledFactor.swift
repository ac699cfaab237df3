import Crypto
import Database
import OTP

/// A factor that was just enrolled, in the transaction that enrolled it.
struct EnrolledFactor {
  let account: Account
  let factor: Factor
  let pool: Pool

  init?(
    _ id: ID<Factor>, of account: Int64, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    guard let account = try AccountRecord.find(key: account, connection),
      let factor = account.factors.first(where: { $0.id == id })
    else { return nil }
    (self.account, self.factor, self.pool) = (account, factor, pool)
  }

  /// The audit entry, without author.
  var entry: AuditEntry {
    var entry = AuditEntry(.factorEnroll, of: account, in: pool)
    entry.add(.factors, .of([factor]))
    return entry
  }

  /// Emails a reversal link to the account's address and notifies its other addresses.
  ///
  /// - Throws: ``EnrollmentError/quotaExceeded(until:)``, and database errors.
  func announce(
    _ notice: UserNotice, at now: Instant, _ store: Store, _ connection: borrowing Connection
  ) throws {
    do {
      try store.offerReversal(of: factor.id, by: account, in: pool, at: now, connection)
    } catch OutOfBandError.tooManyMails(_, let until) {
      throw EnrollmentError.quotaExceeded(until: until)
    }
    try store.outbox.notify(
      notice, account, in: pool, excluding: account.email, at: now, connection)
  }

  /// Verifies the first code of an authenticator app that isn't enrolled yet, and records the
  /// attempt.
  ///
  /// - Returns: The code's time step; nil if the code is rejected.
  static func verifyFirstCode(
    _ code: String, of password: OneTimePassword, _ id: ID<Factor>, for account: Account,
    in pool: Pool, from origin: RequestOrigin, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int64? {
    let window = try Policies.stored(pool.key, connection).configuration.window
    let codeAttempt = try password.verify(
      code, at: now.seconds, window: window, after: UsedSteps())
    let finding = CodeFinding(codeAttempt, after: UsedSteps())
    let attempt = CodeAttemptRecorder(
      account: account, pool: pool, way: .enrollment,
      enrollment: finding.result.isSuccess ? id : nil, window: window, origin: origin)
    try attempt.note(finding, at: now, connection)
    guard case .accepted(let step, _) = codeAttempt else { return nil }
    return step
  }
}
