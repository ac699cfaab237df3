import Crypto
import Database

extension SignIns {
  var codes: PhoneCodes { PhoneCodes(store: store, tickets: tickets) }

  /// Sends the code that completes a sign-in to the phone of a second factor.
  ///
  /// `tenant` is nil to use that of the credential.
  ///
  /// - Returns: The session that the client sends back with the code.
  public func startPhone(
    project: ID<Project>, tenant: ID<Tenant>?, pendingCredential: String, enrollment: String,
    language: String, address: ClientAddress
  ) async throws -> String {
    guard let ticket = Ticket(pendingCredential, .pendingCredential, by: tickets) else {
      throw SignInError.invalidPendingCredential
    }
    let now = store.clock.now()
    let codes = codes
    return try await store.write { connection in
      let pending = try Self.open(
        ticket, project: project, tenant: tenant, lifetime: Ticket.phonePendingLifetime,
        expired: .phonePendingExpired, enrollment: enrollment, unknown: .enrollmentNotFound,
        at: now,
        connection
      ).get()
      let account = pending.account
      guard let factor = account.factors.first(where: { $0.id.text == enrollment }) else {
        throw SignInError.enrollmentNotFound
      }
      guard let number = factor.phoneNumber else { throw SignInError.invalidPhone }
      guard pending.policy.configuration.isSMSOn else { throw SignInError.smsNotEnabled }
      if let until = account.codesBlocked(at: now) {
        throw SignInError.quotaExceeded(until: until)
      }
      let use = PhoneCodes.Use(
        kind: .phoneSecondFactor, purpose: .smsSecondFactor, account: account,
        provider: ticket.provider, factor: factor.id, pending: ticket.id)
      let request = PhoneRequest(phoneNumber: number, language: language, address: address)
      return try codes.send(request, for: use, in: pending.pool, at: now, connection).session()
    }
  }

  /// Signs in with a code sent to the phone of a second factor.
  ///
  /// A wrong code, or one of another sign-in, is counted on the account in the same transaction,
  /// which also records each code attempt. A temporary proof isn't accepted, because wrong codes of
  /// phone sign-in, which it results from, aren't counted on the account.
  ///
  /// `tenant` is nil to use that of the credential.
  public func finalizePhone(
    project: ID<Project>, tenant: ID<Tenant>?, pendingCredential: String, _ proof: PhoneProof,
    from origin: RequestOrigin = RequestOrigin()
  ) async throws -> SessionGrant {
    guard let ticket = Ticket(pendingCredential, .pendingCredential, by: tickets) else {
      throw SignInError.invalidPendingCredential
    }
    guard case .code(let sessionInfo, let code) = proof else {
      throw SignInError.invalidTemporaryProof
    }
    let now = store.clock.now()
    let (random, tickets) = (store.random, tickets)
    let outcome: Result<SessionGrant, SignInError> = try await store.write {
      connection in
      let pending: Pending
      switch try Self.open(
        ticket, project: project, tenant: tenant, lifetime: Ticket.phonePendingLifetime,
        expired: .phonePendingExpired, at: now, connection)
      {
      case .success(let found): pending = found
      case .failure(let error): return .failure(error)
      }
      let account = pending.account
      guard pending.policy.configuration.isSMSOn else { return .failure(.smsNotEnabled) }
      let sent = PhoneCode(sessionInfo, .phoneSecondFactor, by: tickets)
      let known = account.factors.first { $0.id == sent?.factor }
      let attempt = CodeAttemptRecorder(
        account: account, pool: pending.pool, way: .phone, enrollment: known?.id, origin: origin,
        isClockDoubted: store.expectedTime.isDoubted)
      if let until = account.codesBlocked(at: now) {
        return .failure(try attempt.refuse(until: until, at: now, connection))
      }
      let factor: Factor
      switch try Self.factor(sent, code, ticket, attempt, at: now, connection) {
      case .success(let found): factor = found
      case .failure(let error): return .failure(error)
      }
      try ticket.countUse(connection)
      try PhoneFactor.accept(factor.id, of: account, at: now, connection)
      let change = try attempt.accept(CodeFinding(.accepted), at: now, connection)
      return .success(
        try Sessions.begin(
          account, in: pending.pool, provider: ticket.provider,
          secondFactor: SecondFactorClaim(kind: .phone, enrollment: factor.id),
          with: .signInWith(claims: ticket.claims), at: now, random: random, setting: change,
          connection))
    }
    return try outcome.get()
  }

  /// Returns the account's factor that a correct code was sent to, and uses the code up.
  private static func factor(
    _ sent: PhoneCode?, _ code: String, _ ticket: Ticket, _ attempt: CodeAttemptRecorder,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Result<Factor, SignInError> {
    let account = attempt.account
    guard let sent else { return .failure(.invalidSessionInfo) }
    guard sent.ticket.account == account.key, sent.pending == ticket.id else {
      // A session of another sign-in is counted as a guess, too.
      let refusal = try attempt.fail(CodeFinding(.wrong), at: now, connection)
      if case .quotaExceeded = refusal { return .failure(refusal) }
      return .failure(.invalidSessionInfo)
    }
    let factor = account.factors.first {
      $0.id == sent.factor && $0.phoneNumber == sent.phoneNumber
    }
    guard let factor else { return .failure(.invalidEnrollment) }
    let isSuspended = factor.isSuspended(at: now)
    let codeAttempt =
      isSuspended
      ? try sent.checkSuspended(code, at: now, connection)
      : try sent.check(code, at: now, connection)
    switch codeAttempt {
    case .right where !isSuspended: break
    case .right:
      return .failure(try attempt.fail(CodeFinding(.suspended), at: now, connection))
    case .wrong: return .failure(try attempt.fail(CodeFinding(.wrong), at: now, connection))
    case .over:
      try attempt.note(CodeFinding(.expired), at: now, connection)
      return .failure(.sessionExpired)
    }
    try sent.use(connection)
    return .success(factor)
  }
}

extension PhoneCodes.Sent {
  /// - Throws: ``SignInError`` if none was sent.
  func session() throws(SignInError) -> String {
    switch self {
    case .session(let info): return info
    case .refusedRegion: throw .regionNotAllowed
    case .blocked(let until): throw .quotaExceeded(until: until)
    }
  }
}
