public import Crypto
import Database
import OTP

/// A second factor that an administrator is setting up.
public struct AdministratorEnrollment: Sendable {
  /// The address that an authenticator app reads from the QR code; it holds the secret.
  public let uri: Secret
  /// The secret as people type it: base32 without spaces.
  public let key: Secret
  /// What the form carries on: the secret, sealed.
  public let ticket: Secret
}

/// Why an administrator's factor cannot be set up, removed or given codes.
public enum AdministratorFactorError: Error, Sendable {
  /// The set-up was begun too long ago, or finished before, or by somebody else.
  case ended
  /// Not a code of the new secret.
  case wrongCode
  /// Not a code of the factor in force, nor a recovery code.
  case wrongCurrentCode
  /// Not the password of the account, or none where it is asked for.
  case wrongPassword
  /// Too many wrong codes or passwords; from then on one may try again.
  case throttled(until: Instant)
  /// Too many passwords are being hashed; try again after a second.
  case busy
  /// There is no second factor.
  case noFactor
  /// The role does not allow to be without one.
  case mandatory
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension AdministratorFactorError: UseCaseError {}

/// Second factors and recovery codes of administrators.
///
/// Nobody changes their own without a code of it; another owner may reset it.
public struct AdministratorFactors: Sendable {
  let store: Store
  let totp: AdministratorTOTP
  let tickets: Sealer
  let administrators: Administrators

  /// How many recovery codes there are in a new set.
  public static let recoveryCodes = RecoveryCodes.count

  /// For how long after its sign-in a session sets a first factor up without the password, in
  /// seconds.
  public static let freshness: Int64 = 300

  /// The name under which authenticator apps list the account.
  private static let issuer = "Countersign"

  /// Begins to set a factor up, which writes nothing.
  ///
  /// - Throws: ``AdministratorFactorError/unavailable(_:)``.
  public func begin(
    for administrator: Administrator
  ) throws(AdministratorFactorError) -> AdministratorEnrollment {
    let secret = Secret(store.random.bytes(TOTPFactor.secretLength))
    let ticket = ConsoleTicket(
      administrator.id, secret: secret, at: store.clock.now(), random: store.random)
    return try enrollment(ticket, administrator)
  }

  /// The same set-up again, after a wrong code; nil when it ended.
  ///
  /// - Throws: ``AdministratorFactorError/unavailable(_:)``.
  public func resume(
    _ text: String, for administrator: Administrator
  ) async throws(AdministratorFactorError) -> AdministratorEnrollment? {
    let ticket = ConsoleTicket(text, .enrollment, at: store.clock.now(), by: tickets)
    guard let ticket, ticket.administrator == administrator.id else { return nil }
    let isUsed = try await store.read(AdministratorFactorError.self) { try ticket.isUsed($0) }
    guard !isUsed else { return nil }
    return try enrollment(ticket, administrator)
  }

  private func enrollment(
    _ ticket: ConsoleTicket, _ administrator: Administrator
  ) throws(AdministratorFactorError) -> AdministratorEnrollment {
    guard let password = TOTPFactor.password(ticket.secret) else { throw .ended }
    let uri = OTPAuthURI(password: password, issuer: Self.issuer, account: administrator.email)
    let sealed: Secret
    do { sealed = try ticket.sealed(.enrollment, by: tickets) } catch {
      throw .unavailable(Failure(error))
    }
    return AdministratorEnrollment(
      uri: uri.text, key: Secret(Base32.encode(ticket.secret.revealedBytes)), ticket: sealed)
  }

  /// True when a session must give the password to set a factor up.
  ///
  /// Whoever finds a session open must not bind a factor of theirs to the account: a code of the
  /// factor in force shows who it is, or the password where there is none, unless it was just given.
  public func asksForPassword(in session: ConsoleSession) -> Bool {
    session.secondFactor != .enrolled
      && store.clock.now() >= session.startedAt.advanced(bySeconds: Self.freshness)
  }

