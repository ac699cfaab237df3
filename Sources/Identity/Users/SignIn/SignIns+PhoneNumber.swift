import Crypto
import Database

/// A sign-in or link request with a phone number.
public struct PhoneSignIn: Sendable {
  public enum Purpose: Sendable {
    /// Signs in to the number's account, which is created if it doesn't exist.
    case signIn
    /// Signs in to the number's account, which must exist.
    case signInAgain
    case link(UserSession)
  }

  public var proof: PhoneProof
  public var purpose: Purpose

  public init(proof: PhoneProof, purpose: Purpose) {
    self.proof = proof
    self.purpose = purpose
  }
}

public enum PhoneSignInOutcome: Sendable {
  case signedIn(SessionGrant, isNew: Bool)
  /// The number belongs to another account than the one it should be linked to. With the proof, the
  /// user can sign in to that account without another message.
  case taken(phoneNumber: String, proof: String)
}

extension SignIns {
  /// Sends a sign-in code to a phone number, whether or not it has an account.
  ///
  /// If users can't sign up, a number without an account gets no message.
  ///
  /// - Returns: The session that the client sends back with the code.
  public func sendCode(
    _ pool: Pool, _ request: PhoneRequest
  ) async throws -> String {
    let codes = codes
    return try await store.write { now, connection in
      try Self.checkPhones(pool, connection)
      do { try AccountRules.checkPhone(request.phoneNumber) } catch {
        throw SignInError.invalidPhone
      }
      var use = PhoneCodes.Use(kind: .phoneSignIn, purpose: .smsSignIn)
      let owner = try AccountRecord.find(pool, phone: request.phoneNumber, connection)
      use.isWithheld = try UserPermissions.refusesCode(for: owner, in: pool, connection)
      // With email enumeration protection, no response tells whether a number has an account.
      guard try !use.isWithheld || Pools.hidesUsers(pool, connection) else {
        throw SignInError.adminOnly
      }
      return try codes.send(request, for: use, in: pool, at: now, connection).session()
    }
  }

  private static func checkPhones(_ pool: Pool, _ connection: borrowing Connection) throws {
    guard pool.tenant == nil else { throw SignInError.tenantWithoutPhones }
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    guard try methods(pool, connection).phone else { throw SignInError.phoneLoginDisabled }
  }

  /// Signs in with a code sent to a phone number, or links the number to an account.
  ///
  /// Wrong codes are counted by number and network, and more slowly by number alone, across all
  /// codes sent to the number.
  ///
  /// Accounts that require a second factor can't sign in this way: phone sign-in doesn't support a
  /// second factor, so it would bypass it.
  public func phone(
    _ pool: Pool, _ request: PhoneSignIn, by author: Author
  ) async throws -> PhoneSignInOutcome {
    let now = store.clock.now()
    let (random, tickets, profile) = (store.random, tickets, store.profile)
    let outcome: Result<PhoneSignInOutcome, SignInError> = try await store.write(
      by: author
    ) {
      connection in
      try Self.checkPhones(pool, connection)
      let number: String
      switch try Self.number(
        request.proof, from: author.client, in: pool, by: tickets, at: now, connection)
      {
      case .success(let found): number = found
      case .failure(let error): return .failure(error)
      }
      let owner = try AccountRecord.find(pool, phone: number, connection)
      switch request.purpose {
      case .link(let session):
        let account: Account
        do { account = try Sessions.check(session, connection) } catch let error as SessionError {
          return .failure(.session(error))
        }
        if let owner, owner.key != account.key {
          guard case .code = request.proof else { return .failure(.phoneNumberExists) }
          return .success(
            .taken(
              phoneNumber: number,
              proof: try TemporaryProof.make(
                number, in: pool, by: tickets, at: now, random: random)))
        }
        guard account.factors.isEmpty else { return .failure(.unsupportedFirstFactor) }
        // Without a factor, nothing is checked: neither linking a number nor changing it requires a
        // recent sign-in (``SignInChange``).
        let linked = try Self.link(number, to: account, in: pool, by: author, at: now, connection)
        if account.phoneNumber != number {
          try store.outbox.notifyOwn(
            UserNotice(.phoneNumberSet), account, in: pool, at: now, connection)
        }
        // The link is kept. No second factor passes from the session to the new one.
        if try !account.isAnonymous
          && store.refusesSessions(of: linked, in: pool, at: now, connection)
        {
          return .failure(.enrollmentRequired)
        }
        return .success(
          .signedIn(
            try Self.begin(
              linked, in: pool, with: .link(to: account, in: session), at: now, random: random,
              connection), isNew: false))
      case .signIn, .signInAgain:
        guard let owner else {
          guard case .signIn = request.purpose else { return .failure(.userNotFound) }
          guard try UserPermissions.find(pool.key, connection).signUp else {
            return .failure(.adminOnly)
          }
          let new = try Self.make(
            number, in: pool, by: author, profile, at: now, random: random, connection)
          return .success(
            .signedIn(
              try Self.begin(new, in: pool, with: .signIn, at: now, random: random, connection),
              isNew: true))
        }
        guard !owner.refusesSignIn else { return .failure(.userDisabled) }
        let configuration = try Policies.stored(pool.key, connection).configuration
        guard SignInForecast.factorsDue(of: owner, configuration).isEmpty else {
          return .failure(.unsupportedFirstFactor)
        }
        guard try !store.refusesSignIn(of: owner, in: pool, at: now, connection) else {
          return .failure(.enrollmentRequired)
        }
        return .success(
          .signedIn(
            try Self.begin(owner, in: pool, with: .signIn, at: now, random: random, connection),
            isNew: false))
      }
    }
    return try outcome.get()
  }

