public import Crypto
import Database

/// Signs users in with the first factor, then the second.
public struct SignIns: Sendable {
  let store: Store
  let accounts: Accounts
  let hasher: PasswordHasher
  let tickets: Sealer
  let totp: TOTPFactor
  let backupCodes: BackupCodeStore

  /// Creates an account for a user who signs up and signs it in; without email and password, the
  /// account is anonymous.
  ///
  /// A uid, a phone number, `emailVerified`, and `disabled` are ignored, because users can't set
  /// these themselves. A photo, and the name of an anonymous user, are ignored too, as in Google's
  /// service. An email address in use counts as a wrong password of the network
  /// (``AccountError/tooManyAttempts(until:)``).
  public func signUp(
    _ pool: Pool, _ new: NewAccount, by author: Author
  ) async throws -> SessionGrant {
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    var new = new
    (new.localID, new.phoneNumber, new.phones) = (nil, nil, [])
    (new.emailVerified, new.disabled) = (false, false)
    let anonymous = new.email == nil && new.password == nil
    new.photoURL = nil
    if anonymous { new.displayName = nil }
    try await store.read { connection in
      try Self.checkSignUp(anonymous: anonymous, in: pool, connection)
    }
    if !anonymous {
      if new.email == nil { throw AccountError.missingEmail }
      if new.password == nil { throw AccountError.missingPassword }
    }
    let hash = try await accounts.check(new, in: pool)
    let now = store.clock.now()
    let fields = new
    let result: Result<SessionGrant, AccountError> = try await store.write(
      by: author
    ) {
      connection in
      // It may have been turned off while the password was hashed.
      try Self.checkSignUp(anonymous: anonymous, in: pool, connection)
      if let email = fields.email,
        let refusal = try store.refusal(
          ofNewEmail: email, in: pool, from: author.client, at: now, connection)
      {
        return .failure(refusal)
      }
      let uid = store.random.text(AccountRules.uidLength, from: AccountRules.uidAlphabet)
      let account = try AccountRecord.insert(
        fields, passwordHash: hash?.encoded, anonymous: anonymous, in: pool,
        uid: uid, at: now, connection)
      try account.recordSignUp(in: pool, by: author, store.profile, at: now, connection)
      return .success(
        try Sessions.begin(
          account, in: pool, provider: anonymous ? .anonymous : .password, secondFactor: nil,
          with: .signIn, at: now, random: store.random, connection))
    }
    return try result.get()
  }

  private static func checkSignUp(
    anonymous: Bool, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    let current = try stored(pool, connection)
    guard !current.isDeleted else { throw CallError.poolDeleted(pool) }
    guard !current.isDisabled else { throw CallError.poolDisabled(pool) }
    guard try UserPermissions.find(pool.key, connection).signUp else {
      throw AccountError.adminOnly
    }
    guard anonymous else { return try current.methods.checkPassword() }
    guard current.methods.anonymous else { throw AccountError.adminOnly }
  }

  /// Returns whether a pool exists and allows sign-in at present.
  static func isOpen(_ pool: Pool, _ connection: borrowing Connection) throws -> Bool {
    let current = try stored(pool, connection)
    return !current.isDeleted && !current.isDisabled
  }

  static func methods(
    _ pool: Pool, _ connection: borrowing Connection
  ) throws -> SignInMethods {
    try stored(pool, connection).methods
  }

  /// Reads a pool's current sign-in methods and state; a ``Pool`` has those from when the request
  /// began.
  static func stored(
    _ pool: Pool, _ connection: borrowing Connection
  ) throws -> (methods: SignInMethods, isDisabled: Bool, isDeleted: Bool) {
    try connection.first(
      """
      SELECT password, email_link, anonymous, phone, disabled, deleted_at IS NOT NULL
      FROM scope WHERE scope_key = \(pool.key)
      """
    ) { row in
      let methods = SignInMethods(
        password: try row.next(), emailLink: try row.next(), anonymous: try row.next(),
        phone: try row.next())
      return (methods, isDisabled: try row.next(), isDeleted: try row.next())
    } ?? (SignInMethods(password: false, emailLink: false, anonymous: false), false, true)
  }

  /// Signs in with email and password.
  ///
  /// Every guess is counted before the password is hashed, so that concurrent guesses can't exceed
  /// the limits. The count is reversed if the password is correct or wasn't checked. Unknown emails
  /// are counted the same way and cost the same work.
  public func password(
    _ pool: Pool, email: String, password: Secret, address: ClientAddress
  ) async throws -> SignInOutcome {
    try await check(pool, email: email, password: password, address: address) {
      account, missing, now, connection in
      let outcome = try passFirstFactor(
        account, in: pool, provider: .password, with: .signIn, at: now, connection)
      guard case .signedIn(var grant) = outcome else { return outcome }
      grant.unmetRequirements = missing
      return .signedIn(grant)
    }
  }

