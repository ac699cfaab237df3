import Crypto
import Database
import Text

public struct AccountUpdate: Sendable {
  public let account: Account
  public let sessionsEnded: Int
  /// The session that replaces the user's own; nil if the user's session continues or none was
  /// passed.
  public let grant: SessionGrant?
}

extension Accounts {
  @discardableResult
  public func update(
    _ pool: Pool, _ id: ID<Account>, _ change: AccountChange, by author: Author
  ) async throws -> Account {
    try await update(pool, id, change, by: author, in: nil).account
  }

  /// Changes an account and writes one audit row.
  ///
  /// A change that alters nothing writes nothing. A new email address or password, disabling the
  /// account, or removing a second factor ends the account's sessions; `validSince` ends those
  /// before it. A user who removes their own password keeps the current session, because SDKs
  /// continue with the tokens they hold; all others end. The user is notified by email of a change of
  /// how they sign in; if they make it, the session must be enough (``SignInChange``). A user's
  /// attempts to take email addresses in use are limited like those at sign-up, and changes of their
  /// own account that are recorded are limited per hour.
  ///
  /// If a user changes their own account, a new session replaces the given one after a new email
  /// address or password.
  public func update(
    _ pool: Pool, _ id: ID<Account>, _ change: AccountChange, by author: Author,
    in session: UserSession?
  ) async throws -> AccountUpdate {
    try Self.check(change)
    var hash: PasswordHash?
    if case .set(let password) = change.password { hash = try await self.hash(password, in: pool) }
    let newHash = hash
    let now = store.clock.now()
    let store = store
    let result: Result<AccountUpdate, AccountError> = try await store.write(
      by: author
    ) {
      connection in
      try Self.check(session, connection)
      if change.linksPassword {
        try SignIns.checkPasswordSignIn(in: pool, connection)
      }
      guard let old = try AccountRecord.find(pool, id, connection) else {
        throw AccountError.notFound
      }
      if let session {
        try Self.checkOwnEmail(change, of: old)
        try SignInChange.check(
          change.signInChanges(of: old), of: old, in: session,
          addsFirstMethod: change.addsFirstMethod(to: old), at: now, connection)
        if case .set(let email) = change.email, change.changesEmail(of: old),
          let refusal = try store.refusal(
            ofNewEmail: email, in: pool, from: author.client, at: now, connection)
        {
          return .failure(refusal)
        }
      }
      try Self.store(change, newHash, over: old, at: now, connection)
      try Self.changeProviders(change, of: old, in: pool, connection)
      let codes =
        try change.factors.isKept ? nil : BackupCodeCounts(of: old, at: now, connection)
      let removed = try Self.changeFactors(
        change.factors, of: old, in: pool, at: now, random: store.random, connection)
      var ended = 0
      let endsSessions = Self.endsSessions(change, old)
      if !removed.isEmpty || endsSessions {
        ended = try Self.endSessions(
          of: old, session, by: change, at: now, connection)
      } else if let validSince = change.validSince {
        ended = try AccountRecord.endSessions(old.key, before: validSince, at: now, connection)
      }
      let new = try AccountRecord.changed(
        old, in: pool, isNewPassword: newHash != nil, at: now, connection)
      if session != nil, change.changesEmail(of: old) {
        do {
          try store.offerRecovery(of: old, now: new.email, in: pool, at: now, connection)
        } catch OutOfBandError.tooManyMails(_, let until) {
          throw AccountError.tooManyMails(until: until)
        }
      }
      try store.outbox.notifyChange(
        from: old, to: new, removed: removed, newPassword: newHash != nil, in: pool, by: author,
        at: now, connection)
      try TokenFactorRules.apply(
        from: old, to: new, removed: removed, sessionsEnded: ended, codes: codes, in: pool,
        by: author, outbox: store.outbox, at: now, connection)
      // Failed attempts at the old password don't apply to the new one.
      if newHash != nil, let email = new.email {
        try ThrottleCharge.reset(.passwords(of: TypedEmail(email), in: pool.key), connection)
      }
      var entry = AuditEntry(.accountChange, of: new, in: pool)
      entry.compare(old.auditFields(), new.auditFields(isNewPassword: newHash != nil))
      entry.addEnded(ended)
      try entry.addEnded(codes, of: old, at: now, connection)
      if session != nil {
        try Self.countProfileChange(entry, of: old, at: now, connection)
        try store.outbox.notifyOwnChange(
          from: old, to: new, newPassword: newHash != nil, in: pool, at: now, connection)
      }
      if !entry.changes.isEmpty {
        try entry.record(
          by: author, limitedBy: change.password.isKept ? .quota : .password, at: now, connection)
      }
      if session == nil, let link = change.link, !old.providers.contains(link) {
        try store.outbox.notify(
          .providerLinked(name: link.provider), old, in: pool, within: author.noticeQuota, at: now,
          connection)
      }
      let grant =
        try change.renewsSession && endsSessions
        ? session.flatMap { (session) throws -> SessionGrant? in
          // Its tokens would continue a session that isn't refreshed either.
          guard try !store.refusesToContinue(session, of: new, at: now, connection) else {
            return nil
          }
          return try Sessions.renew(
            session, from: old, to: new, with: .change(of: old, in: session), at: now,
            random: store.random, connection)
        } : nil
      return .success(AccountUpdate(account: new, sessionsEnded: ended, grant: grant))
    }
    return try result.get()
  }

