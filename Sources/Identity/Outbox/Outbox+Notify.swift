import Database
import Text

extension Outbox {
  /// The number of seconds after which a notice is no longer sent.
  static let noticeLifetime: Int64 = 7 * 86_400

  /// Notifies a user by email; does nothing for an account without an email address.
  ///
  /// A notice about second factors goes to every email address on file, each with its own link to
  /// report the change. A notice of account deletion also goes to all of them; other notices go
  /// only to the account's email address.
  ///
  /// `account` is the account as it was before the change, and `notified` an email address that
  /// another email already notifies.
  func notify(
    _ notice: UserNotice, _ account: Account, in pool: Pool, excluding notified: String? = nil,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let recipients: [String]
    switch notice {
    case .emailChanged(let old): recipients = [old]
    case .accountDeleted: recipients = account.addresses
    case _ where notice.isAboutFactors: recipients = account.addresses
    default: recipients = [account.email].compactMap { $0 }
    }
    guard !recipients.isEmpty else { return }
    let sender = try PoolEmailSettings.read(pool, connection).sender(of: .notice)
    for recipient in recipients
    where try recipient != notified && mayNotify(recipient, of: account, connection) {
      let link =
        notice.isAboutFactors && links.isKnown
        ? try reportedChange(to: notice, account, at: now, connection) : nil
      var own = account.email
      if case .emailChanged(let old) = notice { own = old }
      let mail = NoticeMail(
        notice: notice, pool: pool, email: own == recipient ? own : nil, at: now,
        reportLink: link)
      try add(
        OutboxMessage(
          purpose: notice.kind.rawValue, recipient: recipient,
          text: written(.notice(mail)), from: sender,
          expiresAt: now.advanced(bySeconds: Self.noticeLifetime),
          about: notice == .accountDeleted ? account.id : nil),
        to: account, in: pool, at: now, connection)
    }
  }

  /// Returns whether an address of an account may get a notice now.
  ///
  /// One that was never verified may belong to anyone whose address a user typed in. It gets one notice,
  /// ever: that's enough to tell its owner.
  func mayNotify(
    _ address: String, of account: Account, _ connection: borrowing Connection
  ) throws -> Bool {
    let folded = AccountRules.folded(email: address)
    guard !account.hasVerified(folded) else { return true }
    return try connection.run(
      """
      INSERT INTO noticed_address (account_key, address) VALUES (\(account.key), \(folded))
      ON CONFLICT DO NOTHING
      """) == 1
  }

  func reportedChange(
    to notice: UserNotice, _ account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> String {
    let code = try UserLink.insert(
      .reportedChange, about: notice.stored, of: account, random: random, at: now, connection)
    return links.link(code, to: .reportedChange)
  }

  /// Notifies a user of a change to their sign-in that someone else made.
  func notifyChange(
    from old: Account, to new: Account, removed: [Factor], newPassword: Bool, in pool: Pool,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    if case .user = author.actor { return }
    if newPassword || (old.hasPassword && !new.hasPassword) {
      try notify(.passwordChanged, old, in: pool, at: now, connection)
    }
    if let email = old.email, !email.isSameBytes(as: new.email ?? "") {
      try notify(.emailChanged(from: email), old, in: pool, at: now, connection)
    }
    if !removed.isEmpty {
      try notify(.factorsRemoved(names: removed.map(\.label)), old, in: pool, at: now, connection)
    }
    try notifyAdded(from: old, to: new, in: pool, at: now, connection)
  }

  /// Notifies a user of factors that someone else added.
  ///
  /// A factor whose phone number changed is also an added factor.
  func notifyAdded(
    from old: Account, to new: Account, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let added = new.factors(addedTo: old)
    guard !added.isEmpty else { return }
    try notify(.factorsAdded(names: added.map(\.label)), old, in: pool, at: now, connection)
  }
}

extension Account {
  /// The maximum number of email addresses that notices of one account go to.
  private static let mostAddresses = 10

  /// All email addresses on file without duplicates, the account's own first.
  ///
  /// Invalid addresses that identity providers reported are skipped.
  public var addresses: [String] {
    var known: [String] = []
    for address in onFile where known.count < Self.mostAddresses {
      let folded = AccountRules.folded(email: address)
      do throws(AccountError) { try AccountRules.checkEmail(folded) } catch { continue }
      if !known.contains(where: { $0.isSameBytes(as: folded) }) { known.append(folded) }
    }
    return known
  }

  /// Whether a folded address was verified while the account had it, or a provider that has it vouches
  /// for it.
  fileprivate func hasVerified(_ address: String) -> Bool {
    func isSame(_ other: String?) -> Bool {
      other.map { AccountRules.folded(email: $0).isSameBytes(as: address) } ?? false
    }
    return emailVerified && isSame(email) || initialEmailVerified && isSame(initialEmail)
      || providers.contains { $0.isEmailVerified && isSame($0.email) }
  }
}
