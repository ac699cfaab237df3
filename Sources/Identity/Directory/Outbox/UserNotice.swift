import Database
import Text

/// A change to a user's account that the user is notified of by email.
public struct UserNotice: Sendable, Equatable {
  /// What was changed, and by whom; the raw value is stored.
  public enum Kind: String, CaseIterable, Sendable {
    /// The user, or someone with their session, unenrolled a factor.
    case factorWithdrawn = "notice-factor-withdrawn"
    /// Someone other than the user removed factors.
    case factorsRemoved = "notice-factors-removed"
    /// The link in an email about a new factor was used to remove it.
    case factorReverted = "notice-factor-reverted"
    /// Someone other than the user added factors.
    case factorsAdded = "notice-factors-added"
    /// The user, or someone with their session, enrolled a factor.
    case factorEnrolled = "notice-new-factor"
    /// Someone other than the user restored removed factors.
    case factorsRestored = "notice-factors-restored"
    /// A factor was suspended: its codes are rejected for a while.
    case factorSuspended = "notice-factor-suspended"
    case factorResumed = "notice-factor-resumed"
    /// An agent stored how far the clock of a factor's device is off.
    case factorResynchronized = "notice-factor-resynchronized"
    /// An agent had a factor's codes compared with the server's time again.
    case clockOffsetCleared = "notice-clock-offset-cleared"
    /// Someone other than the user renamed a factor.
    case factorRenamed = "notice-factor-renamed"
    /// The account, which was locked after the user reported a change, is unlocked.
    case changesAllowed = "notice-changes-allowed"
    /// Codes are accepted again after too many incorrect ones.
    case codesUnlocked = "notice-codes-unlocked"
    /// Someone other than the user ended the sessions.
    case sessionsEnded = "notice-sessions-ended"
    case temporaryCodeMade = "notice-temporary-code"
    case temporaryCodeEnded = "notice-temporary-code-ended"
    /// The user, or someone with their session, generated recovery codes.
    case recoveryCodesMade = "notice-recovery-codes"
    /// Someone other than the user revoked the recovery codes.
    case recoveryCodesVoided = "notice-recovery-codes-voided"
    case recoveryCodeUsed = "notice-recovery-code-used"
    case enrollmentLinkSent = "notice-enrollment-link"
    case factorEnrolledByLink = "notice-factor-enrolled"
    /// Someone other than the user changed the password.
    case passwordChanged = "notice-password-changed"
    /// The user, or someone with their session, set a password.
    case passwordSet = "notice-password-set"
    /// The user, or someone with their session, removed the password, and with it email links.
    case passwordRemoved = "notice-password-removed"
    /// The user, or someone with their session, linked another phone number.
    case phoneNumberSet = "notice-phone-number-set"
    case phoneNumberRemoved = "notice-phone-number-removed"
    /// The user, or someone with their session, began to sign in by email link.
    case emailLinkAdded = "notice-email-link-added"
    /// An identity provider was linked.
    case providerLinked = "notice-provider-linked"
    /// The user, or someone with their session, unlinked an identity provider.
    case providerUnlinked = "notice-provider-unlinked"
    /// Someone other than the user changed the email address; the notice goes to the old one.
    case emailChanged = "notice-email-changed"
    /// Someone other than the user deleted the account.
    case accountDeleted = "notice-account-deleted"
    /// The user, or someone with their session, deleted the account.
    case ownAccountDeleted = "notice-own-account-deleted"
    /// There were more changes than are reported one by one, until this time.
    case manyChanges = "notice-many-changes"

    /// Whether someone with the user's session, password, or mailbox can make the change.
    ///
    /// The others report changes by administrators and programs, which can be thousands at once.
    public var isAlert: Bool {
      switch self {
      case .factorWithdrawn, .factorReverted, .factorEnrolled, .recoveryCodesMade,
        .recoveryCodeUsed, .factorEnrolledByLink, .passwordSet, .passwordRemoved, .phoneNumberSet,
        .phoneNumberRemoved, .emailLinkAdded, .providerLinked, .providerUnlinked,
        .ownAccountDeleted, .manyChanges:
        true
      default: false
      }
    }

