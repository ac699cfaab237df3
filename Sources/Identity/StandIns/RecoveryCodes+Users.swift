public import Crypto
import Database

/// How many recovery codes a user has left.
public struct RecoveryCodeCount: Sendable {
  /// How many; 0 also when none were ever made.
  public let left: Int
  /// When they were made; nil when none were.
  public let madeAt: Instant?
}

extension Enrolments {
  /// Makes ten recovery codes for a user, which count instead of any earlier ones.
  ///
  /// It takes a session that has passed a second factor a moment ago: whoever finds a session open
  /// must not get a way in of their own.
  ///
  /// - Returns: The codes, which are kept as digests alone.
  /// - Throws: ``EnrolmentError``.
  public func makeRecoveryCodes(
    _ session: UserSession, by author: Author
  ) async throws(EnrolmentError) -> [Secret] {
    let now = store.clock.now()
    let (outbox, codes) = (store.outbox, standIns)
    return try await store.write(EnrolmentError.self) { connection in
      let account = try Self.check(session, .totp, connection)
      guard try DeskSettings.find(session.scope, connection).recoveryCodes else {
        throw EnrolmentError.recoveryCodesNotEnabled
      }
      guard account.has(.totp) else { throw EnrolmentError.enrolmentNotFound }
      guard account.factors.contains(where: { $0.id == session.secondFactor?.enrolment }) else {
        throw EnrolmentError.secondFactorNeeded
      }
      guard now.seconds - session.authTime <= Self.freshSignIn else {
        throw EnrolmentError.signInTooOld
      }
      let before = try StandInCodes.left(.recovery, of: account.key, at: now, connection)
      let made = try codes.make(.recovery, for: account, at: now, connection)
      try outbox.notify(.recoveryCodesMade, account, in: session.scope, at: now, connection)
      var entry = AuditEntry(
        "factor.recovery-codes", "account", account.id.text, name: account.label,
        in: session.scope)
      entry.from = before.map { Words.count($0.count, "code", "codes") }
      entry.to = Words.count(made.count, "code", "codes")
      try entry.record(by: author, at: now, connection)
      return made
    }
  }

  /// How many recovery codes a user has left.
  ///
  /// - Throws: ``EnrolmentError``.
  public func recoveryCodes(
    of session: UserSession
  ) async throws(EnrolmentError) -> RecoveryCodeCount {
    let now = store.clock.now()
    return try await store.read(EnrolmentError.self) { connection in
      let account = try EnrolmentError.translating { try Sessions.check(session, connection) }
      let settings = try DeskSettings.find(session.scope, connection)
      let left = try StandInCodes.left(.recovery, of: account.key, at: now, connection)
      return RecoveryCodeCount(
        left: settings.recoveryCodes ? left?.count ?? 0 : 0, madeAt: left?.madeAt)
    }
  }
}
