public import Crypto
import Database
import OTP

/// An authenticator app that a user is setting up by a link.
public struct LinkedEnrollment: Sendable {
  /// The user pool.
  public let scope: Scope
  /// The account's address.
  public let email: String
  /// The address that an authenticator app reads from the QR code; it holds the secret.
  public let uri: Secret
  /// The secret as people type it: base32 without spaces.
  public let key: Secret
  /// What the form carries on: the secret, sealed.
  public let ticket: Secret
  /// Until when the first code must come.
  public let finishBy: Instant
}

/// Why a link to set an authenticator app up does nothing.
public enum EnrollmentLinkError: Error, Sendable {
  /// A link that was never made, whose account is gone or has changed since.
  case unknown
  /// A link that was used, or that a newer one has replaced.
  case used(Scope)
  /// A link that came too late.
  case expired(Scope)
  /// The account cannot have another authenticator app, and why.
  case refused(Scope, EnrollmentError)
  /// The account may not sign in, or nobody may.
  case disabled(Scope)
  /// The set-up was begun too long ago, or is not of this link.
  case ended(Scope)
  /// Not a code of the new secret.
  case wrongCode(LinkedEnrollment)
  /// So many wrong codes that it takes a new link.
  case tooManyCodes(Scope)
  /// A name of more than ``Factor/longestName`` characters.
  case nameTooLong(LinkedEnrollment)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension EnrollmentLinkError: UseCaseError {}

/// Helps users to set an authenticator app up, without whoever helps seeing its secret.
///
/// An agent sends a link; who reads the user's mail opens it, scans and types the first code.
public struct EnrollmentLinks: Sendable {
  let store: Store
  let gate: SupportAuthorization
  let tickets: Sealer
  let totp: TOTPFactor

  /// How many wrong codes a link bears.
  static let tries = 10

  /// Why an account cannot be sent a link, as far as it can be told before.
  public static func refusal(_ account: Account, _ policy: Policy) -> ActionDenial? {
    if let refusal = Enrollments.refusal(account, by: .password, policy.configuration) {
      return .enrollment(refusal)
    }
    return account.disabled || policy.scope.isDisabled ? .userDisabled : nil
  }

  /// Sends a link to the account's address, which has to be verified; it ends an earlier one.
  ///
  /// - Returns: The address.
  /// - Throws: ``ActionDenial``.
  public func send(
    _ request: ActionRequest, to id: ID<Account>, in scope: Scope
  ) async throws(ActionDenial) -> ActionOutcome<String> {
    let store = store
    let sender = request.agent.administrator.displayName
    return try await gate.act(
      .sendEnrollmentLink, request, on: id, in: scope
    ) { account, _, now, connection in
      let policy = try Policies.find(scope.key, connection)
      if let refusal = Self.refusal(account, policy) { throw refusal }
      guard let email = account.email else { throw ActionDenial.enrollment(.unverifiedEmail) }
      try UserLink.useAll(.enrollment, of: account.key, at: now, connection)
      let code = try UserLink.insert(
        .enrollment, about: sender, of: account, random: store.random, at: now, connection)
      let notice = UserNotice.enrollmentLinkSent
      let mail = EnrollmentMail(
        application: NoticeText.application(scope), email: email,
        link: store.links.link(code, to: .enrollment),
        reportedChange: try store.outbox.reportedChange(
          to: notice.fact, account, at: now, connection))
      let expires = now.advanced(bySeconds: UserLink.Kind.enrollment.lifetime)
      try store.outbox.add(
        OutboxMessage(
          channel: .mail, purpose: "enrollment-link", recipient: email, language: "en",
          subject: mail.subject, body: mail.body, expiresAt: expires),
        to: account, in: scope, at: now, connection)
      try store.outbox.notify(notice, account, in: scope, besides: email, at: now, connection)
      var entry = AuditEntry(
        "factor.send-link", "account", account.id.text, name: account.label, in: scope)
      entry.to = "to \(email), counts once until \(expires.formatted)"
      return SupportAction(entry: entry, value: email)
    }
  }

  /// Begins to set an app up, which writes nothing.
  ///
  /// - Throws: ``EnrollmentLinkError``.
  public func open(_ code: String) async throws(EnrollmentLinkError) -> LinkedEnrollment {
    let now = store.clock.now()
    let (link, account) = try await store.read(EnrollmentLinkError.self) { connection in
      try Self.find(code, at: now, connection)
    }
    guard now < link.expiresAt else { throw .expired(link.scope) }
    let ticket = Ticket(
      scope: link.scope, account: account, provider: .password,
      secret: Secret(store.random.bytes(TOTPFactor.secretLength)), at: now, random: store.random)
    return try enrollment(ticket, link, account)
  }

  private func enrollment(
    _ ticket: Ticket, _ link: UserLink, _ account: Account
  ) throws(EnrollmentLinkError) -> LinkedEnrollment {
    guard let password = TOTPFactor.password(ticket.secret), let email = account.email else {
      throw .unknown
    }
    let uri = OTPAuthURI(
      password: password, issuer: Self.issuer(link.scope), account: email)
    do {
      return LinkedEnrollment(
        scope: link.scope, email: email, uri: uri.text,
        key: Secret(Base32.encode(ticket.secret.revealedBytes)),
        ticket: Secret(try ticket.sealed(.linkedEnrollment, by: tickets)),
        finishBy: ticket.issuedAt.advanced(bySeconds: Ticket.enrollmentLifetime))
    } catch {
      throw .unavailable(Failure(error))
    }
  }

