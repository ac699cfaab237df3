public import Crypto
import Database
public import OTP

extension LinkFirstFactor {
  /// Replaces the administrator of a ``CallerCode`` in the code of a link.
  fileprivate static let recipient = ID<Administrator>("enrollment-link")

  /// Returns what a valid link asks for; nil if it's a single one.
  static func find(
    _ link: UserLink, _ account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> LinkFirstFactor? {
    guard link.campaign != nil else { return nil }
    guard let email = account.verifiedEmail else { throw EnrollmentLinkError.unknown }
    var kind = Kind.password
    if try !account.hasPassword || !SignIns.methods(link.pool, connection).password {
      let code = try CallerCode.find(account, by: recipient, at: now, connection)
      kind = .emailCode(isSent: code != nil)
    }
    return LinkFirstFactor(pool: link.pool, email: email, kind: kind)
  }
}

extension EnrollmentLinks {
  /// Starts the setup of an app, or resumes that of a ticket that can still be finished; writes nothing
  /// to the database.
  ///
  /// With a link of a campaign, only the ticket that followed the first factor is resumed.
  public func open(_ code: String, resuming text: String? = nil) async throws -> LinkedEnrollment {
    let now = store.clock.now()
    let (link, account, factor) = try await store.read { connection in
      let (link, account) = try Self.find(code, at: now, connection)
      return (link, account, try LinkFirstFactor.find(link, account, at: now, connection))
    }
    if let text, let ticket = Ticket(text, .linkedEnrollment, by: tickets),
      Self.isOpen(ticket, link, account, at: now)
    {
      return try enrollment(ticket, link, account)
    }
    guard !link.isExpired(at: now) else { throw link.expiration }
    if let factor { throw EnrollmentLinkError.firstFactorRequired(factor, nil) }
    return try start(link, account, at: now)
  }

  /// The number of codes sent to one user in an hour.
  static let codesPerUser = 5
  /// The number of seconds from a link until it can be renewed.
  private static let renewal: Int64 = 3_600

