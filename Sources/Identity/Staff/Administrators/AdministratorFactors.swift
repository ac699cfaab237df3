public import Crypto
import Database
public import OTP

/// A second factor that an administrator is setting up.
public struct AdministratorEnrollment: Sendable {
  /// The `otpauth` URI in the QR code, which contains the secret.
  public let uri: Secret
  /// The secret for manual entry: Base32 without spaces.
  public let key: Secret
  /// The encrypted secret that the form carries to the next step.
  public let ticket: Secret
}

public enum AdministratorFactorError: Error, Sendable {
  /// The setup expired, was already finished, or belongs to another administrator.
  case ended
  case sessionEnded
  /// Not a valid code of the new secret.
  case wrongCode
  /// Neither a valid code of the current factor nor a recovery code.
  case wrongCurrentCode
  /// A code of the current factor that was accepted before.
  case usedCurrentCode
  case wrongPassword
  case throttled(until: Instant)
  case noFactor
  /// The role requires a second factor.
  case mandatory
  /// The administrator's only second factor is a passkey, which must be used first.
  case passkeyRequired
}

/// Manages administrators' second factors and recovery codes.
///
/// Administrators need a current code to change their own factor; another owner can reset it.
public struct AdministratorFactors: Sendable {
  let store: Store
  let totp: AdministratorTOTP
  let tickets: Sealer
  let administrators: Administrators

  public static let recoveryCodes = RecoveryCodes.count

  /// The time after sign-in during which a first factor can be set up without the password, in
  /// seconds.
  public static let freshness: Int64 = 300

  /// The issuer that authenticator apps show.
  private static let issuer = "Countersign"

  /// Starts setting up a factor, without writing anything.
  public func begin(
    for administrator: Administrator
  ) throws -> AdministratorEnrollment {
    let secret = Secret(store.random.bytes(TOTPFactor.secretLength))
    let ticket = ConsoleTicket(
      administrator.id, secret: secret, at: store.clock.now(), random: store.random)
    return try enrollment(ticket, administrator)
  }

  /// Resumes a setup after an incorrect code; nil if it expired or was finished.
  public func resume(
    _ text: String, for administrator: Administrator
  ) async throws -> AdministratorEnrollment? {
    let ticket = ConsoleTicket(text, .enrollment, at: store.clock.now(), by: tickets)
    guard let ticket, ticket.administrator == administrator.id else { return nil }
    let isUsed = try await store.read { try ticket.isUsed($0) }
    guard !isUsed else { return nil }
    return try enrollment(ticket, administrator)
  }

  /// Returns whether an app was set up since a setup began, so that the setup is no longer needed.
  public func isFinished(
    _ text: String, for administrator: Administrator
  ) async throws -> Bool {
    let now = store.clock.now()
    let ticket = ConsoleTicket(text, .enrollment, at: now, by: tickets, evenExpired: true)
    guard let ticket, ticket.administrator == administrator.id else { return false }
    let enrolledAt = try await store.read { connection in
      try connection.first(
        """
        SELECT totp_enrolled_at FROM administrator
        WHERE administrator_id = \(administrator.id)
        """
      ) { try $0.next() as Instant? } ?? nil
    }
    return enrolledAt.map { $0 >= ticket.issuedAt } ?? false
  }

  private func enrollment(
    _ ticket: ConsoleTicket, _ administrator: Administrator
  ) throws -> AdministratorEnrollment {
    guard let password = TOTPFactor.password(ticket.secret) else {
      throw AdministratorFactorError.ended
    }
    let uri = OTPAuthURI(password: password, issuer: Self.issuer, account: administrator.email)
    let sealed = try ticket.sealed(.enrollment, by: tickets)
    return AdministratorEnrollment(
      uri: uri.text, key: Secret(Base32.encode(ticket.secret.revealedBytes)), ticket: sealed)
  }

  /// Returns true if the session must provide the password to set up a factor.
  ///
  /// Someone who gains access to an open session must not be able to add their own factor. A code
  /// of the current factor proves the administrator's identity; without a factor, the password
  /// does, unless it was just entered.
  public func asksForPassword(in session: ConsoleSession) -> Bool {
    Self.asksForPassword(in: session, at: store.clock.now())
  }

  static func asksForPassword(in session: ConsoleSession, at now: Instant) -> Bool {
    let confirmed = max(session.startedAt, session.provider.provedAt ?? session.startedAt)
    return session.factors.isEmpty && now >= confirmed.advanced(bySeconds: freshness)
  }

  /// Returns what proves the administrator's identity before the authenticator app or the recovery
  /// codes change; nil if it's the password, or nothing is needed, such as soon after a passkey or the
  /// provider's second factor was used.
  public func proof(
    in session: ConsoleSession
  ) async throws -> ReauthenticationMethod? {
    try await store.read { now, connection in
      let methods = try ReauthenticationMethod.all(of: session.administrator.id, connection)
      return try Self.proof(methods, in: session, at: now, connection)
    }
  }

