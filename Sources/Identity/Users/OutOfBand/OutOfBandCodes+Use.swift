public import Crypto
import Database

extension OutOfBandCodes {
  /// Checks a code without using it.
  ///
  /// `pool` is the pool that it must belong to; nil for any pool.
  public func look(
    at code: String, in pool: Pool? = nil
  ) async throws -> OutOfBandCode {
    try await store.read { now, connection in
      let record = try OutOfBandRecord.find(code, connection)
      let account = try record.account(connection)
      try record.check(in: pool, of: account, at: now)
      guard !record.code.pool.isDisabled else {
        throw CallError.poolDisabled(record.code.pool)
      }
      return account.map(record.code(with:)) ?? record.code
    }
  }

  /// Checks a code for the page that uses it, without using it.
  ///
  /// Unlike ``look(at:in:)``, which answers applications, it also checks that the password can be
  /// used once it's reset.
  public func open(_ code: String) async throws -> OpenedCode {
    let seen = try await look(at: code)
    guard seen.kind == .passwordReset else {
      return OpenedCode(code: seen, passwordRequirements: [])
    }
    return try await store.read { connection in
      guard try SignIns.methods(seen.pool, connection).password else {
        throw OutOfBandError.passwordLoginDisabled
      }
      let policy = try PasswordPolicy.find(seen.pool.key, connection)
      return OpenedCode(code: seen, passwordRequirements: policy.requirements)
    }
  }

  /// Returns whether a link for an app may lead to an address on a device without the app: to the page
  /// for email links, or to an authorized domain of a project.
  public func mayOpen(_ address: String) async throws -> Bool {
    let links = store.links
    return try await store.read { connection in
      links.mayOpen(address, try LinkSettings.domainsOfAllProjects(connection))
    }
  }

  /// Finds a code that can no longer be used; returns nil if it doesn't exist.
  ///
  /// The result has no values of the account, so that an old link reveals nothing about it.
  public func remains(of code: String) async throws -> OutOfBandCode? {
    do {
      return try await store.read { connection in
        let record = try OutOfBandRecord.find(code, connection)
        var remains = record.code
        remains.isReplaced = try record.isReplaced(connection)
        remains.isExpiredEarly = record.isExpiredEarly
        return remains
      }
    } catch OutOfBandError.invalidCode {
      return nil
    }
  }