  /// Finds a campaign's link whose user pressed Continue, which is recorded.
  private static func press(
    _ code: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> (link: UserLink, account: Account, factor: LinkFirstFactor) {
    let (link, account) = try find(code, at: now, connection)
    guard !link.isExpired(at: now) else { throw link.expiration }
    guard let campaign = link.campaign,
      let factor = try LinkFirstFactor.find(link, account, at: now, connection)
    else { throw EnrollmentLinkError.unknown }
    try CampaignUser.open(account.key, of: campaign, in: link.pool, at: now, connection)
    return (link, account, factor)
  }

  /// Starts the setup of an app after the password, which is counted as at sign-in.
  public func prove(
    _ code: String, password: Secret, by author: Author
  ) async throws -> LinkedEnrollment {
    let now = store.clock.now()
    let factor = try await store.write(by: author) { connection in
      try Self.press(code, at: now, connection).factor
    }
    guard factor.kind == .password else {
      throw EnrollmentLinkError.firstFactorRequired(factor, nil)
    }
    do {
      return try await signIns.check(
        factor.pool, email: factor.email, password: password, address: author.client
      ) { known, _, now, connection in
        let (link, account) = try Self.find(code, at: now, connection)
        guard account.key == known.key else { throw EnrollmentLinkError.unknown }
        guard !link.isExpired(at: now) else { throw link.expiration }
        return try start(link, account, at: now)
      }
    } catch let error as SignInError {
      throw EnrollmentLinkError.firstFactorRequired(factor, error)
    } catch is CallError {
      // The pool was disabled or deleted meanwhile.
      return try await open(code)
    }
  }

  /// Emails a code to the account's verified address, in place of its former one.
  public func sendCode(_ code: String, by author: Author) async throws {
    let (store, now) = (store, store.clock.now())
    // Returned, not thrown, so that the transaction keeps that the user pressed Continue.
    let refusal: EnrollmentLinkError? = try await store.write(by: author) { connection in
      let (link, account, factor) = try Self.press(code, at: now, connection)
      guard factor.kind != .password else { return .firstFactorRequired(factor, nil) }
      let until = try HourlyQuota.take(
        .linkCodes(to: account.key), limit: Self.codesPerUser, at: now, connection)
      if let until { return .firstFactorRequired(factor, .quotaExceeded(until: until)) }
      let expires = now.advanced(bySeconds: CallerCode.lifetime)
      let digits = try CallerCode.make(
        for: account, at: factor.email, by: LinkFirstFactor.recipient, random: store.random,
        until: expires, at: now, connection)
      let mail = CallerCodeMail(pool: link.pool, email: factor.email, code: digits, agent: nil)
      try store.outbox.add(
        OutboxMessage(
          purpose: MessagePurpose.linkCode.rawValue, recipient: factor.email,
          text: store.outbox.written(.callerCode(mail)),
          from: try PoolEmailSettings.read(link.pool, connection).sender(of: .enrollmentLink),
          expiresAt: expires),
        to: account, in: link.pool, at: now, connection)
      return nil
    }
    if let refusal { throw refusal }
  }

  /// Starts the setup of an app after the emailed code; an incorrect one is counted as a password is
  /// at sign-in.
  public func prove(
    _ code: String, typed: TypedCode, by author: Author
  ) async throws -> LinkedEnrollment {
    let now = store.clock.now()
    let outcome: Result<LinkedEnrollment, EnrollmentLinkError> = try await store.write(
      by: author
    ) { connection in
      let (link, account, factor) = try Self.press(code, at: now, connection)
      func refused(_ why: SignInError?) -> Result<LinkedEnrollment, EnrollmentLinkError> {
        .failure(.firstFactorRequired(factor, why))
      }
      guard factor.kind != .password else { return refused(nil) }
      let recipient = LinkFirstFactor.recipient
      // Text that isn't a code can't be a guess, so it isn't counted.
      guard typed.isDigits(CallerCode.length),
        let sent = try CallerCode.find(account, by: recipient, at: now, connection)
      else { return refused(.invalidCode) }
      let name = CounterName.passwords(of: TypedEmail(factor.email), in: link.pool.key)
      let counters =
        ThrottleCounter.client(author.client, in: link.pool, store.profile)
        + ThrottleCounter.name(name, from: author.client)
      let charges: [ThrottleCharge]
      switch try ThrottleCharge.charge(counters, at: now, connection) {
      case .charged(let taken): charges = taken
      case .blocked(let until): return refused(.tooManyAttempts(until: until))
      }
      guard try sent.matches(typed) else {
        try CallerCode.fail(account, by: recipient, connection)
        return refused(.invalidCode)
      }
      try ThrottleCharge.recordSuccess(charges, connection)
      try CallerCode.delete(account, by: recipient, connection)
      return .success(try start(link, account, at: now))
    }
    return try outcome.get()
  }

  /// Emails a new link of the same campaign to the account's verified address, in place of one that
  /// has expired.
  public func renew(_ code: String, by author: Author) async throws {
    let (store, now) = (store, store.clock.now())
    try await store.write(by: author) { connection in
      let (link, account) = try Self.find(code, at: now, connection)
      let pool = link.pool
      guard link.isExpired(at: now), let id = link.campaign,
        let campaign = try BulkJob.find(id, in: pool, connection),
        let email = account.verifiedEmail, account.factors.isEmpty,
        try !Exemptions.isExempt(account.key, at: now, connection)
      else { throw EnrollmentLinkError.unknown }
      let isDue = try connection.run(
        """
        UPDATE campaign_user SET sent_at = \(now)
        WHERE scope_key = \(pool.key) AND job_id = \(id) AND account_key = \(account.key)
          AND (sent_at <= \(now.advanced(bySeconds: -Self.renewal))
            OR sent_at > \(Instant.latest(at: now)))
        """)
      guard isDue == 1 else { throw EnrollmentLinkError.renewedRecently(pool) }
      var entry = try Self.mail(
        to: account, email, from: link.about, of: campaign.link, in: pool, store, at: now,
        connection)
      entry.add(campaign.kind.field, .number(Int(id)))
      try entry.record(by: Author(actor: .server), at: now, connection)
    }
  }
}
