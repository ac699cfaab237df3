public import Crypto
import Database
import OTP

/// A second factor that an administrator is setting up.
public struct AdministratorEnrolment: Sendable {
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
  /// Too many wrong codes; from then on one may try again.
  case throttled(until: Instant)
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

  /// How many recovery codes there are in a new set.
  public static let recoveryCodes = RecoveryCodes.count

  /// The name under which authenticator apps list the account.
  private static let issuer = "Countersign"

  /// Begins to set a factor up, which writes nothing.
  ///
  /// - Throws: ``AdministratorFactorError/unavailable(_:)``.
  public func begin(
    for administrator: Administrator
  ) throws(AdministratorFactorError) -> AdministratorEnrolment {
    let secret = Secret(store.random.bytes(TOTPFactor.secretLength))
    let ticket = ConsoleTicket(
      administrator.id, secret: secret, at: store.clock.now(), random: store.random)
    return try enrolment(ticket, administrator)
  }

  /// The same set-up again, after a wrong code; nil when it ended.
  ///
  /// - Throws: ``AdministratorFactorError/unavailable(_:)``.
  public func resume(
    _ text: String, for administrator: Administrator
  ) async throws(AdministratorFactorError) -> AdministratorEnrolment? {
    let ticket = ConsoleTicket(text, .enrolment, at: store.clock.now(), by: tickets)
    guard let ticket, ticket.administrator == administrator.id else { return nil }
    let isUsed = try await store.read(AdministratorFactorError.self) { try ticket.isUsed($0) }
    guard !isUsed else { return nil }
    return try enrolment(ticket, administrator)
  }

  private func enrolment(
    _ ticket: ConsoleTicket, _ administrator: Administrator
  ) throws(AdministratorFactorError) -> AdministratorEnrolment {
    guard let password = TOTPFactor.password(ticket.secret) else { throw .ended }
    let uri = OTPAuthURI(password: password, issuer: Self.issuer, account: administrator.email)
    let sealed: Secret
    do { sealed = try ticket.sealed(.enrolment, by: tickets) } catch {
      throw .unavailable(Failure(error))
    }
    return AdministratorEnrolment(
      uri: uri.text, key: Secret(Base32.encode(ticket.secret.revealedBytes)), ticket: sealed)
  }

  /// Finishes the set-up: the new factor is in force, in the place of an older one, and all other
  /// sessions end.
  ///
  /// - Parameters:
  ///   - text: What the set-up's form carries.
  ///   - code: A code of the new secret.
  ///   - currentCode: A code of the factor in force or a recovery code, where there is a factor.
  ///   - administrator: Whose it is.
  ///   - session: The id of the session that goes on.
  ///   - author: The same person.
  /// - Returns: Ten new recovery codes, which are kept as digests alone.
  /// - Throws: ``AdministratorFactorError``.
  public func finish(
    _ text: String, code: String, currentCode: String? = nil,
    for administrator: ID<Administrator>, keeping session: String? = nil, by author: Author
  ) async throws(AdministratorFactorError) -> [Secret] {
    let now = store.clock.now()
    let ticket = ConsoleTicket(text, .enrolment, at: now, by: tickets)
    guard let ticket, ticket.administrator == administrator,
      let password = TOTPFactor.password(ticket.secret)
    else { throw .ended }
    let (random, totp) = (store.random, totp)
    let outcome: Result<[Secret], AdministratorFactorError> =
      try await store.write(AdministratorFactorError.self) { connection in
        let record: AdministratorRecord
        do { record = try Administrators.record(administrator, connection) } catch ManagementError
          .notFound
        { return .failure(.ended) }
        guard try !ticket.isUsed(connection) else { return .failure(.ended) }
        let verdict = try password.verify(
          Self.digits(of: code), at: now.seconds, window: AdministratorTOTP.window, after: nil)
        guard case .accepted(let step, _) = verdict else { return .failure(.wrongCode) }
        if record.hasSecondFactor {
          if let error = try totp.check(currentCode ?? "", of: administrator, at: now, connection) {
            return .failure(error)
          }
        }
        guard try ticket.use(connection) else { return .failure(.ended) }
        try totp.store(ticket.secret, lastStep: step, of: administrator, at: now, connection)
        let codes = try RecoveryCodes.make(for: administrator, random: random, connection)
        let ended = try ConsoleSessions.endAll(of: administrator, but: session, at: now, connection)
        var entry = Administrators.entry("administrator.enrol", record)
        entry.from = record.hasSecondFactor ? "another authenticator" : nil
        entry.to = Words.ended(ended, "other session", "other sessions", after: "TOTP")
        try entry.record(by: author, at: now, connection)
        return .success(codes)
      }
    return try outcome.get()
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
    let now = store.clock.now()
    try await store.write(ManagementError.self) { connection in
      let record = try Administrators.manage(id, by: author, connection)
      guard record.hasSecondFactor else { throw ManagementError.notFound }
      try AdministratorTOTP.clear(id, connection)
      try Guess.forget(AdministratorTOTP.throttle(id), connection)
      let ended = try ConsoleSessions.endAll(of: id, but: nil, at: now, connection)
      var entry = Administrators.entry("administrator.reset-factor", record)
      entry.from = "TOTP"
      entry.to = Words.ended(ended, "session", "sessions", after: "none")
      try entry.record(by: author, at: now, connection)
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
        if let error = try totp.check(code, of: id, at: now, connection) { return .failure(error) }
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

extension AdministratorTOTP {
  /// Which kind of code let somebody pass.
  enum Proof: Sendable {
    case code
    case recoveryCode(left: Int)
  }

  /// What became of a code.
  enum Outcome: Sendable {
    case passed(Proof)
    case wrong
    case throttled(until: Instant)
  }

  /// The name under which wrong codes of an administrator are counted.
  static func throttle(_ id: ID<Administrator>) -> String { "administrator code \(id.text)" }

  /// Looks at a code of the factor or a recovery code, which is counted before as a wrong one.
  func prove(
    _ typed: String, of id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Outcome {
    let guess: Guess
    switch try Guess.take(Self.throttle(id), .codes, at: now, connection) {
    case .taken(let taken): guess = taken
    case .blocked(let until): return .throttled(until: until)
    }
    if try accept(AdministratorFactors.digits(of: typed), of: id, at: now, connection) {
      try Guess.right([guess], connection)
      return .passed(.code)
    }
    if try RecoveryCodes.use(typed, of: id, connection) {
      try Guess.right([guess], connection)
      return .passed(.recoveryCode(left: try RecoveryCodes.left(of: id, connection)))
    }
    return .wrong
  }

  /// The same for a change that asks for a code; nil when it was right.
  func check(
    _ typed: String, of id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> AdministratorFactorError? {
    switch try prove(typed, of: id, at: now, connection) {
    case .passed: nil
    case .wrong: .wrongCurrentCode
    case .throttled(let until): .throttled(until: until)
    }
  }
}