  /// Checks in the transaction of a change that the session of a user who changes their own account
  /// is still open.
  ///
  /// - Throws: ``SessionError``.
  static func check(
    _ session: UserSession?, _ connection: borrowing Connection
  ) throws {
    guard let session else { return }
    _ = try Sessions.check(session, connection)
  }

  private static func check(_ change: AccountChange) throws(AccountError) {
    if case .set(let email) = change.email { try AccountRules.checkEmail(email) }
    if case .set(let phone) = change.phoneNumber { try AccountRules.checkPhone(phone) }
    if case .set(let name) = change.displayName { try AccountRules.checkName(name) }
    if case .set(let photo) = change.photoURL { try AccountRules.checkPhoto(photo) }
    try change.link?.check()
    if case .replace(let entries) = change.factors { try check(entries) }
    if case .set(let claims) = change.customAttributes { try AccountRules.checkClaims(claims) }
  }

  /// A user with a second factor must keep a verified email address, so they change it with an
  /// emailed link only.
  private static func checkOwnEmail(
    _ change: AccountChange, of old: Account
  ) throws(AccountError) {
    guard old.factors.isEmpty || !change.changesEmail(of: old) else {
      throw .emailNeedsVerification
    }
  }

  private static func store(
    _ change: AccountChange, _ hash: PasswordHash?, over old: Account, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let email = change.email.applied(to: old.email).map { AccountRules.folded(email: $0) }
    let keepsVerified = !change.changesEmail(of: old) || change.keepsEmailVerified
    let verified = change.emailVerified ?? (keepsVerified && old.emailVerified)
    let createdAt = Self.time(change.createdAt, over: old.createdAt, at: now) ?? old.createdAt
    let lastLoginAt = Self.time(change.lastLoginAt, over: old.lastLoginAt, at: now)
    let hasCredential =
      email != nil || hash != nil || change.phoneNumber.applied(to: old.phoneNumber) != nil
    do {
      try connection.run(
        """
        UPDATE account SET email = \(email), email_folded = \(email),
          email_verified = \(verified && email != nil),
          email_link = \(old.signsInByLink && email != nil),
          display_name = \(change.displayName.withoutEmptyText.applied(to: old.displayName)),
          photo_url = \(change.photoURL.withoutEmptyText.applied(to: old.photoURL)),
          given_fields = \(GivenFields(after: change, of: old, email: email)),
          phone = \(change.phoneNumber.applied(to: old.phoneNumber)),
          custom_attributes = \(change.customAttributes.applied(to: old.customAttributes)),
          disabled = \(change.disabled ?? old.disabled),
          anonymous = \(old.isAnonymous && !hasCredential),
          created_at = \(createdAt), last_login_at = \(lastLoginAt),
          last_login_day = \(lastLoginAt?.day ?? 0)
        WHERE account_key = \(old.key)
        """)
      switch change.password {
      case .keep: break
      case .clear:
        try connection.run(
          """
          UPDATE account SET password_hash = NULL, email_link = 0
          WHERE account_key = \(old.key)
          """)
      case .set:
        try connection.run(
          """
          UPDATE account SET password_hash = \(hash?.encoded),
            password_updated_at = \(now)
          WHERE account_key = \(old.key)
          """)
      }
    } catch {
      throw AccountRecord.conflict(error) ?? error
    }
  }

