import Crypto
import Database

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
    let update = Update(
      change: change, hash: hash, pool: pool, session: session, author: author, store: store,
      now: store.clock.now())
    let result = try await store.write(by: author) { try update.perform(id, $0) }
    return try result.get()
  }

  /// Checks in the transaction of a change that the session of a user who changes their own account
  /// is still open; throws ``SessionError``.
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
    if case .replace(let entries, _) = change.factors { try check(entries) }
    if case .set(let claims) = change.customAttributes { try AccountRules.checkClaims(claims) }
  }
}

/// A change of an account, with what its steps need.
private struct Update: Sendable {
  let change: AccountChange
  let hash: PasswordHash?
  let pool: Pool
  let session: UserSession?
  let author: Author
  let store: Store
  let now: Instant

  func perform(
    _ id: ID<Account>, _ connection: borrowing Connection
  ) throws -> Result<AccountUpdate, AccountError> {
    try Accounts.check(session, connection)
    if change.linksPassword {
      try SignIns.methods(pool, connection).checkPassword()
    }
    guard let old = try AccountRecord.find(pool, id, connection) else {
      throw AccountError.notFound
    }
    if let refusal = try refusal(by: old, connection) { return .failure(refusal) }
    try storeColumns(over: old, connection)
    try storeProviders(of: old, connection)
    let codes = try change.factors.isKept ? nil : BackupCodeCounts(of: old, at: now, connection)
    let removed = try Accounts.changeFactors(
      change.factors, of: old, in: pool, at: now, random: store.random, connection)
    let ended = try endSessions(of: old, removed, connection)
    let new = try AccountRecord.changed(
      old, in: pool, isNewPassword: hash != nil, at: now, connection)
    try offerRecovery(of: old, now: new.email, connection)
    try store.outbox.notifyChange(
      from: old, to: new, removed: removed, newPassword: hash != nil, in: pool, by: author,
      at: now, connection)
    try TokenFactorRules.apply(
      from: old, to: new, removed: removed, sessionsEnded: ended, codes: codes, in: pool,
      by: author, outbox: store.outbox, at: now, connection)
    // Failed attempts at the old password don't apply to the new one.
    if hash != nil, let email = new.email {
      try ThrottleCharge.reset(.passwords(of: TypedEmail(email), in: pool.key), connection)
    }
    try record(from: old, to: new, ended, codes, connection)
    let grant = try renewed(from: old, to: new, connection)
    return .success(AccountUpdate(account: new, sessionsEnded: ended, grant: grant))
  }

  /// Checks a change by the user; returns the error of an address that's in use, which is counted.
  private func refusal(
    by old: Account, _ connection: borrowing Connection
  ) throws -> AccountError? {
    guard let session else { return nil }
    let changesEmail = change.changesEmail(of: old)
    // With a second factor they must keep a verified address, so only an emailed link changes it.
    guard old.factors.isEmpty || !changesEmail else { throw AccountError.emailNeedsVerification }
    try SignInChange.check(
      change.signInChanges(of: old), of: old, in: session,
      addsFirstMethod: change.addsFirstMethod(to: old), at: now, connection)
    guard case .set(let email) = change.email, changesEmail else { return nil }
    return try store.refusal(
      ofNewEmail: email, in: pool, from: author.client, at: now, connection)
  }

  private func storeColumns(over old: Account, _ connection: borrowing Connection) throws {
    let email = change.email.applied(to: old.email).map { AccountRules.folded(email: $0) }
    let keepsVerified = !change.changesEmail(of: old) || change.keepsEmailVerified
    let verified = change.emailVerified ?? (keepsVerified && old.emailVerified)
    let createdAt = time(change.createdAt, over: old.createdAt) ?? old.createdAt
    let lastLoginAt = time(change.lastLoginAt, over: old.lastLoginAt)
    let hasCredential =
      email != nil || hash != nil || change.phoneNumber.applied(to: old.phoneNumber) != nil
    do {
      try AccountRecord.set(
        """
        email = \(email), email_folded = \(email),
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
        """, of: old.key, connection)
      switch change.password {
      case .keep: break
      case .clear:
        try AccountRecord.set("password_hash = NULL, email_link = 0", of: old.key, connection)
      case .set:
        try AccountRecord.set(
          "password_hash = \(hash?.encoded), password_updated_at = \(now)", of: old.key, connection)
      }
    } catch {
      throw AccountRecord.conflict(error) ?? error
    }
  }