  /// What follows a correct password, which may not meet some requirements, in the same transaction.
  typealias AfterPassword<Outcome> =
    @Sendable (Account, [PasswordRequirement], Instant, borrowing Connection) throws -> Outcome

  /// Checks a password and counts it, as a sign-in does.
  func check<Outcome: Sendable>(
    _ pool: Pool, email: String, password: Secret, address: ClientAddress,
    then follow: @escaping AfterPassword<Outcome>
  ) async throws -> Outcome {
    do {
      guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
      do { try AccountRules.checkEmail(email) } catch { throw SignInError.invalidEmail }
      var attempt = try await takeAttempt(pool, email: email, address: address)
      // Another sign-in or a password change may store a different hash in the meantime, so this is
      // retried once.
      for _ in 0..<2 {
        let matches: Bool
        do { matches = try await hasher.matches(password, attempt.hash, for: pool.hashing) } catch {
          try await giveBack(attempt)
          throw error
        }
        guard let account = attempt.account else { throw SignInError.emailNotFound }
        guard matches, let hash = attempt.hash else { throw SignInError.wrongPassword }
        guard !account.disabled else { throw SignInError.userDisabled }
        var upgraded: PasswordHash?
        if hasher.needsUpgrade(hash) {
          upgraded = try? await hasher.hash(password, for: pool.hashing)
        }
        switch try await pass(
          pool, attempt, account, password: password, hash: hash, upgraded: upgraded, then: follow)
        {
        case .passed(let outcome):
          store.passwordAttempts.add(.user, .correct)
          return outcome
        case .lacking(let missing): throw SignInError.passwordRequirements(missing)
        case .replaced(let other): attempt.hash = other
        }
      }
      throw SignInError.wrongPassword
    } catch {
      store.passwordAttempts.add(.user, PasswordAttempts.Result(error))
      throw error
    }
  }

  private struct Attempt: Sendable {
    var account: Account?
    var hash: PasswordHash?
    /// The counted guesses: of the network, and of the name from this network and from anywhere.
    let charges: [ThrottleCharge]
  }

  private func takeAttempt(
    _ pool: Pool, email: String, address: ClientAddress
  ) async throws -> Attempt {
    let email = TypedEmail(email)
    let counters =
      ThrottleCounter.client(address, in: pool, store.profile)
      + ThrottleCounter.name(.passwords(of: email, in: pool.key), from: address)
    let outcome: Result<Attempt, SignInError> = try await store.write {
      now, connection in
      guard try Self.methods(pool, connection).password else {
        return .failure(.passwordLoginDisabled)
      }
      let charges: [ThrottleCharge]
      switch try ThrottleCharge.charge(counters, at: now, connection) {
      case .charged(let taken): charges = taken
      case .blocked(let until): return .failure(.tooManyAttempts(until: until))
      }
      let account = try AccountRecord.find(pool, email: email.folded, connection)
      return .success(
        Attempt(
          account: account, hash: try Self.hash(of: account?.key, connection), charges: charges))
    }
    return try outcome.get()
  }

  private static func hash(
    of account: Int64?, _ connection: borrowing Connection
  ) throws -> PasswordHash? {
    guard let account else { return nil }
    let text = try connection.first(
      "SELECT password_hash FROM account WHERE account_key = \(account)"
    ) { try $0.next() as String? }
    return text.flatMap { $0 }.map(PasswordHash.init(encoded:))
  }

  /// Reverses the counts of a guess that wasn't checked.
  private func giveBack(_ attempt: Attempt) async throws {
    try await store.write { connection in
      for charge in attempt.charges { try charge.refund(connection) }
    }
  }

  private enum Passed<Outcome: Sendable>: Sendable {
    case passed(Outcome)
    /// The password is correct, but doesn't meet the password policy.
    case lacking([PasswordRequirement])
    /// The account's hash was replaced since it was compared; the current hash.
    case replaced(PasswordHash?)
  }

  /// Reverses the counts of a correct password and continues.
  private func pass<Outcome: Sendable>(
    _ pool: Pool, _ attempt: Attempt, _ account: Account, password: Secret,
    hash: PasswordHash, upgraded: PasswordHash?, then follow: @escaping AfterPassword<Outcome>
  ) async throws -> Passed<Outcome> {
    try await store.write { now, connection in
      // The pool may have been changed or deleted while the password was hashed.
      let current = try Self.stored(pool, connection)
      guard !current.isDeleted else { throw CallError.poolDeleted(pool) }
      guard !current.isDisabled else { throw CallError.poolDisabled(pool) }
      guard current.methods.password else { throw SignInError.passwordLoginDisabled }
      let isCurrent = try AccountRecord.set(
        "password_hash = \(upgraded?.encoded ?? hash.encoded)", of: account.key,
        if: "password_hash = \(hash.encoded)", connection)
      // Anything read before the password was hashed may have changed.
      guard isCurrent, let account = try AccountRecord.find(key: account.key, connection) else {
        return .replaced(try Self.hash(of: account.key, connection))
      }
      guard !account.disabled else { throw SignInError.userDisabled }
      try ThrottleCharge.recordSuccess(attempt.charges, connection)
      let policy = try PasswordPolicy.find(pool.key, connection)
      let missing = policy.missing(in: password)
      guard missing.isEmpty || !policy.forcesUpgrade else { return .lacking(missing) }
      return .passed(try follow(account, missing, now, connection))
    }
  }

