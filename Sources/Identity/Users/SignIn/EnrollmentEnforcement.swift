import Database

/// What enforcement means for a user who signs in.
struct EnforcedEnrollment {
  let policy: StoredPolicy
  let duty: EnrollmentDuty

  /// Reads what enforcement means for an account; nil if the pool doesn't enforce enrollment.
  static func find(
    _ account: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> EnforcedEnrollment? {
    let isSet = try connection.first(
      "SELECT enforcement IS NOT NULL FROM scope WHERE scope_key = \(pool.key)"
    ) { try $0.next() as Bool }
    guard isSet == true else { return nil }
    let policy = try Policies.stored(pool.key, connection)
    return EnforcedEnrollment(
      policy: policy, duty: try EnrollmentDuty(of: account, policy, at: now, connection))
  }

  /// Returns whether a session without a second factor gets tokens that say the user should enroll.
  static func isDue(
    _ account: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try find(account, in: pool, at: now, connection)?.duty.isDue ?? false
  }
}

extension EnrollmentDuty {
  init(
    of account: Account, _ policy: StoredPolicy, at now: Instant, _ connection: borrowing Connection
  ) throws {
    self.init(
      policy.edit, factors: Set(account.factors.map(\.kind)), isAnonymous: account.isAnonymous,
      isExempt: try Exemptions.isExempt(account.key, at: now, connection),
      createdAt: account.createdAt, at: now)
  }
}

extension Store {
  /// The enrollment link of a user whose sessions without a second factor are refused.
  private enum RefusalLink {
    /// A new one, which the next sign-in sends to this address.
    case new(email: String)
    case existing
  }

  /// Returns whether sessions of an account without a second factor are refused.
  ///
  /// No one is locked out: users who have no enrollment link and can't be sent one, such as those
  /// without a verified email address, get tokens that say they should enroll.
  func refusesSessions(
    of account: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try refusalLink(of: account, in: pool, at: now, connection) != nil
  }

  private func refusalLink(
    of account: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> RefusalLink? {
    guard let enforced = try EnforcedEnrollment.find(account, in: pool, at: now, connection),
      enforced.duty.isDue,
      let email = try refusalEmail(of: account, under: enforced.policy, connection)
    else { return nil }
    // A second attempt right away must not invalidate the link in the first email.
    if try UserLink.hasEnrollmentLink(account, sentWithin: 300, at: now, connection) {
      return .existing
    }
    let name = CounterName.enrollmentLinks(to: email, in: pool.key)
    if try HourlyQuota.exhausted(name, limit: MailQuota.perAddress, at: now, connection) == nil {
      return .new(email: email)
    }
    let lifetime = UserLink.Kind.enrollment.lifetime
    return try UserLink.hasEnrollmentLink(account, sentWithin: lifetime, at: now, connection)
      ? .existing : nil
  }

  /// Returns the address that the enrollment link of a user who is due is sent to; nil if a policy
  /// doesn't refuse such users, or none can be sent.
  func refusalEmail(
    of account: Account, under policy: StoredPolicy, _ connection: borrowing Connection
  ) throws -> String? {
    guard policy.enforcement?.applied(carriesMail: outbox.carriesMail).mode == .refuse,
      try EnrollmentLinks.canSend(to: account, under: policy, connection)
    else { return nil }
    return account.email
  }

  /// Returns whether a session isn't continued with new tokens: it has no second factor, and those of
  /// its account without one are refused.
  func refusesToContinue(
    _ session: UserSession, of account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try session.secondFactor == nil
      && refusesSessions(of: account, in: session.pool, at: now, connection)
  }

  /// Returns whether a sign-in without a second factor is refused, and emails the user an
  /// enrollment link if it is.
  ///
  /// The user's first factor was correct, and the transaction of the sign-in must not be rolled
  /// back.
  func refusesSignIn(
    of account: Account, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let link = try refusalLink(of: account, in: pool, at: now, connection) else {
      return false
    }
    guard case .new(let email) = link else { return true }
    let name = CounterName.enrollmentLinks(to: email, in: pool.key)
    _ = try HourlyQuota.take(name, limit: MailQuota.perAddress, at: now, connection)
    var entry = try EnrollmentLinks.mail(
      to: account, email, from: "", in: pool, self, at: now, connection)
    entry.add(.enforcement, .code(Enforcement.Mode.refuse.rawValue))
    try entry.record(by: Author(actor: .server), at: now, connection)
    return true
  }
}

extension Policies {
  public func enrollmentDuty(
    of session: UserSession
  ) async throws -> EnrollmentDuty {
    try await store.read { now, connection in
      let account = try Sessions.check(session, connection)
      return try EnrollmentDuty(
        of: account, try Policies.stored(session.pool.key, connection), at: now,
        connection)
    }
  }
}

public enum SignInWithoutFactor: Sendable, Equatable {
  case accepted
  /// The server enforces enrollment from a time on; nil if it already does.
  case enforced(Enforcement.Mode, from: Instant?)
}

extension Store {
  /// Users who couldn't be sent an enrollment link aren't refused.
  ///
  /// `account` is given without factors that are to be removed.
  func signInWithoutFactor(
    of account: Account, under policy: StoredPolicy, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> SignInWithoutFactor {
    guard policy.enforcement != nil,
      let dueAt = try EnrollmentDuty(of: account, policy, at: now, connection).dueAt
    else { return .accepted }
    let isRefused = try refusalEmail(of: account, under: policy, connection) != nil
    return .enforced(isRefused ? .refuse : .claim, from: dueAt > now ? dueAt : nil)
  }
}

extension Policies {
  /// Returns the strictest of what happens when users of a pool without a second factor sign in.
  ///
  /// - Returns: A refusal if the pool refuses users, or else a claim if it reports them, from the
  ///   first time at which a user can be due. A server that sends no email refuses no one.
  public func signInWithoutFactor(
    in pool: Pool
  ) async throws -> SignInWithoutFactor {
    let (now, carriesMail) = (store.clock.now(), store.outbox.carriesMail)
    return try await store.read { connection in
      let edit = try Policies.stored(pool.key, connection).edit
      guard let enforcement = edit.effectiveEnforcement, let due = edit.firstDue else {
        return .accepted
      }
      return .enforced(
        enforcement.applied(carriesMail: carriesMail).mode, from: due > now ? due : nil)
    }
  }
}