  private static func proof(
    _ methods: Set<ReauthenticationMethod>, in session: ConsoleSession?, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ReauthenticationMethod? {
    guard !methods.isEmpty else { return nil }
    if let session {
      let used = try connection.first(
        """
        SELECT \(SQL.greatest)(coalesce(passkey_at, 0), coalesce(provider_mfa_at, 0))
        FROM console_session WHERE \(ConsoleSessions.isSame(session))
        """
      ) { try $0.next() as Instant }
      if let used, used.isRecent(within: freshness, at: now) { return nil }
    }
    return methods.contains(.totp) ? .totp : .passkey
  }

  /// Finishes the setup: the new factor replaces the previous one, all other sessions end, and the
  /// administrator is notified.
  ///
  /// A current code (or a recovery code) is required if there is a factor, otherwise the password,
  /// unless the session is recent.
  ///
  /// - Returns: Ten new recovery codes, stored only as digests, and the session under its new
  ///   token.
  public func finish(
    _ text: String, code: TypedCode, currentCode: TypedCode? = nil, password: Secret? = nil,
    for administrator: ID<Administrator>, in session: ConsoleSession? = nil, by author: Author
  ) async throws -> ActionOutcome<[Secret]> {
    let now = store.clock.now()
    let ticket = ConsoleTicket(text, .enrollment, at: now, by: tickets)
    guard let ticket, ticket.administrator == administrator,
      let app = TOTPFactor.password(ticket.secret)
    else { throw AdministratorFactorError.ended }
    let isAsked = session.map(asksForPassword) ?? false
    let verified =
      isAsked
      ? try await administrators.verifyPassword(
        password, in: session, by: author, AdministratorFactorError.self) : nil
    let outcome: Result<ActionOutcome<[Secret]>, AdministratorFactorError> =
      try await store.write(by: author) { connection in
        guard let record = try Administrators.presentRecord(administrator, at: now, connection)
        else { return .failure(.ended) }
        // The session may have ended since the request began, such as while a password was hashed.
        if let session, try !ConsoleSessions.isOpen(session, at: now, connection) {
          return .failure(.sessionEnded)
        }
        guard try !ticket.isUsed(connection) else { return .failure(.ended) }
        let codeAttempt = try app.verify(
          code, at: now.seconds, window: AdministratorTOTP.window,
          after: UsedSteps())
        guard case .accepted(let step, _) = codeAttempt else { return .failure(.wrongCode) }
        switch try Self.proof(record.factors, in: session, at: now, connection) {
        case .totp:
          if case .failure(let error) = try totp.check(
            currentCode ?? "", of: record.administrator, by: author, at: now, connection)
          {
            return .failure(error)
          }
        case .passkey, .provider: return .failure(.passkeyRequired)
        case nil: break
        }
        if record.factors.isEmpty, isAsked {
          // Read again: the password may have changed while this one was hashed.
          let hash = try Administrators.passwordHash(of: administrator, connection)
          guard let verified, hash?.encoded == verified.encoded else {
            return .failure(.wrongPassword)
          }
        }
        guard try ticket.use(connection) else { return .failure(.ended) }
        try totp.store(ticket.secret, lastStep: step, of: administrator, at: now, connection)
        let codes = try RecoveryCodes.make(for: administrator, random: store.random, connection)
        let ended = try ConsoleSessions.endAll(
          of: administrator, but: session?.id, at: now, connection)
        var renewed: NewConsoleSession?
        if let session {
          renewed = try ConsoleSessions.renew(session, at: now, random: store.random, connection)
        }
        var entry = Administrators.entry(.administratorEnroll, record)
        entry.add(
          .authenticator, from: record.enrolledAt != nil ? .secret : .absent, to: .secret)
        entry.addEnded(ended)
        try entry.record(by: author, at: now, connection)
        try store.outbox.notify(
          record.administrator,
          record.enrolledAt != nil ? .authenticatorReplaced : .authenticatorSetUp, at: now,
          connection)
        return .success(ActionOutcome(value: codes, renewed: renewed))
      }
    return try outcome.get()
  }

  /// Removes the administrator's own authenticator app after verifying a code or soon after a
  /// passkey was used, if the role allows it or there's a passkey, and notifies them.
  public func withdraw(
    from administrator: Administrator, currentCode: TypedCode, in session: ConsoleSession? = nil,
    by author: Author
  ) async throws {
    let id = administrator.id
    try await change(id, currentCode, in: session, by: author) { record, connection in
      let isOptional =
        try !record.administrator.mustHaveSecondFactor
        && !SessionLimits.find(connection).requiresSecondFactor
      guard record.passkeys > 0 || isOptional else {
        return .failure(.mandatory)
      }
      var changes = [AuditChange(.authenticator, from: .secret, to: .absent)]
      let left = try RecoveryCodes.left(of: id, connection)
      if record.passkeys == 0, left > 0 { changes.append(AuditChange(.codes, from: .number(left))) }
      try AdministratorTOTP.clear(id, keepingCodes: record.passkeys > 0, connection)
      return .success(
        Change(
          action: .administratorWithdraw, audit: changes, notice: .authenticatorRemoved,
          codes: []))
    }
  }

  /// Replaces the recovery codes with ten new ones after verifying a code of the authenticator app
  /// or a recovery code, or soon after a passkey was used, and notifies the administrator.
  ///
  /// - Returns: The codes, stored only as digests.
  public func makeRecoveryCodes(
    for id: ID<Administrator>, currentCode: TypedCode, in session: ConsoleSession? = nil,
    by author: Author
  ) async throws -> [Secret] {
    try await change(
      id, currentCode, in: session, needsApp: false, endsSessions: false, by: author
    ) {
      _, connection in
      let left = try RecoveryCodes.left(of: id, connection)
      let codes = try RecoveryCodes.make(for: id, random: store.random, connection)
      return .success(
        Change(
          action: .administratorRecoveryCodes,
          audit: [AuditChange(.codes, from: .number(left), to: .number(codes.count))],
          notice: .recoveryCodesMade, codes: codes))
    }
  }

  /// Resets another administrator's factors: removes the authenticator app with its recovery codes
  /// and all passkeys, ends all their sessions, and notifies them.
  @discardableResult
  public func reset(
    _ id: ID<Administrator>, by caller: Caller
  ) async throws -> ActionOutcome<Void> {
    try await store.run(.resetAdministratorFactor, by: caller, in: .instance) {
      context, connection in
      let record = try Administrators.manage(id, by: context.author, at: context.now, connection)
      guard record.hasSecondFactor else { throw CallError.notFound }
      let codes = try RecoveryCodes.left(of: id, connection)
      try AdministratorTOTP.clear(id, connection)
      let passkeys = try PasskeyRecord.clear(id, connection)
      try ThrottleCharge.reset(.codes(of: id), connection)
      try ThrottleCharge.reset(.passkeys(of: id), connection)
      try Administrators.requireOwners(
        after: record, losing: record.administrator.grants, connection)
      let ended = try ConsoleSessions.endAll(of: id, but: nil, at: context.now, connection)
      var entry = Administrators.entry(.administratorResetFactor, record)
      if record.enrolledAt != nil { entry.add(.authenticator, from: .secret, to: .absent) }
      if passkeys > 0 { entry.add(.passkeys, from: .number(passkeys), to: .number(0)) }
      if codes > 0 { entry.add(.codes, lost: .number(codes)) }
      entry.addEnded(ended)
      try context.record(entry, connection)
      try context.outbox.notify(
        record.administrator,
        .secondFactorsReset(authenticator: record.enrolledAt != nil, passkeys: passkeys),
        by: context.author.actor, at: context.now, connection)
    }
  }

  private struct Change {
    let action: AuditAction
    let audit: [AuditChange]
    let notice: SignInMethodMail.Change
    let codes: [Secret]
  }

  @discardableResult
  private func change(
    _ id: ID<Administrator>, _ code: TypedCode, in session: ConsoleSession?,
    needsApp: Bool = true, endsSessions: Bool = true,
    by author: Author,
    _ body:
      @escaping @Sendable (AdministratorRecord, borrowing Connection) throws
      -> Result<Change, AdministratorFactorError>
  ) async throws -> [Secret] {
    let now = store.clock.now()
    let outcome: Result<[Secret], AdministratorFactorError> =
      try await store.write(by: author) { connection in
        if let session, try !ConsoleSessions.isOpen(session, at: now, connection) {
          return .failure(.sessionEnded)
        }
        guard let record = try Administrators.presentRecord(id, at: now, connection),
          needsApp ? record.enrolledAt != nil : record.hasSecondFactor
        else { return .failure(.noFactor) }
        switch try Self.proof(record.factors, in: session, at: now, connection) {
        case nil: break
        case .passkey where !RecoveryCodes.isCode(code): return .failure(.passkeyRequired)
        default:
          if case .failure(let error) = try totp.check(
            code, of: record.administrator, by: author, at: now, connection)
          {
            return .failure(error)
          }
        }
        let change: Change
        switch try body(record, connection) {
        case .failure(let error): return .failure(error)
        case .success(let value): change = value
        }
        let ended =
          try endsSessions
          ? ConsoleSessions.endAll(of: id, but: session?.id, at: now, connection) : 0
        var entry = Administrators.entry(change.action, record)
        for audit in change.audit { entry.add(audit) }
        entry.addEnded(ended)
        try entry.record(by: author, at: now, connection)
        try store.outbox.notify(record.administrator, change.notice, at: now, connection)
        return .success(change.codes)
      }
    return try outcome.get()
  }
}
