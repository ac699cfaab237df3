import Crypto
import Database
import Text

public struct Federation: Sendable {
  let store: Store
  let signIns: SignIns
  let providers: IdentityProviders
  let pending: Sealer
}

public enum FederatedSignIn: Sendable {
  /// The account was found, created, or linked; a second factor may be required.
  case account(SignInOutcome, FederatedAccount)
  /// The email address belongs to an account without this provider, and the provider doesn't
  /// confirm that it's verified; the user must sign in another way first, then link.
  case needsConfirmation(providers: [String])
}

public struct FederatedAccount: Sendable {
  public let account: Account
  public let isNew: Bool
  /// Whether the provider has reassigned the email address to another user.
  public let isEmailRecycled: Bool
}

extension Federation {
  /// Signs in the user of an identity, and creates or links the account.
  ///
  /// An account with the same email address is linked if the provider says that the address is
  /// verified. If the project allows duplicate emails, each identity has a separate account without
  /// an email address instead. If the existing account's address isn't verified, its creator is
  /// unknown, so its password, phone number, other identities, and sessions are removed.
  public func signIn(
    _ pool: Pool, _ assertion: ProviderAssertion, mayCreate: Bool, by author: Author
  ) async throws -> FederatedSignIn {
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    let now = store.clock.now()
    let uid = store.random.text(AccountRules.uidLength, from: AccountRules.uidAlphabet)
    return try await write { connection in
      // The provider that verified the assertion was read before this transaction.
      try Self.checkProvider(of: assertion, in: pool, connection)
      let link = assertion.link
      if let known = try AccountRecord.find(
        pool, provider: link.provider, rawID: link.rawID, connection)
      {
        guard !known.refusesSignIn else { throw FederationError.userDisabled }
        if !known.providers.contains(link) {
          try link.store(for: known.key, in: pool, connection)
          let new = try AccountRecord.changed(
            known, in: pool, isNewPassword: false, at: now, connection)
          try recordEmail(
            of: link, from: known, to: new, in: pool, by: author, at: now, connection)
        }
        return try pass(known.key, link, in: pool, with: assertion.start, at: now, connection)
      }
      let allowsDuplicateEmails = try Self.allowsDuplicateEmails(pool, connection)
      if !allowsDuplicateEmails, let email = link.email,
        let known = try AccountRecord.find(pool, email: email, connection)
      {
        guard assertion.isEmailVerified else {
          return .needsConfirmation(providers: known.providers.map(\.provider))
        }
        guard !known.refusesSignIn else { throw FederationError.userDisabled }
        try merge(assertion, into: known, in: pool, by: author, at: now, connection)
        let recycled = known.providers.contains { $0.provider == link.provider }
        return try pass(
          known.key, link, in: pool, with: assertion.start, isRecycled: recycled, at: now,
          connection)
      }
      guard mayCreate else { throw FederationError.userNotFound }
      guard try UserPermissions.find(pool.key, connection).signUp else {
        throw FederationError.signUpDisabled
      }
      let account = try make(
        assertion, allowsDuplicateEmails: allowsDuplicateEmails, uid: uid,
        in: pool, by: author, at: now, connection)
      return try pass(
        account.key, link, in: pool, with: assertion.start, isNew: true, at: now, connection)
    }
  }

  /// Lists the linked identities of a provider, by the user's ID at the provider.
  public func identities(
    at provider: String, in pool: Pool, limit: Int
  ) async throws -> [ProviderLink] {
    try await store.read { connection in
      try ProviderLink.all(
        """
        scope_key = \(pool.key) AND provider_id = \(provider) ORDER BY raw_id LIMIT \(limit)
        """, connection)
    }
  }

  /// Links an identity to the session's user and starts a new session.
  ///
  /// The new session keeps a second factor that the session has passed, and what that one began with
  /// (``SessionStart``): linking isn't a sign-in.
  public func link(
    _ session: UserSession, _ assertion: ProviderAssertion, by author: Author
  ) async throws -> FederatedSignIn {
    let pool = session.pool
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    let now = store.clock.now()
    return try await write { connection in
      // The provider that verified the assertion was read before this transaction.
      try Self.checkProvider(of: assertion, in: pool, connection)
      let link = assertion.link
      let old = try Sessions.check(session, connection)
      guard !old.providers.contains(where: { $0.provider.isSameBytes(as: link.provider) }) else {
        throw FederationError.providerAlreadyLinked
      }
      let taken = try AccountRecord.find(
        pool, provider: link.provider, rawID: link.rawID, connection)
      guard taken == nil else { throw FederationError.alreadyLinked }
      var email = old.email
      if let given = link.email, try !Self.allowsDuplicateEmails(pool, connection) {
        let other = try AccountRecord.find(pool, email: given, connection)
        guard other == nil || other?.key == old.key else { throw FederationError.emailExists }
        if email == nil { email = given }
      }
      let isSame = (email ?? "").isSameBytes(as: link.email ?? "")
      let isVerified = old.emailVerified || assertion.isEmailVerified && isSame
      try AccountRecord.set(
        """
        email = \(email), email_folded = \(email),
          email_verified = \(isVerified && email != nil)
        """, of: old.key, connection)
      try link.store(for: old.key, in: pool, connection)
      let new = try reconcile(old, link, in: pool, by: author, at: now, connection)
      if let passed = session.secondFactor,
        new.factors.contains(where: { $0.id == passed.enrollment }),
        let provider = SignInProvider(rawValue: link.provider)
      {
        let grant = try Sessions.begin(
          new, in: pool, provider: provider, secondFactor: passed,
          with: .continuation(of: session), at: now, random: store.random, connection)
        return .account(
          .signedIn(grant),
          FederatedAccount(account: grant.account, isNew: false, isEmailRecycled: false))
      }
      let start = SessionStart.link(to: old, in: session)
      return try pass(
        old.key, link, in: pool, with: start.isSignIn ? assertion.start : start, at: now,
        connection)
    }
  }