    /// Whether the notice contains a link to report the change: it's about second factors, or someone
    /// with the user's session can have made it.
    var isReportable: Bool {
      ![.passwordChanged, .emailChanged, .accountDeleted, .ownAccountDeleted].contains(self)
    }

    /// Whether a number is stored with the kind.
    fileprivate var hasNumber: Bool {
      [.factorSuspended, .temporaryCodeMade, .manyChanges, .recoveryCodeUsed].contains(self)
    }
  }

  public let kind: Kind
  /// The names of factors or of a provider, or a former email address; the old and the new name of a
  /// renamed factor.
  public let names: [String]
  private let number: Int64?

  public var name: String { names.first ?? "" }
  public var newName: String { names.last ?? "" }
  /// When it ends: a suspension, a temporary code, or the time without more notices.
  public var until: Instant { Instant(microseconds: number ?? 0) }
  /// The number of recovery codes that are left.
  public var left: Int { Int(number ?? 0) }

  private init(_ kind: Kind, _ names: [String], number: Int64?) {
    assert(kind.hasNumber == (number != nil), "\(kind)")
    (self.kind, self.names, self.number) = (kind, names, number)
  }

  public init(_ kind: Kind, _ names: [String] = []) { self.init(kind, names, number: nil) }

  public init(_ kind: Kind, _ names: [String] = [], until: Instant) {
    self.init(kind, names, number: until.microseconds)
  }

  public init(_ kind: Kind, left: Int) { self.init(kind, [], number: Int64(left)) }

  /// The change in the form in which a link stores it.
  package var stored: String {
    StoredCode(kind.rawValue, names + [number].compactMap { $0.map(String.init) }).text
  }

  /// Reads a stored change; nil for text of an earlier version.
  init?(stored: String) {
    guard let stored = StoredCode(stored), let kind = Kind(rawValue: stored.code) else {
      return nil
    }
    guard kind.hasNumber else {
      self.init(kind, stored.values)
      return
    }
    guard let number = stored.values.last.flatMap({ Int64($0) }) else { return nil }
    self.init(kind, stored.values.dropLast(), number: number)
  }
}

extension Outbox {
  /// The number of seconds after which a notice is no longer sent.
  static let noticeLifetime: Int64 = 7 * 86_400

