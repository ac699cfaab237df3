import Crypto
import Database
import Text

public struct EmailLinkSignIn: Sendable {
  public let outcome: SignInOutcome
  /// Whether the account was created by this sign-in.
  public let isNewUser: Bool
}

extension SignIns {
  /// Signs in with the code of a link sent to an email.
  ///
  /// Access to the mailbox proves ownership: a missing account is created, and the email is
  /// verified from then on. If the email wasn't verified before, someone else may have created the
  /// account with it, so its password and all other sign-in methods are removed.
  ///
  /// `session` is that of a user who links this sign-in method to their account. The link is kept
  /// if the session isn't continued; see ``Enforcement``.
  public func emailLink(
    _ pool: Pool, email: String, code: String, linking session: UserSession? = nil,
    by author: Author
  ) async throws -> EmailLinkSignIn {
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    do { try AccountRules.checkEmail(email) } catch { throw OutOfBandError.invalidEmail }
    let email = AccountRules.folded(email: email)
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      guard try Self.methods(pool, connection).emailLink else {
        throw OutOfBandError.operationNotAllowed
      }
      let record = try OutOfBandRecord.find(code, connection)
      let known = try AccountRecord.find(pool, email: record.code.email, connection)
      guard record.code.kind == .signIn else { throw OutOfBandError.invalidCode }
      try record.check(in: pool, of: known, at: now)
      guard record.code.email.isSameBytes(as: email) else { throw OutOfBandError.emailMismatch }
      try record.use(at: now, connection)
      return try OutOfBandError.translating {
        if let session {
          return try link(session, email, known, by: author, at: now, connection)
        }
        let account = try known.map { try trust($0, in: pool, by: author, at: now, connection) }
        return EmailLinkSignIn(
          outcome: try passFirstFactor(
            account
              ?? newAccount(email, in: pool, by: author, at: now, connection),
            in: pool, provider: .password, with: .signIn, at: now, connection),
          isNewUser: account == nil)
      }
    }
  }

  private func newAccount(
    _ email: String, in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Account {
    guard try UserPermissions.find(pool.key, connection).signUp else {
      throw AccountError.adminOnly
    }
    var new = NewAccount()
    new.email = email
    new.emailVerified = true
    let uid = store.random.text(AccountRules.uidLength, from: AccountRules.uidAlphabet)
    let account = try AccountRecord.insert(
      new, passwordHash: nil, anonymous: false, in: pool, uid: uid, at: now,
      connection)
    try markAsLinked(account, connection)
    try account.recordSignUp(in: pool, by: author, store.profile, at: now, connection)
    return try AccountRecord.changed(account, in: pool, isNewPassword: false, at: now, connection)
  }

  /// Marks the email of an account as verified, and that its user signs in by email link.
  private func trust(
    _ account: Account, in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Account {
    guard !account.refusesSignIn else { throw OutOfBandError.userDisabled }
    var ended = 0
    if !account.emailVerified {
      try AccountRecord.endOtherWaysIn(account, connection)
      try AccountRecord.set(
        """
        email_verified = 1, password_hash = NULL, password_updated_at = NULL, anonymous = 0
        """, of: account.key, connection)
      ended = try AccountRecord.endSessions(account.key, at: now, connection)
      try OwnChange.renew(of: account.key, connection)
    }
    try markAsLinked(account, connection)
    let new = try AccountRecord.changed(
      account, in: pool, isNewPassword: false, at: now, connection)
    if !account.emailVerified || !account.signsInByLink {
      let action: AuditAction = account.emailVerified ? .accountChange : .accountVerifyEmail
      var entry = AuditEntry(action, of: account, in: pool)
      entry.compare(account.auditFields(), new.auditFields())
      entry.addEnded(ended)
      try entry.record(by: author.user(account), limitedBy: .link, at: now, connection)
    }
    return new
  }

  private func link(
    _ session: UserSession, _ email: String, _ known: Account?, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> EmailLinkSignIn {
    let old = try Sessions.check(session, connection)
    guard known == nil || known?.key == old.key else { throw OutOfBandError.emailExists }
    let isSame = old.email?.isSameBytes(as: email) ?? false
    // Otherwise the link adds a sign-in method.
    if !isSame, old.email != nil, old.hasPassword || old.signsInByLink {
      try SignInChange.check([.address], of: old, in: session, at: now, connection)
    }
    try AccountRecord.setVerifiedEmail(email, of: old, connection)
    try markAsLinked(old, connection)
    var ended = 0
    if !isSame {
      ended = try Sessions.endOwn(of: old.key, at: now, connection)
      try store.offerRecovery(of: old, now: email, in: session.pool, at: now, connection)
    }
    if !old.signsInByLink {
      try store.outbox.notifyOwn(
        UserNotice(.emailLinkAdded), old, in: session.pool, excluding: isSame ? nil : old.email,
        at: now,
        connection)
    }
    let account = try AccountRecord.changed(
      old, in: session.pool, isNewPassword: false, at: now, connection)
    if !isSame || !old.emailVerified || !old.signsInByLink {
      var entry = AuditEntry(.accountChangeEmail, of: account, in: session.pool)
      entry.add(.email, from: .optional(old.email), to: .text(email))
      entry.add(.emailVerified, from: .flag(old.emailVerified), to: .flag(true))
      entry.add(.signsInByLink, from: .flag(old.signsInByLink), to: .flag(true))
      entry.addEnded(ended)
      try entry.record(by: author.user(old), at: now, connection)
    }
    if try !old.isAnonymous
      && store.refusesToContinue(session, of: account, at: now, connection)
    {
      return EmailLinkSignIn(outcome: .enrollmentRequired, isNewUser: false)
    }
    return EmailLinkSignIn(
      outcome: .signedIn(
        try Sessions.renew(
          session, from: old, to: account, with: .link(to: old, in: session), at: now,
          random: store.random, connection)),
      isNewUser: false)
  }

  private func markAsLinked(_ account: Account, _ connection: borrowing Connection) throws {
    try AccountRecord.set("email_link = 1", of: account.key, connection)
  }
}