  private static func begin(
    _ account: Account, in pool: Pool, with start: SessionStart, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws -> SessionGrant {
    try Sessions.begin(
      account, in: pool, provider: .phone, secondFactor: nil, with: start,
      at: now, random: random, connection)
  }

  /// Returns the number that a proof is for, and uses the proof up.
  private static func number(
    _ proof: PhoneProof, from address: ClientAddress, in pool: Pool, by tickets: Sealer,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Result<String, SignInError> {
    switch proof {
    case .temporary(let text, let number):
      let ticket = try TemporaryProof.open(
        text, phoneNumber: number, in: pool, by: tickets, at: now, connection)
      guard let ticket else { return .failure(.invalidTemporaryProof) }
      try ticket.countUse(connection)
      return .success(number)
    case .code(let sessionInfo, let code):
      guard let sent = PhoneCode(sessionInfo, .phoneSignIn, by: tickets),
        sent.ticket.pool == pool.key
      else { return .failure(.invalidSessionInfo) }
      let name = CounterName.phoneSignInCodes(of: sent.phoneNumber, in: pool.key)
      let charges: [ThrottleCharge]
      switch try ThrottleCharge.charge(
        ThrottleCounter.name(name, from: address), at: now, connection)
      {
      case .charged(let taken): charges = taken
      case .blocked(let until): return .failure(.tooManyAttempts(until: until))
      }
      switch try sent.check(code, at: now, connection) {
      case .right:
        try ThrottleCharge.recordSuccess(charges, connection)
        try sent.use(connection)
        return .success(sent.phoneNumber)
      case .wrong: return .failure(.invalidCode)
      case .over:
        // The code wasn't checked, so the guess isn't counted.
        for charge in charges { try charge.refund(connection) }
        return .failure(.sessionExpired)
      }
    }
  }

  private static func make(
    _ number: String, in pool: Pool, by author: Author, _ profile: Profile, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws -> Account {
    var new = NewAccount()
    new.phoneNumber = number
    let uid = random.text(AccountRules.uidLength, from: AccountRules.uidAlphabet)
    let account = try AccountRecord.insert(
      new, passwordHash: nil, anonymous: false, in: pool, uid: uid, at: now,
      connection)
    try account.recordSignUp(in: pool, by: author, profile, at: now, connection)
    return account
  }

  /// Links a number that no other account has to an account, which is no longer anonymous
  /// afterwards.
  private static func link(
    _ number: String, to account: Account, in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Account {
    guard account.phoneNumber != number else { return account }
    try AccountRecord.set("phone = \(number), anonymous = 0", of: account.key, connection)
    let linked = try AccountRecord.changed(
      account, in: pool, isNewPassword: false, at: now, connection)
    var entry = AuditEntry(.accountChange, of: linked, in: pool)
    entry.add(.phoneNumber, from: .optional(account.phoneNumber), to: .text(number))
    try entry.record(by: author.user(account), at: now, connection)
    return linked
  }

  /// Returns the unused codes of a pool that were generated in the emulator profile.
  public func verificationCodes(_ pool: Pool) async throws -> [VerificationCode] {
    let oldest = TimeOrderedID.first(
      at: store.clock.now().advanced(bySeconds: -PhoneCode.lifetime))
    let sessions = try await store.read { connection in
      try connection.all(
        """
        SELECT session_info FROM verification_code
        WHERE scope_key = \(pool.key) AND session_id >= \(oldest) ORDER BY session_id
        """
      ) { try $0.next() as String }
    }
    let kinds: [Ticket.Kind] = [.phoneSignIn, .phoneEnrollment, .phoneSecondFactor]
    return sessions.compactMap { session in
      for kind in kinds {
        guard let sent = PhoneCode(session, kind, by: tickets) else { continue }
        return VerificationCode(
          phoneNumber: sent.phoneNumber, sessionInfo: session, code: sent.code)
      }
      return nil
    }
  }
}
