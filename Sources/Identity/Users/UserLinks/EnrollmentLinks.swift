public import Crypto
import Database
public import OTP

/// An enrollment of an authenticator app by link that isn't finished.
public struct LinkedEnrollment: Sendable {
  public let pool: Pool
  public let email: String
  /// The URI in the QR code, which contains the secret.
  public let uri: Secret
  /// The secret for manual entry: Base32 without spaces.
  public let key: Secret
  /// The encrypted secret, as a form field.
  public let ticket: Secret
  /// The deadline for the first code.
  public let finishBy: Instant
  /// Whether finishing always ends the account's sessions.
  public let endsSessions: Bool
}

/// The first factor that a campaign's link asks for.
public struct LinkFirstFactor: Sendable {
  public enum Kind: Sendable, Equatable {
    case password
    /// A code that's sent to the verified email address.
    case emailCode(isSent: Bool)
  }

  public let pool: Pool
  public let email: String
  public let kind: Kind
}

public enum EnrollmentLinkError: Error, Sendable {
  /// The link doesn't exist, or its account was deleted or has changed since.
  case unknown
  /// The link was used, or replaced by a newer one.
  case used(Pool)
  /// The link has expired; one of a campaign can be renewed.
  case expired(Pool, isRenewable: Bool)
  /// A link of a campaign asks for a first factor, because the one given, if any, was refused.
  case firstFactorRequired(LinkFirstFactor, SignInError?)
  /// The newest link of the campaign was sent less than an hour ago.
  case renewedRecently(Pool)
  case refused(Pool, EnrollmentError)
  /// The account is disabled, or sign-in is disabled for the pool.
  case disabled(Pool)
  /// The setup has expired, or belongs to another link.
  case ended(Pool)
  /// The code doesn't have six digits; it isn't counted as a try.
  case malformedCode(LinkedEnrollment)
  case wrongCode(LinkedEnrollment)
  /// Too many incorrect codes; a new link is required.
  case tooManyCodes(Pool)
  case nameTooLong(LinkedEnrollment)
}

/// Lets users set up an authenticator app from a link, so that the agent who sends it never sees
/// the secret.
///
/// Anyone who can read the user's email can open the link and enroll an app, except that a link of a
/// campaign, which is valid for days, asks for a first factor.
public struct EnrollmentLinks: Sendable {
  let store: Store
  let tickets: Sealer
  let totp: TOTPFactor
  let signIns: SignIns

  /// The number of incorrect codes after which a link is invalid.
  static let tries = 10

  /// Returns why a link can't be sent to an account, as far as this is known in advance; nil if it
  /// can.
  public func refusal(
    _ account: Account, in pool: Pool
  ) async throws -> ActionDenial? {
    try await store.read { connection in
      try Self.refusal(account, try Policies.stored(pool.key, connection), connection)
    }
  }

  static func refusal(
    _ account: Account, _ policy: StoredPolicy, _ connection: borrowing Connection
  ) throws -> ActionDenial? {
    if let refusal = try enrollmentRefusal(account, policy, connection) {
      return .enrollment(refusal)
    }
    return account.disabled || policy.pool.isDisabled ? .userDisabled : nil
  }

  private static func enrollmentRefusal(
    _ account: Account, _ policy: StoredPolicy, _ connection: borrowing Connection
  ) throws -> EnrollmentError? {
    if let refusal = Enrollments.refusal(account, by: .password, policy.configuration) {
      return refusal
    }
    return try signsInOnlyByPhone(account, in: policy.pool, connection)
      ? .unsupportedFirstFactor : nil
  }

