import Crypto
import Database
import OTP

/// Enrolls and withdraws second factors for their own users.
public struct Enrollments: Sendable {
  let store: Store
  let tickets: Sealer
  let totp: TOTPFactor
  let backupCodes: BackupCodeStore

  /// The most phones that one account has as second factors; of authenticator apps it has one.
  public static let mostPhones = 5
  /// How old a sign-in may be when an enrollment starts, in seconds.
  public static let freshSignIn: Int64 = 300

  /// Makes a shared secret for the authenticator app of a user.
  ///
  /// Nothing is stored before the first code has come.
  ///
  /// - Throws: ``EnrollmentError``.
  public func start(_ session: UserSession) async throws(EnrollmentError) -> EnrollmentStart {
    let now = store.clock.now()
    let account = try await store.read(EnrollmentError.self) { connection in
      let account = try Self.check(session, .totp, connection)
      guard now.seconds - session.authTime <= Self.freshSignIn else {
        throw EnrollmentError.signInTooOld
      }
      try Self.checkRoom(account, .totp)
      return account
    }
    let secret = Secret(store.random.bytes(TOTPFactor.secretLength))
    let ticket = Ticket(
      scope: session.scope, account: account, provider: session.provider, secret: secret, at: now,
      random: store.random)
    do {
      return EnrollmentStart(
        sharedSecret: Secret(Base32.encode(secret.revealedBytes)),
        sessionInfo: try ticket.sealed(.enrollmentSession, by: tickets),
        finalizeBy: now.advanced(bySeconds: Ticket.enrollmentLifetime))
    } catch {
      throw .unavailable(Failure(error))
    }
  }

  /// What start and finalize have in common: the scope, the session, the first factor, the address.
  static func check(
    _ session: UserSession, _ kind: Factor.Kind, _ connection: borrowing Connection
  ) throws -> Account {
    let policy: Policy
    do { policy = try Policies.find(session.scope.key, connection) } catch is PolicyError {
      throw EnrollmentError.session(.userNotFound)
    }
    guard policy.configuration.isOn(kind) else {
      throw kind == .totp ? EnrollmentError.totpNotEnabled : .smsNotEnabled
    }
    let account = try EnrollmentError.translating { try Sessions.check(session, connection) }
    try checkChanges(account)
    try checkPrerequisites(account, by: session.provider)
    return account
  }

  /// Why an account that has just signed in cannot enroll an authenticator app; nil when it can.
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

  /// Refuses what would change the factors of an account whose user said that a change was none of
  /// theirs.
  static func checkChanges(_ account: Account) throws(EnrollmentError) {
    guard account.changesLockedAt == nil else {
      throw EnrollmentError.changesLocked
    }
  }

  /// What an account needs to enroll: a first factor that allows a second one, a verified address.
  private static func checkPrerequisites(
    _ account: Account, by provider: SignInProvider
  ) throws(EnrollmentError) {
    guard provider.supportsSecondFactor else { throw .unsupportedFirstFactor }
    guard account.email != nil, account.emailVerified else { throw .unverifiedEmail }
  }

  /// One authenticator app, each phone once, and five phones: the kinds don't share a limit.
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