  /// Notifies a user by email; does nothing for an account without an email address.
  ///
  /// Another Countersign tells its users itself. Google tells its own nothing, so they hear of what was
  /// changed there.
  ///
  /// A notice that can be reported goes to every email address on file, each with its own link to
  /// do so. A notice of account deletion also goes to all of them; other notices go only to the
  /// account's email address.
  ///
  /// `account` is the account as it was before the change, and `notified` an email address that
  /// another email already notifies. `quota` bounds the emails to the account in an hour: instead of
  /// the first one beyond it, ``UserNotice/Kind/manyChanges`` is sent, then no other. It's nil for a
  /// change that is refused beyond a quota, or happens once.
  func notify(
    _ notice: UserNotice, _ account: Account, in pool: Pool, excluding notified: String? = nil,
    within quota: OwnChange? = .supportNotice, at now: Instant, _ connection: borrowing Connection
  ) throws {
    guard
      pool.kind == .hosted
        || pool.kind == .identityPlatform
          && [.factorsRemoved, .sessionsEnded].contains(notice.kind)
    else { return }
    var (notice, notified) = (notice, notified)
    if let quota, !account.addresses.isEmpty {
      switch try quota.room(of: account.key, at: now, connection) {
      case .within: break
      case .last(let until): (notice, notified) = (UserNotice(.manyChanges, until: until), nil)
      case .beyond: return
      }
    }
    let recipients: [String]
    switch notice.kind {
    case .emailChanged: recipients = notice.names
    case .accountDeleted, .ownAccountDeleted: recipients = account.addresses
    case let kind where kind.isReportable: recipients = account.addresses
    default: recipients = [account.email].compactMap { $0 }
    }
    guard !recipients.isEmpty else { return }
    let sender = try PoolEmailSettings.read(pool, connection).sender(of: .notice)
    for recipient in recipients
    where try recipient != notified && mayNotify(recipient, of: account, connection) {
      let link =
        notice.kind.isReportable && links.isKnown
        ? try reportLink(for: notice, of: account, to: recipient, at: now, connection) : nil
      let own = notice.kind == .emailChanged ? notice.name : account.email
      let mail = NoticeMail(
        notice: notice, pool: pool, email: own == recipient ? own : nil, at: now,
        reportLink: link)
      try add(
        OutboxMessage(
          purpose: notice.kind.rawValue, recipient: recipient,
          text: written(.notice(mail)), from: sender,
          expiresAt: now.advanced(bySeconds: Self.noticeLifetime),
          about: [.accountDeleted, .ownAccountDeleted].contains(notice.kind) ? account.id : nil),
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

  /// Creates the link with which the reader of an email to an address reports a change.
  func reportLink(
    for notice: UserNotice, of account: Account, to address: String, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> String {
    let code = try UserLink.insert(
      .reportedChange, about: notice.stored, of: account, to: address, random: random, at: now,
      connection)
    return links.link(code, to: .reportedChange)
  }

  /// Notifies a user of a change of how they sign in that was made in their session.
  func notifyOwn(
    _ notice: UserNotice, _ account: Account, in pool: Pool, excluding notified: String? = nil,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    try notify(
      notice, account, in: pool, excluding: notified, within: .notice, at: now, connection)
  }

  /// Notifies a user of the changes in ``SignInChange`` that an update in their session made, except
  /// of the address: the former one gets a link to restore it.
  func notifyOwnChange(
    from old: Account, to new: Account, newPassword: Bool, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    var notices: [UserNotice] = []
    if newPassword { notices.append(UserNotice(.passwordSet)) }
    if old.hasPassword && !new.hasPassword || old.signsInByLink && !new.signsInByLink {
      notices.append(UserNotice(.passwordRemoved))
    }
    if old.phoneNumber != new.phoneNumber {
      notices.append(
        UserNotice(new.phoneNumber == nil ? .phoneNumberRemoved : .phoneNumberSet))
    }
    for link in old.providers where !new.providers.contains(where: { $0.provider == link.provider })
    {
      notices.append(UserNotice(.providerUnlinked, [link.provider]))
    }
    for notice in notices { try notifyOwn(notice, old, in: pool, at: now, connection) }
  }

  /// Notifies a user of a change to their sign-in that someone else made.
  func notifyChange(
    from old: Account, to new: Account, removed: [Factor], newPassword: Bool, in pool: Pool,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    if case .user = author.actor { return }
    var notices: [UserNotice] = []
    if newPassword || (old.hasPassword && !new.hasPassword) {
      notices.append(UserNotice(.passwordChanged))
    }
    if let email = old.email, !email.isSameBytes(as: new.email ?? "") {
      notices.append(UserNotice(.emailChanged, [email]))
    }
    if !removed.isEmpty { notices.append(UserNotice(.factorsRemoved, removed.map(\.label))) }
    for notice in notices {
      try notify(notice, old, in: pool, within: author.noticeQuota, at: now, connection)
    }
    try notifyAdded(from: old, to: new, in: pool, by: author, at: now, connection)
  }

  /// Notifies a user of factors that someone else added.
  ///
  /// A factor whose phone number changed is also an added factor.
  func notifyAdded(
    from old: Account, to new: Account, in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let added = new.factors(addedTo: old)
    guard !added.isEmpty else { return }
    try notify(
      UserNotice(.factorsAdded, added.map(\.label)), old, in: pool, within: author.noticeQuota,
      at: now, connection)
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

  /// Whether a folded address was verified, or a provider that has it vouches for it.
  fileprivate func hasVerified(_ address: String) -> Bool {
    func isSame(_ other: String?) -> Bool {
      other.map { AccountRules.folded(email: $0).isSameBytes(as: address) } ?? false
    }
    return emailVerified && isSame(email) || initialEmailVerified && isSame(initialEmail)
      || providers.contains { $0.isEmailVerified && isSame($0.email) }
  }
}
