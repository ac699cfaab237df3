import Crypto
import Database
import OTP

/// Enrols and withdraws TOTP factors for their own users.
public struct Enrolments: Sendable {
  let store: Store
  let tickets: Sealer
  let totp: TOTPFactor

  /// The most factors that one account has.
  public static let mostFactors = 5
  /// How old a sign-in may be when an enrolment starts, in seconds.
  public static let freshSignIn: Int64 = 300

  /// Makes a shared secret for a user.
  ///
  /// Nothing is stored before the first code has come.
  ///
  /// - Throws: ``EnrolmentError``.
  public func start(_ session: UserSession) async throws(EnrolmentError) -> EnrolmentStart {
    let now = store.clock.now()
    let account = try await store.read(EnrolmentError.self) { connection in
      let account = try Self.check(session, connection)
      guard now.seconds - session.authTime <= Self.freshSignIn else {
        throw EnrolmentError.signInTooOld
      }
      try Self.checkRoom(account)
      return account
    }
    let secret = Secret(store.random.bytes(TOTPFactor.secretLength))
    let ticket = Ticket(
      scope: session.scope, account: account, provider: session.provider, secret: secret, at: now,
      random: store.random)
    do {
      return EnrolmentStart(
        sharedSecret: Secret(Base32.encode(secret.revealedBytes)),
        sessionInfo: try ticket.sealed(.enrolmentSession, by: tickets),
        finalizeBy: now.advanced(bySeconds: Ticket.enrolmentLifetime))
    } catch {
      throw .unavailable(Failure(error))
    }
  }

  /// What start and finalize have in common: the scope, the session, the first factor, the address.
  private static func check(
    _ session: UserSession, _ connection: borrowing Connection
  ) throws -> Account {
    let policy: Policy
    do { policy = try Policies.find(session.scope.key, connection) } catch is PolicyError {
      throw EnrolmentError.session(.userNotFound)
    }
    guard policy.configuration.isTOTPOn else { throw EnrolmentError.totpNotEnabled }
    let account: Account
    do { account = try Sessions.check(session, connection) } catch let error as SessionError {
      throw EnrolmentError.session(error)
    }
    try checkGround(account, by: session.provider)
    return account
  }

  /// Why an account that has just signed in cannot enrol; nil when it can.
  static func refusal(
    _ account: Account, by provider: SignInProvider, _ configuration: MFAConfiguration
  ) -> EnrolmentError? {
    guard configuration.isTOTPOn else { return .totpNotEnabled }
    do throws(EnrolmentError) {
      try checkGround(account, by: provider)
      try checkRoom(account)
      return nil
    } catch {
      return error
    }
  }

  /// What an account needs to enrol: a first factor that allows a second one, a verified address.
  private static func checkGround(
    _ account: Account, by provider: SignInProvider
  ) throws(EnrolmentError) {
    guard provider.supportsSecondFactor else { throw .unsupportedFirstFactor }
    guard account.email != nil, account.emailVerified else { throw .unverifiedEmail }
  }

  private static func checkRoom(_ account: Account) throws(EnrolmentError) {
    if account.factors.contains(where: { $0.kind == .totp }) { throw .alreadyEnrolled }
    if account.factors.count >= mostFactors { throw .tooManyFactors }
  }