  /// Returns a time after a change.
  ///
  /// Lookups show milliseconds, so a caller who writes back what one returned keeps the stored time.
  private func time(_ new: Instant?, over old: Instant?) -> Instant? {
    guard let new, new.milliseconds != old?.milliseconds else { return old }
    // A time in the future would put off enforcement, which begins with the account.
    return min(new, now)
  }

  private func storeProviders(of old: Account, _ connection: borrowing Connection) throws {
    if change.unlinksAll || !change.unlinked.isEmpty {
      try ProviderLink.remove(
        change.unlinksAll ? nil : change.unlinked, of: old, connection)
    }
    try change.link?.store(for: old.key, in: pool, connection)
  }

  /// Ends an account's sessions after a change; if the user made it, keeps their session unless the
  /// change requires a new one.
  private func endSessions(
    of old: Account, _ removed: [Factor], _ connection: borrowing Connection
  ) throws -> Int {
    guard !removed.isEmpty || endsSessions(of: old) else {
      guard let validSince = change.validSince else { return 0 }
      return try AccountRecord.endSessions(old.key, before: validSince, at: now, connection)
    }
    guard let session else {
      return try AccountRecord.endSessions(old.key, at: now, connection)
    }
    let kept = change.renewsSession ? nil : session.id
    guard change.password.isKept else {
      return try AccountRecord.endSessions(old.key, except: kept, at: now, connection)
    }
    return try Sessions.endOwn(of: old.key, except: kept, at: now, connection)
  }

  private func endsSessions(of old: Account) -> Bool {
    switch change.password {
    case .set: return true
    case .clear: if old.hasPassword { return true }
    case .keep: break
    }
    return change.changesEmail(of: old) || (change.disabled == true && !old.disabled)
  }

  private func offerRecovery(
    of old: Account, now email: String?, _ connection: borrowing Connection
  ) throws {
    guard session != nil, change.changesEmail(of: old) else { return }
    do {
      try store.offerRecovery(of: old, now: email, in: pool, at: now, connection)
    } catch OutOfBandError.tooManyMails(_, let until) {
      throw AccountError.tooManyMails(until: until)
    }
  }

  /// Writes the audit row, and notifies the user of what they changed, or of a linked identity.
  private func record(
    from old: Account, to new: Account, _ ended: Int, _ codes: BackupCodeCounts?,
    _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry(.accountChange, of: new, in: pool)
    entry.compare(old.auditFields(), new.auditFields(isNewPassword: hash != nil))
    entry.addEnded(ended)
    try entry.addEnded(codes, of: old, at: now, connection)
    if session != nil {
      // Changes that end sessions are counted separately, and linking an identity is.
      if entry.changes.contains(where: { $0.field == .displayName || $0.field == .photoURL }) {
        try OwnChange.profile.count(of: old.key, at: now, connection)
      }
      try store.outbox.notifyOwnChange(
        from: old, to: new, newPassword: hash != nil, in: pool, at: now, connection)
    }
    if !entry.changes.isEmpty {
      try entry.record(
        by: author, limitedBy: change.password.isKept ? .quota : .password, at: now, connection)
    }
    if session == nil, let link = change.link, !old.providers.contains(link) {
      try store.outbox.notify(
        UserNotice(.providerLinked, [link.provider]), old, in: pool, within: author.noticeQuota,
        at: now, connection)
    }
  }

  /// Returns the session that continues the user's own after a change that ends it.
  private func renewed(
    from old: Account, to new: Account, _ connection: borrowing Connection
  ) throws -> SessionGrant? {
    // The tokens of a grant would continue a session that isn't refreshed either.
    guard change.renewsSession, endsSessions(of: old), let session,
      try !store.refusesToContinue(session, of: new, at: now, connection)
    else { return nil }
    return try Sessions.renew(
      session, from: old, to: new,
      with: old.isAnonymous ? .upgrade(of: session) : .continuation(of: session), at: now,
      random: store.random, connection)
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
