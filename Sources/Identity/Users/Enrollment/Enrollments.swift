public import Crypto
import Database
public import OTP

public struct Enrollments: Sendable {
  let store: Store
  let tickets: Sealer
  let totp: TOTPFactor
  let backupCodes: BackupCodeStore

  /// The maximum number of phones per account as second factors; there can be only one
  /// authenticator app.
  public static let mostPhones = 5
  /// The maximum age of a sign-in when enrollment starts, in seconds.
  public static let freshSignIn: Int64 = 300

  /// Nothing is stored until the first code is verified.
  public func start(_ session: UserSession) async throws -> EnrollmentStart {
    let now = store.clock.now()
    let account = try await store.read { connection in
      let account = try Self.check(session, .totp, at: now, connection)
      guard try Sessions.isFresh(session, account, at: now, connection) else {
        throw EnrollmentError.signInTooOld
      }
      try Self.checkRoom(account, .totp)
      return account
    }
    let secret = Secret(store.random.bytes(TOTPFactor.secretLength))
    let ticket = Ticket(
      pool: session.pool, account: account, provider: session.provider, secret: secret, at: now,
      random: store.random)
    return EnrollmentStart(
      sharedSecret: Secret(Base32.encode(secret.revealedBytes)),
      sessionInfo: try ticket.sealed(.enrollmentSession, by: tickets),
      finalizeBy: now.advanced(bySeconds: Ticket.enrollmentLifetime))
  }