  /// Returns true if the project allows duplicate emails (`signIn.allowDuplicateEmails`).
  private static func allowsDuplicateEmails(
    _ pool: Pool, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      "SELECT allow_duplicate_emails FROM project WHERE project_id = \(pool.project)"
    ) { try $0.next() } ?? false
  }

  /// Runs a transaction and translates the conflict if an identity or address was taken
  /// concurrently.
  private func write(
    _ body: @escaping @Sendable (borrowing Connection) throws -> FederatedSignIn
  ) async throws -> FederatedSignIn {
    try await store.write { connection in
      do { return try body(connection) } catch AccountError.federatedIDAlreadyLinked {
        throw FederationError.alreadyLinked
      } catch AccountError.emailExists {
        throw FederationError.emailExists
      }
    }
  }

  private func pass(
    _ account: Int64, _ link: ProviderLink, in pool: Pool, with start: SessionStart,
    isNew: Bool = false, isRecycled: Bool = false, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> FederatedSignIn {
    guard let account = try AccountRecord.find(key: account, connection),
      let provider = SignInProvider(rawValue: link.provider)
    else { throw Failure("account vanished") }
    let outcome = try signIns.passFirstFactor(
      account, in: pool, provider: provider, with: start, at: now, connection)
    return .account(
      outcome,
      FederatedAccount(account: account, isNew: isNew, isEmailRecycled: isRecycled))
  }

  private func make(
    _ assertion: ProviderAssertion, allowsDuplicateEmails: Bool,
    uid: String, in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Account {
    let link = assertion.link
    var new = NewAccount()
    new.email = allowsDuplicateEmails ? nil : link.email
    new.emailVerified = new.email != nil && assertion.isEmailVerified
    new.displayName = link.displayName
    new.photoURL = link.photoURL
    new.providers = [link]
    let account = try AccountRecord.insert(
      new, passwordHash: nil, anonymous: false, in: pool, uid: uid, at: now,
      connection)
    try account.recordSignUp(in: pool, by: author, store.profile, at: now, connection)
    return account
  }

  private func merge(
    _ assertion: ProviderAssertion, into old: Account, in pool: Pool, by author: Author,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let link = assertion.link
    try AccountRecord.set(
      """
      email_verified = 1, display_name = \(link.displayName), photo_url = \(link.photoURL)
      """, of: old.key, connection)
    var ended = 0
    if !old.emailVerified {
      try AccountRecord.set(
        "password_hash = NULL, password_updated_at = NULL", of: old.key, connection)
      try AccountRecord.endOtherWaysIn(old, connection)
      ended = try AccountRecord.endSessions(old.key, at: now, connection)
    }
    try link.store(for: old.key, in: pool, connection)
    _ = try reconcile(
      old, link, in: pool, sessionsEnded: ended, by: author, at: now, connection)
  }

  /// Records that a user's email address at a provider has changed: notices are sent there, too.
  private func recordEmail(
    of link: ProviderLink, from old: Account, to new: Account, in pool: Pool,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let before = old.providers.first { $0.provider == link.provider && $0.rawID == link.rawID }
    guard !(before?.email ?? "").isSameBytes(as: link.email ?? "") else { return }
    var entry = AuditEntry(.accountChange, of: new, in: pool)
    entry.add(.providerEmail, from: .optional(before?.email), to: .optional(link.email))
    try entry.record(by: author.user(new), at: now, connection)
  }

  /// Counts a linked identity, updates counts and the search index, records the changes, and notifies
  /// the user.
  private func reconcile(
    _ old: Account, _ link: ProviderLink, in pool: Pool, sessionsEnded: Int = 0,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws -> Account {
    try OwnChange.alert.count(of: old.key, at: now, connection)
    let new = try AccountRecord.changed(old, in: pool, isNewPassword: false, at: now, connection)
    var entry = AuditEntry(.accountChange, of: new, in: pool)
    entry.compare(old.auditFields(), new.auditFields())
    entry.addEnded(sessionsEnded)
    try entry.record(by: author.user(new), at: now, connection)
    try store.outbox.notify(
      UserNotice(.providerLinked, [link.provider]), old, in: pool, within: nil, at: now, connection)
    return new
  }
}