  /// Returns whether an account would be locked out by a second factor: its phone number is its
  /// only first factor, and it doesn't support a second one.
  private static func signsInOnlyByPhone(
    _ account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws -> Bool {
    // Sign-in with a custom token ignores second factors.
    guard account.phoneNumber != nil, !account.isCustomAuth else { return false }
    let methods = try SignIns.methods(pool, connection)
    guard methods.phone, !methods.emailLink, !(methods.password && account.hasPassword) else {
      return false
    }
    let enabled = try IdentityProviders.enabled(in: pool, connection)
    return !account.providers.contains { enabled.contains($0.provider) }
  }

  /// Returns whether an account without an authenticator app can be sent a link.
  static func canSend(
    to account: Account, under policy: StoredPolicy, _ connection: borrowing Connection
  ) throws -> Bool {
    guard account.email != nil, !account.has(.totp) else { return false }
    return try refusal(account, policy, connection) == nil
  }

  /// Sends a link to the account's verified email address and invalidates earlier links.
  ///
  /// - Returns: The email address.
  public func send(
    _ request: ActionRequest, to id: ID<Account>, in pool: Pool
  ) async throws -> ActionOutcome<String> {
    let sender = request.agent.administrator.displayName
    return try await store.run(.sendEnrollmentLink, by: .console(request), on: .user(id, in: pool))
    {
      account, context, connection in
      let now = context.now
      let policy = try Policies.stored(pool.key, connection)
      if let refusal = try Self.refusal(account, policy, connection) { throw refusal }
      guard let email = account.email else { throw ActionDenial.enrollment(.unverifiedEmail) }
      let entry = try Self.mail(
        to: account, email, from: sender, in: pool, store, at: now, connection)
      try context.record(entry, connection)
      return email
    }
  }

  /// Emails a new link and invalidates earlier ones, in the transaction of an action.
  ///
  /// The link of a campaign is valid until the campaign's end, or as long as a single link if
  /// that's over. Returns the audit entry, without author.
  static func mail(
    to account: Account, _ email: String, from sender: String, of campaign: LinkCampaign? = nil,
    in pool: Pool, _ store: Store, at now: Instant, _ connection: borrowing Connection
  ) throws -> AuditEntry {
    var expires = now.advanced(bySeconds: UserLink.Kind.enrollment.lifetime)
    if let campaign, campaign.end > now {
      // After the clock was set back, the end may be far.
      expires = min(campaign.end, now.advanced(bySeconds: campaign.seconds))
    }
    try UserLink.useAll(.enrollment, of: account.key, at: now, connection)
    let code = try UserLink.insert(
      .enrollment, about: sender, of: account, to: email, campaign: campaign?.id, until: expires,
      random: store.random, at: now, connection)
    let notice = UserNotice(.enrollmentLinkSent)
    let mail = EnrollmentLinkMail(
      pool: pool, email: email, link: store.links.link(code, to: .enrollment),
      reportLink: try store.outbox.reportLink(
        for: notice, of: account, to: email, at: now, connection),
      cause: sender.isEmpty
        ? .refusedSignIn
        : campaign.map { .campaign(sentence: $0.sentence, until: expires) } ?? .agent)
    try store.outbox.add(
      OutboxMessage(
        purpose: MessagePurpose.enrollmentLink.rawValue, recipient: email,
        text: store.outbox.written(.enrollmentLink(mail)),
        from: try PoolEmailSettings.read(pool, connection).sender(of: .enrollmentLink),
        expiresAt: expires),
      to: account, in: pool, at: now, connection)
    try store.outbox.notify(notice, account, in: pool, excluding: email, at: now, connection)
    var entry = AuditEntry(.factorSendLink, of: account, in: pool)
    entry.add(.linkEmail, .text(email))
    entry.add(.expiresAt, .instant(expires))
    return entry
  }

  func start(
    _ link: UserLink, _ account: Account, at now: Instant
  ) throws -> LinkedEnrollment {
    let ticket = Ticket(
      pool: link.pool, account: account, provider: .password,
      secret: Secret(store.random.bytes(TOTPFactor.secretLength)), at: now, random: store.random)
    return try enrollment(ticket, link, account)
  }

  /// Returns whether the setup of a ticket can be finished.
  ///
  /// One that began before the link expired can be finished shortly after.
  static func isOpen(
    _ ticket: Ticket, _ link: UserLink, _ account: Account, at now: Instant
  ) -> Bool {
    ticket.account == account.key && ticket.pool == link.pool.key
      && !link.createdAt.isInFuture(at: now) && ticket.issuedAt >= link.createdAt
      && ticket.issuedAt < link.expiresAt
      && ticket.issuedAt.lasts(Ticket.enrollmentLifetime, at: now)
  }

  func enrollment(
    _ ticket: Ticket, _ link: UserLink, _ account: Account
  ) throws -> LinkedEnrollment {
    guard let password = TOTPFactor.password(ticket.secret), let email = account.email else {
      throw EnrollmentLinkError.unknown
    }
    let uri = OTPAuthURI(
      password: password, issuer: Self.issuer(link.pool), account: email)
    return LinkedEnrollment(
      pool: link.pool, email: email, uri: uri.text,
      key: Secret(Base32.encode(ticket.secret.revealedBytes)),
      ticket: Secret(try ticket.sealed(.linkedEnrollment, by: tickets)),
      finishBy: ticket.issuedAt.advanced(bySeconds: Ticket.enrollmentLifetime),
      endsSessions: link.campaign != nil)
  }

  /// Enrolls the app if the code proves that it has the secret, and uses up the link.
  ///
  /// The code attempt is recorded, like any other; text that isn't a code is only rejected.
  @discardableResult
  public func finish(
    _ code: String, ticket text: String, typed: TypedCode, displayName: String,
    endsSessions: Bool = false, by author: Author, userAgent: String = ""
  ) async throws -> Pool {
    let now = store.clock.now()
    let (store, totp) = (store, totp)
    let ticket = Ticket(text, .linkedEnrollment, by: tickets)
    let id = ID<Factor>(store.random.uuid())
    let name = displayName.trimmed
    // Returned, not thrown, so that the transaction keeps the count of an incorrect code.
    let outcome: Result<Pool, EnrollmentLinkError> = try await store.write(
      by: author
    ) { connection in
      let (link, account) = try Self.find(code, at: now, connection)
      let pool = link.pool
      guard let ticket, Self.isOpen(ticket, link, account, at: now)
      else { return .failure(link.isExpired(at: now) ? link.expiration : .ended(pool)) }
      guard let password = TOTPFactor.password(ticket.secret) else { return .failure(.unknown) }
      guard !Factor.isTooLong(name) else {
        return .failure(.nameTooLong(try enrollment(ticket, link, account)))
      }
      guard typed.isDigits(TOTPFactor.digits) else {
        return .failure(.malformedCode(try enrollment(ticket, link, account)))
      }
      let step = try EnrolledFactor.verifyFirstCode(
        typed, of: password, id, for: account, in: pool,
        from: RequestOrigin(address: author.address, userAgent: userAgent), at: now, connection)
      guard let step else {
        try link.countFailure(connection)
        guard link.failures + 1 < Self.tries else { return .failure(.tooManyCodes(pool)) }
        return .failure(.wrongCode(try enrollment(ticket, link, account)))
      }
      try totp.insert(
        id, displayName: name.isEmpty ? Self.usualName : name, secret: ticket.secret,
        lastStep: step, for: account, in: pool, at: now, connection)
      try UserLink.useAll(.enrollment, of: account.key, at: now, connection)
      guard let new = try EnrolledFactor(id, of: account.key, in: pool, connection) else {
        return .failure(.unknown)
      }
      var entry = new.entry
      if !link.about.isEmpty { entry.add(.sender, .text(link.about)) }
      if endsSessions || link.campaign != nil {
        entry.addEnded(try AccountRecord.endSessions(account.key, at: now, connection))
        try OwnChange.renew(of: account.key, connection)
      }
      try entry.record(by: author.user(account), limitedBy: .link, at: now, connection)
      do {
        try new.announce(
          UserNotice(.factorEnrolledByLink, [new.factor.label]), at: now, store, connection)
      } catch let error as EnrollmentError {
        // Thrown, not returned, so that the factor is rolled back and the link stays valid.
        throw EnrollmentLinkError.refused(pool, error)
      }
      return .success(pool)
    }
    return try outcome.get()
  }

  /// The issuer shown in authenticator apps, shortened so that phones can scan the QR code.
  private static func issuer(_ pool: Pool) -> String {
    let scalars = SafeName.plain(pool.projectName).unicodeScalars.prefix(40)
    return String(String.UnicodeScalarView(scalars))
  }

  public static let usualName = "Authenticator app"

  /// Finds a link that's valid apart from its expiration, and its account.
  static func find(
    _ code: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> (link: UserLink, account: Account) {
    guard let link = try UserLink.find(code, .enrollment, connection) else {
      throw EnrollmentLinkError.unknown
    }
    let pool = link.pool
    guard link.usedAt == nil else { throw EnrollmentLinkError.used(pool) }
    guard link.failures < tries else { throw EnrollmentLinkError.tooManyCodes(pool) }
    guard let account = try AccountRecord.find(key: link.account, connection),
      account.generation == link.generation, try !link.isStopped(connection)
    else { throw EnrollmentLinkError.unknown }
    guard !account.disabled, !pool.isDisabled else { throw EnrollmentLinkError.disabled(pool) }
    let policy = try Policies.stored(pool.key, connection)
    if let refusal = try enrollmentRefusal(account, policy, connection) {
      throw EnrollmentLinkError.refused(pool, refusal)
    }
    return (link, account)
  }
}

extension UserLink {
  var expiration: EnrollmentLinkError { .expired(pool, isRenewable: campaign != nil) }
}