  /// Performs the checks that starting and finalizing share: the pool, the session, the first
  /// factor, the email address, and suspensions.
  static func check(
    _ session: UserSession, _ kind: Factor.Kind, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Account {
    let policy: StoredPolicy
    do {
      policy = try Policies.stored(session.pool.key, connection)
    } catch is PolicyError {
      throw SessionError.userNotFound
    }
    guard policy.configuration.isOn(kind) else {
      throw kind == .totp ? EnrollmentError.totpNotEnabled : .smsNotEnabled
    }
    let account = try Sessions.check(session, connection)
    try checkChanges(account)
    try checkPrerequisites(account, by: session.provider)
    try checkSuspension(session, account, policy.configuration, at: now, connection)
    return account
  }

  /// Checks that a session passed a factor that isn't suspended, or a backup code, while a factor
  /// that sign-in requires is suspended.
  ///
  /// Any other session may be open on the lost device itself, and would enroll a factor that sign-in
  /// accepts instead.
  private static func checkSuspension(
    _ session: UserSession, _ account: Account, _ configuration: MFAConfiguration, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let due = SignInForecast.factorsDue(of: account, configuration)
    guard due.contains(where: { $0.isSuspended(at: now) }) else { return }
    let passed = account.factors.first { $0.id == session.secondFactor?.enrollment }
    if let passed, !passed.isSuspended(at: now) { return }
    guard try Sessions.usedBackupCode(session, account, connection) else {
      throw EnrollmentError.factorSuspended
    }
  }

  static func refusal(
    _ account: Account, by provider: SignInProvider, _ configuration: MFAConfiguration
  ) -> EnrollmentError? {
    guard configuration.isTOTPOn else { return .totpNotEnabled }
    do throws(EnrollmentError) {
      try checkChanges(account)
      try checkPrerequisites(account, by: provider)
      try checkRoom(account, .totp)
      return nil
    } catch {
      return error
    }
  }

  static func checkChanges(_ account: Account) throws(EnrollmentError) {
    guard account.changesLockedAt == nil else {
      throw EnrollmentError.changesLocked
    }
  }

  /// Checks the requirements for enrollment: a first factor that supports a second one and a
  /// verified email address.
  private static func checkPrerequisites(
    _ account: Account, by provider: SignInProvider
  ) throws(EnrollmentError) {
    guard provider.supportsSecondFactor else { throw .unsupportedFirstFactor }
    guard account.email != nil, account.emailVerified else { throw .unverifiedEmail }
  }

  /// Checks the limits: one authenticator app, each phone number once, and five phones; the two
  /// kinds have separate limits.
  static func checkRoom(
    _ account: Account, _ kind: Factor.Kind, phoneNumber: String? = nil
  ) throws(EnrollmentError) {
    if kind == .totp, account.has(.totp) { throw .alreadyEnrolled }
    if let phoneNumber, account.factors.contains(where: { $0.phoneNumber == phoneNumber }) {
      throw .phoneAlreadyEnrolled
    }
    let phones = account.factors.count { $0.kind == .phone }
    if kind == .phone, phones >= mostPhones { throw .tooManyFactors }
  }

  /// Checks that enrollments didn't reject too many codes of an account, and that another attempt can
  /// be recorded.
  ///
  /// Each rejected code is recorded, and any number of enrollments can be started.
  ///
  /// - Throws: ``EnrollmentError/quotaExceeded(until:)``, and database errors.
  static func checkRejectedCodes(
    of account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws {
    for limit in [OwnChange.rejectedCode, .row] {
      if let until = try limit.exhausted(of: account.key, at: now, connection) {
        throw EnrollmentError.quotaExceeded(until: until)
      }
    }
  }

  /// Verifies the app's first code and enrolls the app.
  ///
  /// The code's interval is marked as used. All conditions are checked again in the transaction, so
  /// two concurrent enrollments create only one factor. Earlier sessions stay valid. The code
  /// attempt is recorded, because this is where a device with a wrong clock shows up first.
  ///
  /// - Returns: A session with the new factor as its second factor.
  public func finalize(
    _ session: UserSession, sessionInfo: String, code: TypedCode, displayName: String?,
    by author: Author, userAgent: String = ""
  ) async throws -> SessionGrant {
    guard let ticket = Ticket(sessionInfo, .enrollmentSession, by: tickets) else {
      throw EnrollmentError.invalidSessionInfo
    }
    let now = store.clock.now()
    let (store, totp) = (store, totp)
    let id = ID<Factor>(store.random.uuid())
    let outcome: Result<SessionGrant, EnrollmentError> = try await store.write(
      by: author
    ) {
      connection in
      let account = try Self.check(session, .totp, at: now, connection)
      guard ticket.account == account.key, ticket.pool == session.pool.key else {
        return .failure(.invalidSessionInfo)
      }
      let lifetime = Ticket.enrollmentLifetime
      guard ticket.issuedAt.lasts(lifetime, at: now) else {
        return .failure(.sessionExpired)
      }
      let record = try ticket.record(connection)
      let attempts = record.failures + record.uses
      guard attempts < Ticket.enrollmentTries else { return .failure(.tooManyAttempts) }
      guard record.uses == 0 else { return .failure(.alreadyComplete) }
      // Sessions were ended after the enrollment was started. Even if this one was kept, the secret may
      // be that of one of the others.
      guard ticket.generation == account.generation else { return .failure(.sessionExpired) }
      guard let name = Factor.storedName(displayName) else { return .failure(.missingDisplayName) }
      guard !Factor.isTooLong(name) else { return .failure(.displayNameTooLong) }
      guard !code.isEmpty else { return .failure(.missingCode) }
      try Self.checkRoom(account, .totp)
      guard let password = TOTPFactor.password(ticket.secret) else {
        return .failure(.invalidSessionInfo)
      }
      try Self.checkRejectedCodes(of: account, at: now, connection)
      let step = try EnrolledFactor.verifyFirstCode(
        code, of: password, id, for: account, in: session.pool,
        from: RequestOrigin(address: author.address, userAgent: userAgent), at: now, connection)
      guard let step else {
        try ticket.countFailure(connection)
        try OwnChange.rejectedCode.count(of: account.key, at: now, connection)
        return .failure(.invalidCode)
      }
      try ticket.countUse(connection)
      try totp.insert(
        id, displayName: name, secret: ticket.secret, lastStep: step, for: account,
        in: session.pool, at: now, connection)
      return try Self.complete(
        id, of: account.key, session, by: author, at: now, store: store, connection)
    }
    return try outcome.get()
  }

  /// Writes the audit row of a new factor, emails a reversal link to the account's address,
  /// notifies its other addresses, and continues the session with the new factor.
  ///
  /// It's called after the factor was inserted, with the account's backup codes from before the
  /// enrollment, which are nil if it revokes none.
  static func complete(
    _ id: ID<Factor>, of account: Int64, _ session: UserSession, codes: BackupCodeCounts? = nil,
    by author: Author, at now: Instant, store: Store, _ connection: borrowing Connection
  ) throws -> Result<SessionGrant, EnrollmentError> {
    guard let new = try EnrolledFactor(id, of: account, in: session.pool, connection) else {
      throw SessionError.userNotFound
    }
    let (enrolled, factor) = (new.account, new.factor)
    var entry = new.entry
    try entry.addEnded(codes, of: enrolled, at: now, connection)
    try entry.record(by: author, at: now, connection)
    // Thrown rather than returned, so that the factor is rolled back too.
    try new.announce(UserNotice(.factorEnrolled, [factor.label]), at: now, store, connection)
    // A session that never passed a factor the account already had hasn't passed one by adding
    // another: it could be someone else's.
    var before = enrolled
    before.factors.removeAll { $0.id == id }
    let configuration = try Policies.stored(session.pool.key, connection)
      .configuration
    let hasPassed =
      SignInForecast.factorsDue(of: before, configuration).isEmpty
      || before.factors.contains { $0.id == session.secondFactor?.enrollment }
    do {
      return .success(
        try Sessions.begin(
          enrolled, in: session.pool, provider: session.provider,
          secondFactor: hasPassed ? SecondFactorClaim(kind: factor.kind, enrollment: id) : nil,
          // The new factor isn't a sign-in: an open session must not become a recent one by adding
          // it.
          with: .continuation(of: session), at: now, random: store.random, connection))
    } catch CallError.poolDisabled {
      throw SessionError.tokenExpired
    }
  }
}

extension String {
  var trimmed: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }),
      let last = lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(self[first...last])
  }
}