  /// Finishes the set-up: the new factor is in force, in the place of an older one, and all other
  /// sessions end.
  ///
  /// - Parameters:
  ///   - text: What the set-up's form carries.
  ///   - code: A code of the new secret.
  ///   - currentCode: A code of the factor in force or a recovery code, where there is a factor.
  ///   - password: The account's password, where there is no factor and the session is not fresh.
  ///   - administrator: Whose it is.
  ///   - session: The session that goes on; nil when it is not done in one.
  ///   - author: The same person.
  /// - Returns: Ten new recovery codes, which are kept as digests alone.
  /// - Throws: ``AdministratorFactorError``.
  public func finish(
    _ text: String, code: String, currentCode: String? = nil, password: Secret? = nil,
    for administrator: ID<Administrator>, in session: ConsoleSession? = nil, by author: Author
  ) async throws(AdministratorFactorError) -> [Secret] {
    let now = store.clock.now()
    let ticket = ConsoleTicket(text, .enrollment, at: now, by: tickets)
    guard let ticket, ticket.administrator == administrator,
      let app = TOTPFactor.password(ticket.secret)
    else { throw .ended }
    let isAsked = session.map(asksForPassword) ?? false
    let proven = isAsked ? try await prove(password, in: session, by: author) : nil
    let (random, totp) = (store.random, totp)
    let outcome: Result<[Secret], AdministratorFactorError> =
      try await store.write(AdministratorFactorError.self) { connection in
        let record: AdministratorRecord
        do { record = try Administrators.record(administrator, connection) } catch ManagementError
          .notFound
        { return .failure(.ended) }
        guard try !ticket.isUsed(connection) else { return .failure(.ended) }
        let codeAttempt = try app.verify(
          Self.digits(of: code), at: now.seconds, window: AdministratorTOTP.window, after: nil)
        guard case .accepted(let step, _) = codeAttempt else { return .failure(.wrongCode) }
        if record.hasSecondFactor {
          if let error = try totp.check(
            currentCode ?? "", of: administrator, by: author, at: now, connection)
          {
            return .failure(error)
          }
        } else if isAsked {
          // Anew: it may have been changed while this one was hashed.
          let hash = try Administrators.passwordHash(of: administrator, connection)
          guard let proven, hash?.encoded == proven.encoded else { return .failure(.wrongPassword) }
        }
        guard try ticket.use(connection) else { return .failure(.ended) }
        try totp.store(ticket.secret, lastStep: step, of: administrator, at: now, connection)
        let codes = try RecoveryCodes.make(for: administrator, random: random, connection)
        let ended = try ConsoleSessions.endAll(
          of: administrator, but: session?.id, at: now, connection)
        if let session { try ConsoleSessions.markReauthenticated(session, at: now, connection) }
        var entry = Administrators.entry("administrator.enroll", record)
        entry.from = record.hasSecondFactor ? "another authenticator" : nil
        entry.to = Words.ended(ended, "other session", "other sessions", after: "TOTP")
        try entry.record(by: author, at: now, connection)
        return .success(codes)
      }
    return try outcome.get()
  }

  private func prove(
    _ password: Secret?, in session: ConsoleSession?, by author: Author
  ) async throws(AdministratorFactorError) -> PasswordHash {
    guard let session, let password else { throw .wrongPassword }
    do {
      return try await administrators.prove(password, of: session.administrator, by: author)
    } catch {
      switch error {
      case .throttled(let until): throw .throttled(until: until)
      case .busy: throw .busy
      case .unavailable(let failure): throw .unavailable(failure)
      case .wrongPassword, .weakPassword, .notFound: throw .wrongPassword
      }
    }
  }

  /// Removes one's own factor, with a code of it, where the role allows to be without.
  ///
  /// - Throws: ``AdministratorFactorError``.
  public func withdraw(
    from administrator: Administrator, currentCode: String, keeping session: String? = nil,
    by author: Author
  ) async throws(AdministratorFactorError) {
    let id = administrator.id
    try await change(id, currentCode, keeping: session, by: author) { record, connection in
      guard !record.administrator.mustHaveSecondFactor else { return .failure(.mandatory) }
      try AdministratorTOTP.clear(id, connection)
      return .success(Change("administrator.withdraw", from: "TOTP", to: nil, codes: []))
    }
  }