  /// Returns a time after a change.
  ///
  /// Lookups show milliseconds, so a caller who writes back what one returned keeps the stored time.
  private static func time(_ new: Instant?, over old: Instant?, at now: Instant) -> Instant? {
    guard let new, new.milliseconds != old?.milliseconds else { return old }
    // A time in the future would put off enforcement, which begins with the account.
    return min(new, now)
  }

  private static func changeProviders(
    _ change: AccountChange, of old: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    if change.unlinksAll || !change.unlinked.isEmpty {
      try ProviderLink.remove(
        change.unlinksAll ? nil : change.unlinked, of: old, connection)
    }
    try change.link?.store(for: old.key, in: pool, connection)
  }

  /// Ends an account's sessions after a change; if the user made it, keeps their session unless the
  /// change requires a new one.
  private static func endSessions(
    of account: Account, _ session: UserSession?, by change: AccountChange, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    guard let session else {
      return try AccountRecord.endSessions(account.key, at: now, connection)
    }
    let kept = change.renewsSession ? nil : session.id
    guard change.password.isKept else {
      return try AccountRecord.endSessions(account.key, except: kept, at: now, connection)
    }
    return try Sessions.endOwn(of: account.key, except: kept, at: now, connection)
  }

  /// Counts a change of the user's own name or photo.
  ///
  /// Changes that end sessions are counted separately, and linking an identity is.
  private static func countProfileChange(
    _ entry: AuditEntry, of account: Account, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard entry.changes.contains(where: { $0.field == .displayName || $0.field == .photoURL })
    else { return }
    try OwnChange.profile.count(of: account.key, at: now, connection)
  }

  private static func endsSessions(_ change: AccountChange, _ old: Account) -> Bool {
    switch change.password {
    case .set: return true
    case .clear: if old.hasPassword { return true }
    case .keep: break
    }
    return change.changesEmail(of: old) || (change.disabled == true && !old.disabled)
  }
}

extension AccountChange {
  /// Returns true if the account has another email address after the change, or none anymore;
  /// uppercase and lowercase letters are the same.
  func changesEmail(of account: Account) -> Bool {
    switch email {
    case .keep: false
    case .set(let email): !account.hasEmail(email)
    case .clear: account.email != nil
    }
  }

  /// Whether a user who makes this change gets a new session; SDKs then use the tokens in the
  /// response.
  var renewsSession: Bool {
    if case .set = password { return true }
    if case .keep = email { return false }
    return true
  }
}

extension Change {
  var isKept: Bool {
    if case .keep = self { true } else { false }
  }

  func applied(to old: Value?) -> Value? {
    switch self {
    case .keep: old
    case .set(let value): value
    case .clear: nil
    }
  }
}

extension Account {
  /// - Returns: The fields, in a fixed order.
  func auditFields(isNewPassword: Bool = false, hasNewSecrets: Bool = false) -> [AuditField] {
    [
      AuditField(.email, .optional(email)), AuditField(.emailVerified, .flag(emailVerified)),
      AuditField(
        .password, hasPassword ? .secret : .absent, hidden: isNewPassword ? ["changed"] : []),
      AuditField(.signsInByLink, .flag(signsInByLink)),
      AuditField(.displayName, .optional(displayName)), AuditField(.photoURL, .optional(photoURL)),
      AuditField(.phoneNumber, .optional(phoneNumber)),
      AuditField(
        .providers, .optional(providers.map(\.words)),
        hidden: providers.flatMap { link in
          [link.provider, link.rawID, link.email, link.displayName, link.photoURL]
        }),
      AuditField(.claims, .optional(customAttributes)), AuditField(.disabled, .flag(disabled)),
      AuditField(.validSince, .instant(Instant(seconds: validSince))),
      AuditField(.createdAt, .instant(createdAt)),
      AuditField(.lastSignIn, .optional(lastLoginAt)),
      AuditField(
        .factors, .of(factors),
        hidden: factors.map { String($0.enrolledAt.microseconds) }),
      AuditField(
        .factorSecrets, .secret, hidden: hasNewSecrets ? ["changed"] : []),
    ]
  }
}