public enum EnrollmentError: Error, Sendable {
  case totpNotEnabled
  case smsNotEnabled
  /// Not a phone number in E.164 format.
  case invalidPhone
  case regionNotAllowed
  case phoneAlreadyEnrolled
  /// Too many messages or codes; a retry is possible at the given time.
  case quotaExceeded(until: Instant)
  /// A temporary proof that's invalid, expired, already used, or for another phone number.
  case invalidTemporaryProof
  /// The session's first factor doesn't support a second factor.
  case unsupportedFirstFactor
  case unverifiedEmail
  /// The sign-in was more than five minutes ago.
  case signInTooOld
  /// The account already has a TOTP factor.
  case alreadyEnrolled
  /// The account already has five phones.
  case tooManyFactors
  /// The enrollment session is invalid or belongs to another user.
  case invalidSessionInfo
  /// The enrollment session expired, or sessions of the user were ended since it started, whether or
  /// not the one that continues was kept.
  case sessionExpired
  case alreadyComplete
  case missingDisplayName
  case displayNameTooLong
  case missingCode
  case invalidCode
  /// Three codes were incorrect; enrollment must start over.
  case tooManyAttempts
  /// The user reported a change; factors can't be changed until an owner reviews the report.
  case changesLocked
  /// The factor is suspended; it remains required at sign-in, and can't be unenrolled until the
  /// suspension ends. A session that passed no other factor and no backup code can't enroll another.
  case factorSuspended
  case recoveryCodesNotEnabled
  case enrollmentNotFound
}

/// The data an application needs to show a new secret to its user.
public struct EnrollmentStart: Sendable {
  /// The shared secret in Base32, to be shown once.
  public let sharedSecret: Secret
  /// The sealed enrollment session to send back with the code.
  public let sessionInfo: String
  public let finalizeBy: Instant
  public let digits = TOTPFactor.digits
  /// The length of a time interval, in seconds.
  public let period = Int(TOTPFactor.period)
  /// The hash function, as spelled in `otpauth` URIs.
  public let algorithm = HashFunction.sha1.rawValue
}
