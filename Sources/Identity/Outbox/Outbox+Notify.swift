import Database
import Text

extension Outbox {
  /// How long a notice is worth sending, in seconds.
  private static let noticeLifetime: Int64 = 7 * 86_400

  /// Tells a user; does nothing for an account without an address.
  ///
  /// What concerns second factors goes to every address on file, each once and with a link of its own
  /// by which its reader says that it was none of theirs. The end of the account goes to all of them
  /// too, and all else to the account's address.
  ///
  /// - Parameters:
  ///   - notice: What was done.
  ///   - account: Whose account it was done to, as it was before.
  ///   - scope: The user pool.
  ///   - told: An address that is told of it in another mail.
  ///   - now: When it was done.
  ///   - connection: The transaction of what was done.
  /// - Throws: What the database throws.
  func notify(
    _ notice: UserNotice, _ account: Account, in scope: Scope, besides told: String? = nil,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let recipients: [String]
    switch notice {
    case .emailChanged(let old): recipients = [old]
    case .accountDeleted: recipients = account.addresses
    case _ where notice.isAboutFactors: recipients = account.addresses
    default: recipients = [account.email].compactMap { $0 }
    }
    for recipient in recipients where recipient != told {
      let link =
        notice.isAboutFactors
        ? try reportedChange(to: notice.fact, account, at: now, connection) : nil
      var own = account.email
      if case .emailChanged(let old) = notice { own = old }
      let text = NoticeText(
        notice: notice, application: NoticeText.application(scope),
        email: own == recipient ? own : nil, at: now, reportedChange: link)
      try add(
        OutboxMessage(
          channel: .mail, purpose: notice.purpose, recipient: recipient, language: "en",
          subject: text.subject, body: text.body,
          expiresAt: now.advanced(bySeconds: Self.noticeLifetime)),
        to: account, in: scope, at: now, connection)
    }
  }

  /// A link by which whoever reads it says that something was none of theirs.
  func reportedChange(
    to fact: String, _ account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> String {
    let code = try UserLink.insert(
      .reportedChange, about: fact, of: account, random: random, at: now, connection)
    return links.link(code, to: .reportedChange)
  }

  /// Tells a user of a change that somebody else has made to how they sign in.
  func notifyChange(
    from old: Account, to new: Account, removed: [Factor], newPassword: Bool, in scope: Scope,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    if case .user = author.actor { return }
    if newPassword || (old.hasPassword && !new.hasPassword) {
      try notify(.passwordChanged, old, in: scope, at: now, connection)
    }
    if let email = old.email, !email.isSameBytes(as: new.email ?? "") {
      try notify(.emailChanged(from: email), old, in: scope, at: now, connection)
    }
    if !removed.isEmpty {
      try notify(.factorsRemoved(names: removed.map(\.label)), old, in: scope, at: now, connection)
    }
    try notifyAdded(from: old, to: new, in: scope, at: now, connection)
  }

  /// Tells a user of factors that somebody else has given them; whose number is another one now is
  /// such a factor.
  func notifyAdded(
    from old: Account, to new: Account, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let added = new.factors(addedTo: old)
    guard !added.isEmpty else { return }
    try notify(.factorsAdded(names: added.map(\.label)), old, in: scope, at: now, connection)
  }
}

extension Account {
  /// The most addresses that one account is told at.
  private static let mostAddresses = 10

  /// Every address on file, each once, the account's own first.
  ///
  /// What other providers say is an address need not be one.
  public var addresses: [String] {
    var known: [String] = []
    for address in onFile where known.count < Self.mostAddresses {
      let folded = AccountRules.folded(email: address)
      do throws(AccountError) { try AccountRules.checkEmail(folded) } catch { continue }
      if !known.contains(where: { $0.isSameBytes(as: folded) }) { known.append(folded) }
    }
    return known
  }
}