  /// Enrolls the app when the code shows that the user's app has the secret.
  ///
  /// The code's step counts as used. Everything is checked again in the transaction, so that two
  /// enrollments at once leave one factor. Earlier sessions go on. What became of the code is kept,
  /// since a device whose clock is wrong shows here first.
  ///
  /// - Parameters:
  ///   - session: The user's session.
  ///   - sessionInfo: What the start answered.
  ///   - code: The code as typed.
  ///   - displayName: The name of the device.
  ///   - author: Where the request came from.
  ///   - userAgent: What the program that sent it calls itself.
  /// - Returns: A session that has passed the new factor.
  /// - Throws: ``EnrollmentError``.
  public func finalize(
    _ session: UserSession, sessionInfo: String, code: String, displayName: String?,
    by author: Author, userAgent: String = ""
  ) async throws(EnrollmentError) -> SessionGrant {
    guard let ticket = Ticket(sessionInfo, .enrollmentSession, by: tickets) else {
      throw .invalidSessionInfo
    }
    let now = store.clock.now()
    let (store, totp) = (store, totp)
    let id = ID<Factor>(store.random.uuid())
    let outcome: Result<SessionGrant, EnrollmentError> = try await store.write(EnrollmentError.self)
    {
      connection in
      let account = try Self.check(session, .totp, connection)
      guard ticket.account == account.key, ticket.scope == session.scope.key else {
        return .failure(.invalidSessionInfo)
      }
      let lifetime = Ticket.enrollmentLifetime
      guard now <= ticket.issuedAt.advanced(bySeconds: lifetime) else {
        return .failure(.sessionExpired)
      }
      let record = try ticket.record(connection)
      let attempts = record.failures + record.uses
      guard attempts < Ticket.enrollmentTries else { return .failure(.tooManyAttempts) }
      guard record.uses == 0 else { return .failure(.alreadyComplete) }
      let name = (displayName ?? "").trimmed
      guard !name.isEmpty else { return .failure(.missingDisplayName) }
      guard !Factor.isTooLong(name) else { return .failure(.displayNameTooLong) }
      guard !code.isEmpty else { return .failure(.missingCode) }
      try Self.checkRoom(account, .totp)
      let window = try Policies.find(session.scope.key, connection).configuration.window
      guard let password = TOTPFactor.password(ticket.secret) else {
        return .failure(.invalidSessionInfo)
      }
      let codeAttempt = try password.verify(code, at: now.seconds, window: window, after: nil)
      let finding = CodeFinding(codeAttempt, after: nil)
      let attempt = CodeAttemptRecorder(
        account: account, scope: session.scope, way: .enrollment,
        enrollment: finding.result.isSuccess ? id : nil, window: window,
        origin: RequestOrigin(address: author.address, userAgent: userAgent))
      try attempt.note(finding, at: now, connection)
      guard case .accepted(let step, _) = codeAttempt else {
        try ticket.countFailure(connection)
        return .failure(.invalidCode)
      }
      try ticket.countUse(connection)
      try totp.insert(
        id, displayName: name, secret: ticket.secret, lastStep: step, for: account,
        in: session.scope, at: now, connection)
      return try Self.complete(
        id, of: account.key, session, by: author, at: now, store: store, connection)
    }
    return try outcome.get()
  }

  /// Writes the audit row of a new factor, mails the way to take it back to the account's address,
  /// tells the others, and begins the session that has passed it.
  static func complete(
    _ id: ID<Factor>, of account: Int64, _ session: UserSession, by author: Author,
    at now: Instant, store: Store, _ connection: borrowing Connection
  ) throws -> Result<SessionGrant, EnrollmentError> {
    guard let enrolled = try AccountRecord.find(key: account, connection),
      let factor = enrolled.factors.first(where: { $0.id == id })
    else { return .failure(.session(.userNotFound)) }
    var entry = AuditEntry(
      "factor.enroll", "account", enrolled.id.text, name: enrolled.label, in: session.scope)
    entry.to = factor.words
    try entry.record(by: author, at: now, connection)
    do {
      try store.offerReversal(of: id, by: enrolled, in: session.scope, at: now, connection)
    } catch OutOfBandError.tooManyMails(_, let until) {
      // Thrown and not returned: the factor goes with it.
      throw EnrollmentError.quotaExceeded(until: until)
    }
    try store.outbox.notify(
      .factorEnrolled(name: factor.label), enrolled, in: session.scope, besides: enrolled.email,
      at: now, connection)
    return .success(
      try Sessions.begin(
        enrolled, in: session.scope, provider: session.provider,
        secondFactor: SecondFactorClaim(kind: factor.kind, enrollment: id), at: now,
        random: store.random, connection))
  }
}

extension String {
  /// The text without white space at its ends.
  var trimmed: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }),
      let last = lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(self[first...last])
  }
}