  /// Enrols the factor when the code shows that the user's app has the secret.
  ///
  /// The code's step counts as used. Everything is checked again in the transaction, so that two
  /// enrolments at once leave one factor. Earlier sessions go on.
  ///
  /// - Parameters:
  ///   - session: The user's session.
  ///   - sessionInfo: What the start answered.
  ///   - code: The code as typed.
  ///   - displayName: The name of the device.
  ///   - author: Where the request came from.
  /// - Returns: A session that has passed the new factor.
  /// - Throws: ``EnrolmentError``.
  public func finalize(
    _ session: UserSession, sessionInfo: String, code: String, displayName: String?,
    by author: Author
  ) async throws(EnrolmentError) -> SessionGrant {
    guard let ticket = Ticket(sessionInfo, .enrolmentSession, by: tickets) else {
      throw .invalidSessionInfo
    }
    let now = store.clock.now()
    let (random, totp) = (store.random, totp)
    let id = ID<Factor>(random.uuid())
    let outcome: Result<SessionGrant, EnrolmentError> = try await store.write(EnrolmentError.self) {
      connection in
      let account = try Self.check(session, connection)
      guard ticket.account == account.key, ticket.scope == session.scope.key else {
        return .failure(.invalidSessionInfo)
      }
      let lifetime = Ticket.enrolmentLifetime
      guard now <= ticket.issuedAt.advanced(bySeconds: lifetime) else {
        return .failure(.sessionExpired)
      }
      let record = try ticket.record(connection)
      guard record.uses == 0 else { return .failure(.alreadyComplete) }
      guard record.failures < Ticket.enrolmentTries else { return .failure(.tooManyAttempts) }
      let name = (displayName ?? "").trimmed
      guard !name.isEmpty else { return .failure(.missingDisplayName) }
      guard !Factor.isTooLong(name) else { return .failure(.displayNameTooLong) }
      try Self.checkRoom(account)
      let window = try Policies.find(session.scope.key, connection).configuration.window
      guard let password = TOTPFactor.password(ticket.secret) else {
        return .failure(.invalidSessionInfo)
      }
      let verdict = try password.verify(code, at: now.seconds, window: window, after: nil)
      guard case .accepted(let step, _) = verdict else {
        try ticket.countFailure(connection)
        return .failure(.invalidCode)
      }
      try ticket.countUse(connection)
      try totp.insert(
        id, displayName: name, secret: ticket.secret, lastStep: step, for: account,
        in: session.scope, at: now, connection)
      try Self.record(
        "factor.enrol", id, name, account, session.scope, by: author, at: now, connection)
      guard let enrolled = try AccountRecord.find(key: account.key, connection) else {
        return .failure(.session(.userNotFound))
      }
      return .success(
        try Sessions.begin(
          enrolled, in: session.scope, provider: session.provider,
          secondFactor: SecondFactorClaim(kind: .totp, enrolment: id), at: now, random: random,
          connection))
    }
    return try outcome.get()
  }

  /// Withdraws a factor of the user's own and ends the earlier sessions.
  ///
  /// - Returns: A new session; nil when the factor was the newest of several, for then clients
  ///   shall sign the user out.
  /// - Throws: ``EnrolmentError``.
  public func withdraw(
    _ session: UserSession, enrolment: String, by author: Author
  ) async throws(EnrolmentError) -> SessionGrant? {
    let now = store.clock.now()
    let random = store.random
    return try await store.write(EnrolmentError.self) { connection in
      let account: Account
      do { account = try Sessions.check(session, connection) } catch let error as SessionError {
        throw EnrolmentError.session(error)
      }
      guard let factor = account.factors.first(where: { $0.id.text == enrolment }) else {
        throw EnrolmentError.enrolmentNotFound
      }
      try FactorRecord.delete([factor], of: account, in: session.scope, connection)
      _ = try AccountRecord.endSessions(account.key, at: now, connection)
      // The token that asked may be of a session that has no row any more.
      try connection.run(
        """
        UPDATE account SET valid_since_s = max(valid_since_s, \(session.authTime + 1))
        WHERE account_key = \(account.key)
        """)
      try Self.record(
        "factor.withdraw", factor.id, factor.label, account, session.scope, by: author, at: now,
        connection)
      let isNewest = account.factors.last?.id == factor.id
      if isNewest, account.factors.count > 1 { return nil }
      guard let changed = try AccountRecord.find(key: account.key, connection) else { return nil }
      let kept = changed.factors.contains { $0.id == session.secondFactor?.enrolment }
      return try Sessions.begin(
        changed, in: session.scope, provider: session.provider,
        secondFactor: kept ? session.secondFactor : nil, isSignIn: false, at: now, random: random,
        connection)
    }
  }

  private static func record(
    _ action: String, _ id: ID<Factor>, _ name: String, _ account: Account, _ scope: Scope,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry(action, "account", account.id.text, name: account.label, in: scope)
    let words = "TOTP “\(name)” (\(id.text))"
    (entry.from, entry.to) = action == "factor.enrol" ? (nil, words) : (words, nil)
    try entry.record(by: author, at: now, connection)
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
