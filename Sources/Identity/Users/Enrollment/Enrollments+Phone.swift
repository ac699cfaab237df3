import Crypto
import Database
import OTP

extension Enrollments {
  /// - Returns: The session info to send back with the code.
  public func startPhone(
    _ session: UserSession, _ request: PhoneRequest
  ) async throws -> String {
    let codes = PhoneCodes(store: store, tickets: tickets)
    return try await store.write { now, connection in
      let account = try Self.check(session, .phone, at: now, connection)
      do { try AccountRules.checkPhone(request.phoneNumber) } catch {
        throw EnrollmentError.invalidPhone
      }
      try Self.checkRoom(account, .phone, phoneNumber: request.phoneNumber)
      let use = PhoneCodes.Use(
        kind: .phoneEnrollment, purpose: .smsEnrollment, account: account,
        provider: session.provider)
      switch try codes.send(request, for: use, in: session.pool, at: now, connection) {
      case .session(let info): return info
      case .refusedRegion: throw EnrollmentError.regionNotAllowed
      case .blocked(let until): throw EnrollmentError.quotaExceeded(until: until)
      }
    }
  }

  /// Verifies a phone's code and enrolls the phone.
  ///
  /// Earlier sessions stay valid, as with an authenticator app. All conditions are checked again in the transaction, so two concurrent enrollments create only
  /// one factor. The code attempt is recorded.
  ///
  /// - Returns: A session with the new factor as its second factor.
  public func finalizePhone(
    _ session: UserSession, _ proof: PhoneProof, displayName: String?, by author: Author,
    userAgent: String = ""
  ) async throws -> SessionGrant {
    let now = store.clock.now()
    let (store, tickets) = (store, tickets)
    let id = ID<Factor>(store.random.uuid())
    let name = Factor.storedName(displayName)
    let origin = RequestOrigin(address: author.address, userAgent: userAgent)
    let outcome: Result<SessionGrant, EnrollmentError> = try await store.write(
      by: author
    ) {
      connection in
      let account = try Self.check(session, .phone, at: now, connection)
      guard !Factor.isTooLong(name ?? "") else { return .failure(.displayNameTooLong) }
      var attempt = CodeAttemptRecorder(
        account: account, pool: session.pool, way: .phoneEnrollment, enrollment: nil,
        origin: origin)
      let number: String
      switch proof {
      case .code(let sessionInfo, let code):
        guard let sent = PhoneCode(sessionInfo, .phoneEnrollment, by: tickets),
          sent.ticket.account == account.key, sent.ticket.pool == session.pool.key
        else { return .failure(.invalidSessionInfo) }
        number = sent.phoneNumber
        try Self.checkRoom(account, .phone, phoneNumber: number)
        try Self.checkRejectedCodes(of: account, at: now, connection)
        let codeAttempt = try sent.check(
          code, tries: Ticket.enrollmentTries, of: account.generation, at: now, connection)
        switch codeAttempt {
        case .right: break
        case .wrong:
          try OwnChange.rejectedCode.count(of: account.key, at: now, connection)
          try attempt.note(CodeFinding(.wrong), at: now, connection)
          return .failure(.invalidCode)
        case .over(let why):
          try OwnChange.rejectedCode.count(of: account.key, at: now, connection)
          try attempt.note(CodeFinding(.expired), at: now, connection)
          return .failure(EnrollmentError(why))
        }
        try sent.use(connection)
        attempt.enrollment = id
        try attempt.note(CodeFinding(.accepted), at: now, connection)
      case .temporary(let text, let phoneNumber):
        let ticket = try TemporaryProof.open(
          text, phoneNumber: phoneNumber, in: session.pool, by: tickets, at: now, connection)
        guard let ticket else { return .failure(.invalidTemporaryProof) }
        number = phoneNumber
        try Self.checkRoom(account, .phone, phoneNumber: number)
        try ticket.countUse(connection)
      }
      let codes = try BackupCodeCounts(of: account, at: now, connection)
      try PhoneFactor.insert(
        id, displayName: name, phoneNumber: number, enrolledAt: now, for: account,
        in: session.pool, connection)
      return try Self.complete(
        id, of: account.key, session, codes: codes, by: author, at: now, store: store, connection)
    }
    return try outcome.get()
  }
}

extension EnrollmentError {
  fileprivate init(_ reason: PhoneCode.Reason) {
    switch reason {
    case .expired: self = .sessionExpired
    case .used: self = .alreadyComplete
    case .tries: self = .tooManyAttempts
    }
  }
}

/// A factor that was just enrolled, in the transaction that enrolled it.
struct EnrolledFactor {
  let account: Account
  let factor: Factor
  let pool: Pool

  init?(
    _ id: ID<Factor>, of account: Int64, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    guard let account = try AccountRecord.find(key: account, connection),
      let factor = account.factors.first(where: { $0.id == id })
    else { return nil }
    (self.account, self.factor, self.pool) = (account, factor, pool)
  }

  /// The audit entry, without author.
  var entry: AuditEntry {
    var entry = AuditEntry(.factorEnroll, of: account, in: pool)
    entry.add(.factors, .of([factor]))
    return entry
  }

  /// Emails a reversal link to the account's address and notifies its other addresses.
  ///
  /// - Throws: ``EnrollmentError/quotaExceeded(until:)``, and database errors.
  func announce(
    _ notice: UserNotice, at now: Instant, _ store: Store, _ connection: borrowing Connection
  ) throws {
    do {
      try store.offerReversal(of: factor.id, by: account, in: pool, at: now, connection)
    } catch OutOfBandError.tooManyMails(_, let until) {
      throw EnrollmentError.quotaExceeded(until: until)
    }
    try store.outbox.notify(
      notice, account, in: pool, excluding: account.email, within: nil, at: now, connection)
  }

  /// Verifies the first code of an authenticator app that isn't enrolled yet, records the attempt,
  /// and returns the code's time step; nil if the code is rejected.
  static func verifyFirstCode(
    _ code: TypedCode, of password: OneTimePassword, _ id: ID<Factor>, for account: Account,
    in pool: Pool, from origin: RequestOrigin, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int64? {
    let window = try Policies.stored(pool.key, connection).configuration.window
    let codeAttempt = try password.verify(
      code, at: now.seconds, window: window, after: UsedSteps())
    let finding = CodeFinding(codeAttempt, after: UsedSteps())
    let attempt = CodeAttemptRecorder(
      account: account, pool: pool, way: .enrollment,
      enrollment: finding.result.isSuccess ? id : nil, window: window, origin: origin)
    try attempt.note(finding, at: now, connection)
    guard case .accepted(let step, _) = codeAttempt else { return nil }
    return step
  }
}
