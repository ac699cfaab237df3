import Database
import Text

public enum SentLink: Sendable, Equatable {
  case valid
  case used(Instant)
  case expired
  /// It can't be used anymore, because another link of its kind was sent or used instead.
  case replaced
  /// It can't be used, because the account has changed or is disabled, its sessions ended, a backup
  /// was restored, its campaign was stopped, or the pool doesn't allow it now.
  case invalid

  /// Returns the states of the links in messages to an account, by the messages' IDs.
  ///
  /// A message and its link are written in one transaction, so they have the same time. Links to
  /// report a change aren't included: they're a part of other messages, and one use applies to all.
  static func states(
    in messages: [OutboxEntry], to account: Account, under policy: StoredPolicy, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> [Int64: SentLink] {
    var states: [Int64: SentLink] = [:]
    let purposes = Set(OutOfBandCode.Kind.allCases.map(\.purpose.rawValue))
    let withCode = messages.filter { purposes.contains($0.purpose) }
    if !withCode.isEmpty {
      let codes = try OutOfBandRecord.created(
        at: Set(withCode.map(\.createdAt)), in: policy.pool, connection)
      let methods = try SignIns.methods(policy.pool, connection)
      for message in withCode {
        states[message.id] =
          codes.first { $0.isSent(in: message, to: account) }?
          .sentLink(to: account, under: methods, at: now)
      }
    }
    let withEnrollment = messages.filter { $0.purpose == MessagePurpose.enrollmentLink.rawValue }
    if !withEnrollment.isEmpty {
      let links = try EnrollmentLinks.sent(to: account, under: policy, at: now, connection)
      for message in withEnrollment { states[message.id] = links[message.createdAt] }
    }
    return states
  }
}

extension OutOfBandRecord {
  fileprivate static func created(
    at times: Set<Instant>, in pool: Pool, _ connection: borrowing Connection
  ) throws -> [OutOfBandRecord] {
    try connection.all(
      """
      SELECT \(columns), \(isReplaced) FROM oob_code c \(index: "oob_code_by_scope")
      WHERE c.scope_key = \(pool.key)
        AND c.created_at IN (\(SQL.list(times)))
      """
    ) { row in
      var record = try OutOfBandRecord(&row, in: pool)
      record.code.isReplaced = try row.next()
      return record
    }
  }

  /// Whether a message to an account has the link with this code, which was created at its time.
  fileprivate func isSent(in message: OutboxEntry, to account: Account) -> Bool {
    // A sign-in's code has no account.
    createdAt == message.createdAt && (self.account ?? account.key) == account.key
      && code.kind.purpose.rawValue == message.purpose
      && OutOfBandMail.recipient(of: code.kind, email: code.email, newEmail: code.newEmail)
        .isSameBytes(as: message.recipient)
  }

  fileprivate func sentLink(
    to account: Account, under methods: SignInMethods, at now: Instant
  ) -> SentLink {
    if let usedAt = code.usedAt { return code.isReplaced ? .replaced : .used(usedAt) }
    do throws(OutOfBandError) {
      try check(in: nil, of: account, at: now)
      let isRefused =
        switch code.kind {
        case .passwordReset: !methods.password
        case .signIn: !methods.emailLink
        default: false
        }
      return isRefused || code.pool.isDisabled ? .invalid : .valid
    } catch {
      if case .expiredCode = error, !isExpiredEarly { return .expired }
      return .invalid
    }
  }
}

extension EnrollmentLinks {
  /// Returns the states of an account's links by the times when they were sent.
  fileprivate static func sent(
    to account: Account, under policy: StoredPolicy, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> [Instant: SentLink] {
    let links = try UserLink.list(.enrollment, of: account, in: policy.pool, connection)
    let reports = try UserLink.list(.reportedChange, of: account, in: policy.pool, connection)
    let isRefused = try refusal(account, policy, connection) != nil
    return Dictionary(
      try links.map { link in
        (
          link.createdAt,
          state(
            of: link, to: account, isRefused: isRefused, isStopped: try link.isStopped(connection),
            isReplaced: links.contains {
              $0.createdAt > link.createdAt && $0.createdAt == link.usedAt
            }, isReported: reports.contains { $0.usedAt != nil && $0.usedAt == link.usedAt },
            at: now)
        )
      }, uniquingKeysWith: { $1 })
  }

  private static func state(
    of link: UserLink, to account: Account, isRefused: Bool, isStopped: Bool, isReplaced: Bool,
    isReported: Bool, at now: Instant
  ) -> SentLink {
    if let usedAt = link.usedAt {
      return isReplaced ? .replaced : isReported ? .invalid : .used(usedAt)
    }
    guard link.failures < tries, link.generation == account.generation, !isStopped else {
      return .invalid
    }
    guard !link.isExpired(at: now) else { return link.isExpiredEarly ? .invalid : .expired }
    return isRefused ? .invalid : .valid
  }
}
