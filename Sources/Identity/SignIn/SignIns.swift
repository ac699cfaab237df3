public import Crypto
import Database

/// Signs users in: first factor, then second.
public struct SignIns: Sendable {
  let store: Store
  let accounts: Accounts
  let hasher: PasswordHasher
  let tickets: Sealer
  let totp: TOTPFactor

  /// Makes an account for its own user and signs it in; without e-mail and password an anonymous
  /// one.
  ///
  /// - Throws: ``AccountError``.
  public func signUp(
    _ scope: Scope, _ new: NewAccount, by author: Author
  ) async throws(AccountError) -> SessionGrant {
    guard !scope.isDisabled else { throw .scopeDisabled }
    let anonymous = new.email == nil && new.password == nil
    let methods = try await methods(scope)
    if anonymous {
      guard methods.anonymous else { throw .adminOnly }
    } else {
      guard methods.password else { throw .operationNotAllowed }
      if new.email == nil { throw .missingEmail }
      if new.password == nil { throw .missingPassword }
    }
    let hash = try await accounts.check(new)
    let now = store.clock.now()
    let random = store.random
    return try await store.write(AccountError.self) { connection in
      let uid = random.text(AccountRules.uidLength, from: AccountRules.uidAlphabet)
      let account = try AccountRecord.insert(
        new, passwordHash: hash?.encoded, anonymous: anonymous, in: scope, uid: uid, at: now,
        connection)
      var entry = AuditEntry("account.sign-up", "account", uid, name: account.label, in: scope)
      entry.to = account.words
      try entry.record(
        by: Author(
          actor: .user(account.id), address: author.address, requestID: author.requestID),
        at: now, connection)
      return try Sessions.begin(
        account, in: scope, provider: anonymous ? .anonymous : .password, secondFactor: nil,
        at: now, random: random, connection)
    }
  }

  private func methods(_ scope: Scope) async throws(AccountError) -> SignInMethods {
    try await store.read(AccountError.self) { connection in
      try Self.methods(scope, connection)
    }
  }

  private static func methods(
    _ scope: Scope, _ connection: borrowing Connection
  ) throws -> SignInMethods {
    try connection.first(
      "SELECT password, email_link, anonymous FROM scope WHERE scope_key = \(scope.key)"
    ) { row in
      SignInMethods(
        password: try row.value(0), emailLink: try row.value(1), anonymous: try row.value(2))
    } ?? SignInMethods(password: false, emailLink: false, anonymous: false)
  }

  /// Signs in with e-mail and password.
  ///
  /// Every guess is counted before the password is hashed, so that guesses at the same time cannot
  /// exceed the limits; a right one takes its count back. Unknown addresses cost the same work.
  ///
  /// - Throws: ``SignInError``.
  public func password(
    _ scope: Scope, email: String, password: Secret, address: String
  ) async throws(SignInError) -> SignInOutcome {
    guard !scope.isDisabled else { throw .scopeDisabled }
    let attempt = try await takeAttempt(scope, email: email, address: address)
    let matches: Bool
    do { matches = try await hasher.matches(password, attempt.hash) } catch {
      if error == .busy { throw .busy }
      throw .unavailable(Failure(error))
    }
    guard let account = attempt.account else { throw .emailNotFound }
    guard matches, let hash = attempt.hash else { throw .wrongPassword }
    guard !account.disabled else { throw .userDisabled }
    var upgraded: PasswordHash?
    if hasher.needsUpgrade(hash) { upgraded = try? await hasher.hash(password) }
    return try await pass(scope, account, hash: hash, upgraded: upgraded, address: address)
  }

  private struct Attempt: Sendable {
    var account: Account?
    var hash: PasswordHash?
  }

  private func takeAttempt(
    _ scope: Scope, email: String, address: String
  ) async throws(SignInError) -> Attempt {
    let now = store.clock.now()
    let outcome: Result<Attempt, SignInError> = try await store.write(SignInError.self) {
      connection in
      guard try Self.methods(scope, connection).password else {
        return .failure(.passwordLoginDisabled)
      }
      if let until = try ThrottleRecord.take(
        "address \(address)", .addresses, at: now, connection)
      {
        return .failure(.tooManyAttempts(until: until))
      }
      guard let account = try AccountRecord.find(scope, email: email, connection) else {
        // The name is counted too, so that known and unknown ones behave alike.
        let name = "email \(scope.key) \(AccountRules.folded(email: String(email.prefix(320))))"
        if let until = try ThrottleRecord.take(name, .passwords, at: now, connection) {
          return .failure(.tooManyAttempts(until: until))
        }
        return .success(Attempt())
      }
      let row = try connection.first(
        """
        SELECT password_hash, wrong_passwords, passwords_blocked_until FROM account
        WHERE account_key = \(account.key)
        """
      ) { row in
        (
          hash: try row.value(0) as String?, wrong: try row.value(1) as Int,
          blocked: try row.value(2) as Int64?
        )
      }
      guard let row else { return .success(Attempt()) }
      if let blocked = row.blocked, blocked > now.microseconds {
        return .failure(.tooManyAttempts(until: Instant(microseconds: blocked)))
      }
      let until = Throttle.passwords.blockedUntil(afterFailures: row.wrong + 1, at: now)
      try connection.run(
        """
        UPDATE account SET wrong_passwords = wrong_passwords + 1,
          passwords_blocked_until = \(until?.microseconds)
        WHERE account_key = \(account.key)
        """)
      return .success(
        Attempt(account: account, hash: row.hash.map(PasswordHash.init(encoded:))))
    }
    return try outcome.get()
  }

  /// The password was right: gives the attempt back and goes on to the second factor or signs in.
  private func pass(
    _ scope: Scope, _ account: Account, hash: PasswordHash, upgraded: PasswordHash?,
    address: String
  ) async throws(SignInError) -> SignInOutcome {
    let now = store.clock.now()
    let (random, tickets) = (store.random, tickets)
    return try await store.write(SignInError.self) { connection in
      // The password may have been changed while it was being hashed.
      let changed = try connection.run(
        """
        UPDATE account SET wrong_passwords = 0, passwords_blocked_until = NULL,
          password_hash = \(upgraded?.encoded ?? hash.encoded)
        WHERE account_key = \(account.key) AND password_hash = \(hash.encoded)
        """)
      guard changed == 1, let account = try AccountRecord.find(key: account.key, connection) else {
        throw SignInError.wrongPassword
      }
      try ThrottleRecord.clear("address \(address)", connection)
      let configuration = try Policies.find(scope.key, connection).configuration
      // A factor is asked for only when its kind is switched on at this scope.
      let due = configuration.isTOTPOn ? account.factors.filter { $0.kind == .totp } : []
      guard due.isEmpty else {
        let ticket = Ticket(
          scope: scope, account: account, provider: .password, at: now, random: random)
        return .secondFactorDue(
          account: account, pendingCredential: try ticket.sealed(.pendingCredential, by: tickets),
          factors: due)
      }
      return .signedIn(
        try Sessions.begin(
          account, in: scope, provider: .password, secondFactor: nil, at: now, random: random,
          connection))
    }
  }
}