  /// Resets the password with a code, and ends the account's sessions.
  ///
  /// The code proves access to the email address, which becomes verified. If it wasn't verified
  /// before, someone else may have created the account with it, so all other sign-in methods are
  /// removed.
  @discardableResult
  public func resetPassword(
    _ code: String, to password: Secret, in pool: Pool? = nil, by author: Author
  ) async throws -> OutOfBandCode {
    // Checked first, so that an invalid code doesn't cost a password hash.
    let seen = try await look(at: code, in: pool)
    guard seen.kind == .passwordReset else { throw OutOfBandError.invalidCode }
    let hash: PasswordHash
    do { hash = try await accounts.hash(password, in: seen.pool) } catch let error as AccountError {
      throw OutOfBandError(error)
    }
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      let (record, account) = try Self.take(code, in: pool, .passwordReset, at: now, connection)
      let pool = record.code.pool
      guard try SignIns.methods(pool, connection).password else {
        throw OutOfBandError.passwordLoginDisabled
      }
      if !account.emailVerified { try AccountRecord.endOtherWaysIn(account, connection) }
      try AccountRecord.set(
        """
        password_hash = \(hash.encoded), password_updated_at = \(now), email_verified = 1,
          anonymous = 0, sign_in_lock = \(AccountLock.SignIn.open)
        """, of: account.key, connection)
      let ended = try AccountRecord.endSessions(account.key, at: now, connection)
      try OwnChange.renew(of: account.key, connection)
      let new = try AccountRecord.changed(
        account, in: pool, isNewPassword: true, isByMailbox: true, at: now, connection)
      // Failed attempts with the old password no longer matter.
      try ThrottleCharge.reset(
        .passwords(of: TypedEmail(record.code.email), in: pool.key), connection)
      var entry = AuditEntry(.accountResetPassword, of: account, in: pool)
      entry.compare(account.auditFields(), new.auditFields(isNewPassword: true))
      entry.add(.linkEmail, .text(record.code.email))
      entry.addEnded(ended)
      try entry.record(by: author.user(account), limitedBy: .link, at: now, connection)
      return record.code(with: account)
    }
  }

  /// Applies a code that requires no further input: verifies, changes, or restores an email
  /// address, or removes a second factor and revokes the recovery codes.
  ///
  /// `pool` is the pool that it must belong to, nil for any, and `user` the user whose code it
  /// must be, nil for anyone's.
  ///
  /// - Throws: ``OutOfBandError/invalidCode`` also for a code that resets a password or signs in,
  ///   and for one of another user.
  @discardableResult
  public func apply(
    _ code: String, in pool: Pool? = nil, of user: CodeUser? = nil, by author: Author
  ) async throws -> AppliedCode {
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      if case .session(let session) = user {
        _ = try Sessions.check(session, connection)
      }
      let (record, account) = try Self.take(code, in: pool, nil, at: now, connection)
      guard user.map({ $0.id == account.id }) ?? true else { throw OutOfBandError.invalidCode }
      let pool = record.code.pool
      let email = record.code.email
      switch record.code.kind {
      case .passwordReset, .signIn: throw OutOfBandError.invalidCode
      case .verifyEmail:
        try AccountRecord.set("email_verified = 1", of: account.key, connection)
        try Self.record(
          .accountVerifyEmail, account, in: pool,
          [
            AuditChange(.email, to: .text(email)),
            AuditChange(.emailVerified, from: .flag(account.emailVerified), to: .flag(true)),
          ], by: author, at: now, connection)
      case .changeEmail:
        guard let new = record.code.newEmail else { throw OutOfBandError.invalidCode }
        let ended = try AccountRecord.setEmail(new, of: account, at: now, connection)
        try store.offerRecovery(of: account, now: new, in: pool, at: now, connection)
        try Self.record(
          .accountChangeEmail, account, in: pool, Self.newEmail(new, of: account),
          ended: ended, by: author, at: now, connection)
      case .recoverEmail:
        let ended = try AccountRecord.setEmail(email, of: account, at: now, connection)
        try record.useLaterRecoveries(at: now, connection)
        try OwnChange.renew(of: account.key, connection)
        try account.lock?.restored(to: email, of: account, connection)
        try Self.record(
          .accountRecoverEmail, account, in: pool, Self.newEmail(email, of: account),
          ended: ended, by: author, at: now, connection)
      case .revertFactor:
        guard let factor = record.factor(of: account) else { throw OutOfBandError.invalidCode }
        // Someone who found the lost device may read the email on it.
        guard !factor.isSuspended(at: now) else { throw OutOfBandError.factorSuspended }
        let codes = try BackupCodeCounts(of: account, at: now, connection)
        let ended = try FactorRecord.delete(
          [factor], of: account, endingSessionsAt: now, in: pool, connection)
        // The person who added the factor may have generated them in the same session.
        try BackupCodeStore.clear([.recovery], of: account.key, connection)
        // The recipient of the link already knows; the other addresses are notified.
        try store.outbox.notify(
          UserNotice(.factorReverted, [factor.label]), account, in: pool,
          excluding: AccountRules.folded(email: email), within: nil, at: now, connection)
        try OwnChange.renew(of: account.key, connection)
        try Self.record(
          .factorRevert, account, in: pool,
          [AuditChange(.factors, from: .of([factor])), AuditChange(.linkEmail, to: .text(email))],
          ended: ended, codes: codes, by: author, at: now, connection)
      }
      let changed = try OutOfBandError.translating {
        try AccountRecord.changed(
          account, in: pool, isNewPassword: false, isByMailbox: true, at: now, connection)
      }
      let configuration = try Policies.stored(pool.key, connection).configuration
      return AppliedCode(
        account: changed, code: record.code(with: account),
        canMakeRecoveryCodes: try configuration.isTOTPOn && changed.has(.totp)
          && SupportRules.find(pool, connection).accepts(.recovery))
    }
  }

  /// Checks that a code is valid and marks it as used.
  static func take(
    _ code: String, in pool: Pool?, _ kind: OutOfBandCode.Kind?, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> (record: OutOfBandRecord, account: Account) {
    let record = try OutOfBandRecord.find(code, connection)
    let account = try record.account(connection)
    try record.check(in: pool, of: account, at: now)
    guard let account, kind == nil || record.code.kind == kind else {
      throw OutOfBandError.invalidCode
    }
    guard !record.code.pool.isDisabled else {
      throw CallError.poolDisabled(record.code.pool)
    }
    try record.use(at: now, connection)
    return (record, account)
  }

  private static func newEmail(_ email: String, of account: Account) -> [AuditChange] {
    [
      AuditChange(.email, from: .optional(account.email), to: .text(email)),
      AuditChange(.emailVerified, from: .flag(account.emailVerified), to: .flag(true)),
    ]
  }

  private static func record(
    _ action: AuditAction, _ account: Account, in pool: Pool, _ changes: [AuditChange],
    ended: Int = 0, codes: BackupCodeCounts? = nil, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry(action, of: account, in: pool)
    for change in changes { entry.add(change) }
    entry.addEnded(ended)
    try entry.addEnded(codes, of: account, at: now, connection)
    try entry.record(by: author.user(account), limitedBy: .link, at: now, connection)
  }
}

/// The user whom a request names next to a code.
public enum CodeUser: Sendable {
  /// The user of a session, which has to be open.
  case session(UserSession)
  case account(ID<Account>)

  fileprivate var id: ID<Account> {
    switch self {
    case .session(let session): session.account
    case .account(let id): id
    }
  }
}

public struct AppliedCode: Sendable {
  public let account: Account
  public let code: OutOfBandCode
  /// Whether the user has an authenticator app, with which they can generate recovery codes.
  public let canMakeRecoveryCodes: Bool
}

extension AccountRecord {
  /// Sets an account's verified email address, and ends its sessions.
  ///
  /// - Returns: The number of sessions ended.
  fileprivate static func setEmail(
    _ email: String, of account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int {
    do {
      try setVerifiedEmail(email, of: account, connection)
    } catch {
      guard let conflict = conflict(error) as? AccountError else { throw error }
      throw OutOfBandError(conflict)
    }
    return try endSessions(account.key, at: now, connection)
  }

  /// Sets an account's verified email address, with which it's no longer anonymous.
  static func setVerifiedEmail(
    _ email: String, of account: Account, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    try set(
      "email = \(email), email_folded = \(email), email_verified = 1, anonymous = 0",
      of: account.key, connection)
  }

  /// Removes an account's sign-in methods other than the password: phone, identity providers, and
  /// email links.
  static func endOtherWaysIn(_ account: Account, _ connection: borrowing Connection) throws {
    try ProviderLink.remove(nil, of: account, connection)
    try set("phone = NULL, email_link = 0", of: account.key, connection)
  }
}
