public import Crypto
import Database

public struct RecoveryCodeCount: Sendable {
  /// The number; 0 if none were ever generated.
  public let left: Int
  public let madeAt: Instant?
}

extension Enrollments {
  /// Generates ten recovery codes for a user, replacing any previous ones.
  ///
  /// This requires a session that just passed a second factor with the app or phone itself: someone who gains access to an open
  /// session must not obtain permanent access.
  ///
  /// - Returns: The codes, stored only as digests.
  public func makeRecoveryCodes(
    _ session: UserSession, by author: Author
  ) async throws -> [Secret] {
    let now = store.clock.now()
    let (outbox, codes) = (store.outbox, backupCodes)
    return try await store.write(by: author) { connection in
      let account = try Self.check(session, .totp, at: now, connection)
      guard try SupportRules.find(session.pool, connection).accepts(.recovery) else {
        throw EnrollmentError.recoveryCodesNotEnabled
      }
      guard account.has(.totp) else { throw EnrollmentError.enrollmentNotFound }
      guard account.factors.contains(where: { $0.id == session.secondFactor?.enrollment }) else {
        throw EnrollmentError.secondFactorNeeded
      }
      // A code that someone was told must not become ten that don't expire.
      guard try !Sessions.usedBackupCode(session, account, connection) else {
        throw EnrollmentError.secondFactorNeeded
      }
      guard try Sessions.isFresh(session, account, at: now, connection) else {
        throw EnrollmentError.signInTooOld
      }
      try OwnChange.alert.count(of: account.key, at: now, connection)
      let before = try BackupCodeStore.left(.recovery, of: account.key, at: now, connection)
      let created = try codes.make(.recovery, for: account, at: now, connection)
      try outbox.notify(.recoveryCodesMade, account, in: session.pool, at: now, connection)
      var entry = AuditEntry(.factorRecoveryCodes, of: account, in: session.pool)
      entry.add(
        .codes, from: before.map { .number($0.count) } ?? .absent, to: .number(created.count))
      try entry.record(by: author, at: now, connection)
      return created
    }
  }

  public func recoveryCodes(
    of session: UserSession
  ) async throws -> RecoveryCodeCount {
    let now = store.clock.now()
    return try await store.read { connection in
      let account = try Sessions.check(session, connection)
      let settings = try SupportRules.find(session.pool, connection)
      let left = try BackupCodeStore.left(.recovery, of: account.key, at: now, connection)
      return RecoveryCodeCount(
        left: settings.accepts(.recovery) ? left?.count ?? 0 : 0, madeAt: left?.madeAt)
    }
  }
}