  /// Continues after a successful first factor: requires the second factor, or signs in.
  ///
  /// A factor is required only if its kind is enabled for this pool and the first factor supports a
  /// second one. A user without a factor can be refused; see ``Enforcement``.
  ///
  /// `start` is how the session begins if no second factor is required.
  ///
  /// - Throws: ``CallError/poolDisabled(_:)``, ``SignInError/userDisabled`` for an account that's locked
  ///   (``AccountLock``), or the database's error.
  func passFirstFactor(
    _ account: Account, in pool: Pool, provider: SignInProvider, with start: SessionStart,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> SignInOutcome {
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    guard !account.isSignInLocked else { throw SignInError.userDisabled }
    if provider.supportsSecondFactor, !account.factors.isEmpty {
      let configuration = try Policies.stored(pool.key, connection).configuration
      let due = SignInForecast.factorsDue(of: account, configuration)
      if !due.isEmpty {
        let ticket = Ticket(
          pool: pool, account: account, provider: provider,
          secret: Secret(Array((start.claims ?? "").utf8)), at: now, random: store.random)
        return .secondFactorDue(
          account: account, pendingCredential: try ticket.sealed(.pendingCredential, by: tickets),
          factors: due)
      }
    }
    guard try !store.refusesSignIn(of: account, in: pool, at: now, connection) else {
      return .enrollmentRequired
    }
    return .signedIn(
      try Sessions.begin(
        account, in: pool, provider: provider, secondFactor: nil, with: start, at: now,
        random: store.random, connection))
  }
}

extension SignInMethods {
  func checkPassword() throws(AccountError) {
    guard password else { throw .operationNotAllowed }
  }
}

public enum SignInError: Error, Sendable {
  case invalidEmail
  case emailNotFound
  case wrongPassword
  /// The password is correct, but doesn't meet the pool's password policy, which is enforced at
  /// sign-in.
  case passwordRequirements([PasswordRequirement])
  /// The account doesn't exist, and users can't sign up.
  case adminOnly
  /// The account is disabled, or locked after its user's report (``AccountLock``).
  case userDisabled
  case passwordLoginDisabled
  case poolDisabled(Pool)
  /// Too many wrong passwords; retry after this time.
  case tooManyAttempts(until: Instant)
  /// The pending credential wasn't issued here or was already used.
  case invalidPendingCredential
  case pendingExpired
  /// The enrollment ID isn't one of the user's.
  case invalidEnrollment
  /// A code was requested for a factor that the user doesn't have.
  case enrollmentNotFound
  case smsNotEnabled
  /// TOTP is off as a second factor, and another factor is required.
  case totpNotEnabled
  case phoneLoginDisabled
  /// The pool is a tenant; phone sign-in is available for projects only.
  case tenantWithoutPhones
  /// The phone number isn't in E.164 format, or the factor isn't a phone.
  case invalidPhone
  case regionNotAllowed
  /// The pending credential has expired for codes sent by SMS.
  case phonePendingExpired
  /// The code's session wasn't issued here or belongs to another sign-in.
  case invalidSessionInfo
  /// The code's session expired, was used, or was tried too often.
  case sessionExpired
  /// The phone proof wasn't issued here, expired, was used, or is for another number.
  case invalidTemporaryProof
  /// The user should have a second factor by now and has none; an enrollment link is in their email.
  case enrollmentRequired
  /// The account has a second factor, which phone sign-in would bypass.
  case unsupportedFirstFactor
  case phoneNumberExists
  /// The session that the number would be linked to isn't valid.
  case session(SessionError)
  /// The code is incorrect, expired, or was already used.
  case invalidCode
  /// Too many wrong codes in a row; retry after this time.
  case quotaExceeded(until: Instant)
  case userNotFound
  case projectMismatch
  case tenantMismatch
}

public enum SignInOutcome: Sendable {
  case signedIn(SessionGrant)
  case secondFactorDue(account: Account, pendingCredential: String, factors: [Factor])
  /// The user should have a second factor by now and has none; an enrollment link is in their email.
  case enrollmentRequired
}