  /// Enrolls the app when the code shows that the user's app has the secret, and uses the link up.
  ///
  /// What became of the code is kept, as of any other.
  ///
  /// - Parameters:
  ///   - code: The code of the link.
  ///   - text: What the form carried.
  ///   - typed: The code of the app as typed.
  ///   - displayName: The name of the device.
  ///   - author: Where the request came from.
  ///   - userAgent: What the program that sent it calls itself.
  /// - Returns: The user pool.
  /// - Throws: ``EnrollmentLinkError``.
  @discardableResult
  public func finish(
    _ code: String, ticket text: String, typed: String, displayName: String, by author: Author,
    userAgent: String = ""
  ) async throws(EnrollmentLinkError) -> Scope {
    let now = store.clock.now()
    let (store, totp) = (store, totp)
    let ticket = Ticket(text, .linkedEnrollment, by: tickets)
    let id = ID<Factor>(store.random.uuid())
    let name = displayName.trimmed
    let digits = AdministratorFactors.digits(of: typed)
    // A wrong code must stay counted.
    let outcome: Result<Scope, EnrollmentLinkError> = try await store.write(
      EnrollmentLinkError.self
    ) { connection in
      let (link, account) = try Self.find(code, at: now, connection)
      let scope = link.scope
      // A page that was opened in time may be finished a little later.
      guard let ticket, ticket.account == account.key, ticket.scope == scope.key,
        ticket.issuedAt >= link.createdAt, ticket.issuedAt < link.expiresAt,
        now <= ticket.issuedAt.advanced(bySeconds: Ticket.enrollmentLifetime)
      else { return .failure(now < link.expiresAt ? .ended(scope) : .expired(scope)) }
      guard let password = TOTPFactor.password(ticket.secret) else { return .failure(.unknown) }
      guard !Factor.isTooLong(name) else {
        return .failure(.nameTooLong(try enrollment(ticket, link, account)))
      }
      let window = try Policies.find(scope.key, connection).configuration.window
      let codeAttempt = try password.verify(digits, at: now.seconds, window: window, after: nil)
      let finding = CodeFinding(codeAttempt, after: nil)
      let attempt = CodeAttemptRecorder(
        account: account, scope: scope, way: .enrollment,
        enrollment: finding.result.isSuccess ? id : nil, window: window,
        origin: RequestOrigin(address: author.address, userAgent: userAgent))
      try attempt.note(finding, at: now, connection)
      guard case .accepted(let step, _) = codeAttempt else {
        try link.countFailure(connection)
        guard link.failures + 1 < Self.tries else { return .failure(.tooManyCodes(scope)) }
        return .failure(.wrongCode(try enrollment(ticket, link, account)))
      }
      try totp.insert(
        id, displayName: name.isEmpty ? Self.usualName : name, secret: ticket.secret,
        lastStep: step, for: account, in: scope, at: now, connection)
      try UserLink.useAll(.enrollment, of: account.key, at: now, connection)
      guard let enrolled = try AccountRecord.find(key: account.key, connection),
        let factor = enrolled.factors.first(where: { $0.id == id })
      else { return .failure(.unknown) }
      var entry = AuditEntry(
        "factor.enroll", "account", account.id.text, name: account.label, in: scope)
      entry.to = "\(factor.words), by a link that \(link.about) had sent"
      try entry.record(by: author.user(account), at: now, connection)
      do {
        try store.offerReversal(of: id, by: enrolled, in: scope, at: now, connection)
      } catch OutOfBandError.tooManyMails(_, let until) {
        // Thrown and not returned: the factor goes with it, and the link counts on.
        throw EnrollmentLinkError.refused(scope, .quotaExceeded(until: until))
      }
      try store.outbox.notify(
        .factorEnrolledByLink(name: factor.label), enrolled, in: scope, besides: enrolled.email,
        at: now, connection)
      return .success(scope)
    }
    return try outcome.get()
  }

  /// The name under which apps list the account: short enough for a picture that phones read.
  private static func issuer(_ scope: Scope) -> String {
    let scalars = NoticeText.plain(scope.projectName).unicodeScalars.prefix(40)
    return String(String.UnicodeScalarView(scalars))
  }

  /// The name of a device whose user gives it none.
  public static let usualName = "Authenticator app"

  /// A link that still counts but for its time, with its account.
  private static func find(
    _ code: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> (link: UserLink, account: Account) {
    guard let link = try UserLink.find(code, .enrollment, connection) else {
      throw EnrollmentLinkError.unknown
    }
    let scope = link.scope
    guard link.usedAt == nil else { throw EnrollmentLinkError.used(scope) }
    guard link.failures < tries else { throw EnrollmentLinkError.tooManyCodes(scope) }
    guard let account = try AccountRecord.find(key: link.account, connection),
      account.generation == link.generation
    else { throw EnrollmentLinkError.unknown }
    guard !account.disabled, !scope.isDisabled else { throw EnrollmentLinkError.disabled(scope) }
    let configuration = try Policies.find(scope.key, connection).configuration
    if let refusal = Enrollments.refusal(account, by: .password, configuration) {
      throw EnrollmentLinkError.refused(scope, refusal)
    }
    return (link, account)
  }
}

/// The mail that a link to set an authenticator app up goes out in.
private struct EnrollmentMail {
  let application: String
  let email: String
  let link: String
  let reportedChange: String

  var subject: String { "\(application): set your authenticator app up" }

  var body: String {
    """
    Hello,

    the support of \(application) sends you this link to set an authenticator app up for your account \
    \(email). Open it on a computer, and have the phone with the app at hand:

    \(link)

    The link counts for thirty minutes, and once. Keep it to yourself: nobody of the support asks for \
    it, or for what its page shows. If you expected no such mail, do not open it.

    \(NoticeText.advice(reportedChange, application))

    """
  }
}