  /// Makes ten new recovery codes instead of those there were, with a code of the factor.
  ///
  /// - Returns: The codes, which are kept as digests alone.
  /// - Throws: ``AdministratorFactorError``.
  public func makeRecoveryCodes(
    for id: ID<Administrator>, currentCode: String, by author: Author
  ) async throws(AdministratorFactorError) -> [Secret] {
    let random = store.random
    return try await change(id, currentCode, keeping: nil, endsSessions: false, by: author) {
      _, connection in
      let left = try RecoveryCodes.left(of: id, connection)
      let codes = try RecoveryCodes.make(for: id, random: random, connection)
      return .success(
        Change(
          "administrator.recovery-codes", from: "\(left) left", to: "\(codes.count) new",
          codes: codes))
    }
  }

  /// Resets another administrator's factor: it is gone with its recovery codes, and all their
  /// sessions end.
  ///
  /// - Throws: ``ManagementError``.
  public func reset(_ id: ID<Administrator>, by author: Author) async throws(ManagementError) {
    try await store.perform(by: author, ManagementError.self, Self.reset(of: id))
  }

  /// Resets another administrator's factor, for an administrator in the console.
  ///
  /// - Throws: ``ActionError``.
  public func reset(
    _ id: ID<Administrator>, _ request: ActionRequest
  ) async throws(ActionError<ManagementError>) -> ActionOutcome<Void> {
    try await store.perform(
      .resetAdministratorFactor, request, in: .instance, ManagementError.self, Self.reset(of: id))
  }

  private static func reset(of id: ID<Administrator>) -> Action<Void> {
    { context, connection in
      let now = context.now
      let record = try Administrators.manage(id, by: context.author, connection)
      guard record.hasSecondFactor else { throw ManagementError.notFound }
      try AdministratorTOTP.clear(id, connection)
      try Guess.forget(AdministratorTOTP.throttle(id), connection)
      let ended = try ConsoleSessions.endAll(of: id, but: nil, at: now, connection)
      var entry = Administrators.entry("administrator.reset-factor", record)
      entry.from = "TOTP"
      entry.to = Words.ended(ended, "session", "sessions", after: "none")
      try context.record(entry, connection)
    }
  }

  private struct Change {
    let action: String
    let from: String?
    let to: String?
    let codes: [Secret]

    init(_ action: String, from: String?, to: String?, codes: [Secret]) {
      (self.action, self.from, self.to, self.codes) = (action, from, to, codes)
    }
  }

  /// Changes something about one's own factor after a code of it was given.
  @discardableResult
  private func change(
    _ id: ID<Administrator>, _ code: String, keeping session: String?, endsSessions: Bool = true,
    by author: Author,
    _ body:
      @escaping @Sendable (AdministratorRecord, borrowing Connection) throws
      -> Result<Change, AdministratorFactorError>
  ) async throws(AdministratorFactorError) -> [Secret] {
    let now = store.clock.now()
    let totp = totp
    let outcome: Result<[Secret], AdministratorFactorError> =
      try await store.write(AdministratorFactorError.self) { connection in
        let record: AdministratorRecord
        do { record = try Administrators.record(id, connection) } catch ManagementError.notFound {
          return .failure(.noFactor)
        }
        guard record.hasSecondFactor else { return .failure(.noFactor) }
        if let error = try totp.check(code, of: id, by: author, at: now, connection) {
          return .failure(error)
        }
        let change: Change
        switch try body(record, connection) {
        case .failure(let error): return .failure(error)
        case .success(let made): change = made
        }
        if endsSessions { try ConsoleSessions.endAll(of: id, but: session, at: now, connection) }
        var entry = Administrators.entry(change.action, record)
        (entry.from, entry.to) = (change.from, change.to)
        try entry.record(by: author, at: now, connection)
        return .success(change.codes)
      }
    return try outcome.get()
  }

  /// A code as people type it, with or without a space in the middle.
  static func digits(of code: String) -> String { code.filter { !$0.isWhitespace && $0 != "-" } }
}
