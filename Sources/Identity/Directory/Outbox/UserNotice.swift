import Database
import Text

/// A change to a user's account that the user is notified of by email.
public enum UserNotice: Sendable, Equatable {
  /// The user, or someone with their session, unenrolled a factor.
  case factorWithdrawn(name: String)
  /// Someone other than the user removed factors.
  case factorsRemoved(names: [String])
  /// The link in an email about a new factor was used to remove it.
  case factorReverted(name: String)
  /// Someone other than the user added factors.
  case factorsAdded(names: [String])
  /// The user, or someone with their session, enrolled a factor.
  case factorEnrolled(name: String)
  /// Someone other than the user restored removed factors.
  case factorsRestored(names: [String])
  /// A factor was suspended: its codes are rejected for a while.
  case factorSuspended(name: String, until: Instant)
  case factorResumed(name: String)
  /// An agent stored how far the clock of a factor's device is off.
  case factorResynchronized(name: String)
  /// An agent had a factor's codes compared with the server's time again.
  case clockOffsetCleared(name: String)
  /// Someone other than the user renamed a factor.
  case factorRenamed(from: String, to: String)
  /// The account, which was locked after the user reported a change, is unlocked.
  case changesAllowed
  /// Codes are accepted again after too many incorrect ones.
  case codesUnlocked
  /// Someone other than the user ended the sessions.
  case sessionsEnded
  case temporaryCodeMade(until: Instant)
  case temporaryCodeEnded
  /// The user, or someone with their session, generated recovery codes.
  case recoveryCodesMade
  /// Someone other than the user revoked the recovery codes.
  case recoveryCodesVoided
  case recoveryCodeUsed(left: Int)
  case enrollmentLinkSent
  case factorEnrolledByLink(name: String)
  /// Someone other than the user changed the password.
  case passwordChanged
  /// The user, or someone with their session, set a password.
  case passwordSet
  /// The user, or someone with their session, removed the password, and with it email links.
  case passwordRemoved
  /// The user, or someone with their session, linked another phone number.
  case phoneNumberSet
  case phoneNumberRemoved
  /// The user, or someone with their session, began to sign in by email link.
  case emailLinkAdded
  /// An identity provider was linked.
  case providerLinked(name: String)
  /// The user, or someone with their session, unlinked an identity provider.
  case providerUnlinked(name: String)
  /// Someone other than the user changed the email address; the notice goes to the old one.
  case emailChanged(from: String)
  /// Someone other than the user deleted the account.
  case accountDeleted
  /// The user, or someone with their session, deleted the account.
  case ownAccountDeleted
  /// There were more changes than are reported one by one, until this time.
  case manyChanges(until: Instant)
}

extension UserNotice {
  /// The kind of a change, with its stable code.
  public enum Kind: String, CaseIterable, Sendable {
    case factorWithdrawn = "notice-factor-withdrawn"
    case factorsRemoved = "notice-factors-removed"
    case factorReverted = "notice-factor-reverted"
    case factorsAdded = "notice-factors-added"
    case factorEnrolled = "notice-new-factor"
    case factorsRestored = "notice-factors-restored"
    case factorSuspended = "notice-factor-suspended"
    case factorResumed = "notice-factor-resumed"
    case factorResynchronized = "notice-factor-resynchronized"
    case clockOffsetCleared = "notice-clock-offset-cleared"
    case factorRenamed = "notice-factor-renamed"
    case changesAllowed = "notice-changes-allowed"
    case codesUnlocked = "notice-codes-unlocked"
    case sessionsEnded = "notice-sessions-ended"
    case temporaryCodeMade = "notice-temporary-code"
    case temporaryCodeEnded = "notice-temporary-code-ended"
    case recoveryCodesMade = "notice-recovery-codes"
    case recoveryCodesVoided = "notice-recovery-codes-voided"
    case recoveryCodeUsed = "notice-recovery-code-used"
    case enrollmentLinkSent = "notice-enrollment-link"
    case factorEnrolledByLink = "notice-factor-enrolled"
    case passwordChanged = "notice-password-changed"
    case passwordSet = "notice-password-set"
    case passwordRemoved = "notice-password-removed"
    case phoneNumberSet = "notice-phone-number-set"
    case phoneNumberRemoved = "notice-phone-number-removed"
    case emailLinkAdded = "notice-email-link-added"
    case providerLinked = "notice-provider-linked"
    case providerUnlinked = "notice-provider-unlinked"
    case emailChanged = "notice-email-changed"
    case accountDeleted = "notice-account-deleted"
    case ownAccountDeleted = "notice-own-account-deleted"
    case manyChanges = "notice-many-changes"

    /// Whether someone with the user's session, password, or mailbox can make the change.
    ///
    /// The others report changes by administrators and programs, which can be thousands at once.
    var isAlert: Bool {
      switch self {
      case .factorWithdrawn, .factorReverted, .factorEnrolled, .recoveryCodesMade,
        .recoveryCodeUsed, .factorEnrolledByLink, .passwordSet, .passwordRemoved, .phoneNumberSet,
        .phoneNumberRemoved, .emailLinkAdded, .providerLinked, .providerUnlinked,
        .ownAccountDeleted, .manyChanges:
        true
      case .factorsRemoved, .factorsAdded, .factorsRestored, .factorSuspended, .factorResumed,
        .factorResynchronized, .clockOffsetCleared, .factorRenamed, .changesAllowed,
        .codesUnlocked, .sessionsEnded, .temporaryCodeMade, .temporaryCodeEnded,
        .recoveryCodesVoided, .enrollmentLinkSent, .passwordChanged, .emailChanged,
        .accountDeleted:
        false
      }
    }
  }

  public var kind: Kind { entry.kind }

  /// The kind, and the values that a link stores with it.
  private var entry: (kind: Kind, values: [String]) {
    switch self {
    case .factorWithdrawn(let name): (.factorWithdrawn, [name])
    case .factorsRemoved(let names): (.factorsRemoved, names)
    case .factorReverted(let name): (.factorReverted, [name])
    case .factorsAdded(let names): (.factorsAdded, names)
    case .factorEnrolled(let name): (.factorEnrolled, [name])
    case .factorsRestored(let names): (.factorsRestored, names)
    case .factorSuspended(let name, let until):
      (.factorSuspended, [name, String(until.microseconds)])
    case .factorResumed(let name): (.factorResumed, [name])
    case .factorResynchronized(let name): (.factorResynchronized, [name])
    case .clockOffsetCleared(let name): (.clockOffsetCleared, [name])
    case .factorRenamed(let old, let new): (.factorRenamed, [old, new])
    case .changesAllowed: (.changesAllowed, [])
    case .codesUnlocked: (.codesUnlocked, [])
    case .sessionsEnded: (.sessionsEnded, [])
    case .temporaryCodeMade(let until): (.temporaryCodeMade, [String(until.microseconds)])
    case .temporaryCodeEnded: (.temporaryCodeEnded, [])
    case .recoveryCodesMade: (.recoveryCodesMade, [])
    case .recoveryCodesVoided: (.recoveryCodesVoided, [])
    case .recoveryCodeUsed(let left): (.recoveryCodeUsed, [String(left)])
    case .enrollmentLinkSent: (.enrollmentLinkSent, [])
    case .factorEnrolledByLink(let name): (.factorEnrolledByLink, [name])
    case .passwordChanged: (.passwordChanged, [])
    case .passwordSet: (.passwordSet, [])
    case .passwordRemoved: (.passwordRemoved, [])
    case .phoneNumberSet: (.phoneNumberSet, [])
    case .phoneNumberRemoved: (.phoneNumberRemoved, [])
    case .emailLinkAdded: (.emailLinkAdded, [])
    case .providerLinked(let name): (.providerLinked, [name])
    case .providerUnlinked(let name): (.providerUnlinked, [name])
    case .emailChanged(let old): (.emailChanged, [old])
    case .accountDeleted: (.accountDeleted, [])
    case .ownAccountDeleted: (.ownAccountDeleted, [])
    case .manyChanges(let until): (.manyChanges, [String(until.microseconds)])
    }
  }

  /// Whether the notice contains a link to report the change: it's about second factors, or someone
  /// with the user's session can have made it.
  var isReportable: Bool {
    switch self {
    case .passwordChanged, .emailChanged, .accountDeleted, .ownAccountDeleted: false
    default: true
    }
  }
}

extension UserNotice {
  /// The change in the form in which a link stores it.
  package var stored: String { StoredCode(entry.kind.rawValue, entry.values).text }

  /// Reads a stored change; nil for text of an earlier version.
  init?(stored: String) {
    guard let stored = StoredCode(stored), let kind = Kind(rawValue: stored.code),
      let notice = Self.read(kind, stored.values)
    else { return nil }
    self = notice
  }

  private static func read(_ kind: Kind, _ values: [String]) -> UserNotice? {
    func instant(_ text: String) -> Instant? { Int64(text).map(Instant.init(microseconds:)) }
    let (first, second) = (values.first ?? "", values.dropFirst().first ?? "")
    return switch kind {
    case .factorWithdrawn: .factorWithdrawn(name: first)
    case .factorsRemoved: .factorsRemoved(names: values)
    case .factorReverted: .factorReverted(name: first)
    case .factorsAdded: .factorsAdded(names: values)
    case .factorEnrolled: .factorEnrolled(name: first)
    case .factorsRestored: .factorsRestored(names: values)
    case .factorSuspended:
      instant(second).map { .factorSuspended(name: first, until: $0) }
    case .factorResumed: .factorResumed(name: first)
    case .factorResynchronized: .factorResynchronized(name: first)
    case .clockOffsetCleared: .clockOffsetCleared(name: first)
    case .factorRenamed: .factorRenamed(from: first, to: second)
    case .changesAllowed: .changesAllowed
    case .codesUnlocked: .codesUnlocked
    case .sessionsEnded: .sessionsEnded
    case .temporaryCodeMade: instant(first).map { .temporaryCodeMade(until: $0) }
    case .temporaryCodeEnded: .temporaryCodeEnded
    case .recoveryCodesMade: .recoveryCodesMade
    case .recoveryCodesVoided: .recoveryCodesVoided
    case .recoveryCodeUsed: Int(first).map { .recoveryCodeUsed(left: $0) }
    case .enrollmentLinkSent: .enrollmentLinkSent
    case .factorEnrolledByLink: .factorEnrolledByLink(name: first)
    case .passwordChanged: .passwordChanged
    case .passwordSet: .passwordSet
    case .passwordRemoved: .passwordRemoved
    case .phoneNumberSet: .phoneNumberSet
    case .phoneNumberRemoved: .phoneNumberRemoved
    case .emailLinkAdded: .emailLinkAdded
    case .providerLinked: .providerLinked(name: first)
    case .providerUnlinked: .providerUnlinked(name: first)
    case .emailChanged: .emailChanged(from: first)
    case .accountDeleted: .accountDeleted
    case .ownAccountDeleted: .ownAccountDeleted
    case .manyChanges: instant(first).map { .manyChanges(until: $0) }
    }
  }
}

extension Outbox {
  /// The number of seconds after which a notice is no longer sent.
  static let noticeLifetime: Int64 = 7 * 86_400

  /// Notifies a user by email; does nothing for an account without an email address.
  ///
  /// A notice that can be reported goes to every email address on file, each with its own link to
  /// do so. A notice of account deletion also goes to all of them; other notices go only to the
  /// account's email address.
  ///
  /// `account` is the account as it was before the change, and `notified` an email address that
  /// another email already notifies. `quota` bounds the emails to the account in an hour: instead of
  /// the first one beyond it, ``UserNotice/manyChanges(until:)`` is sent, then no other. It's nil for a
  /// change that is refused beyond a quota, or happens once.
  func notify(
    _ notice: UserNotice, _ account: Account, in pool: Pool, excluding notified: String? = nil,
    within quota: OwnChange? = .supportNotice, at now: Instant, _ connection: borrowing Connection
  ) throws {
    var (notice, notified) = (notice, notified)
    if let quota, !account.addresses.isEmpty {
      switch try quota.room(of: account.key, at: now, connection) {
      case .within: break
      case .last(let until): (notice, notified) = (.manyChanges(until: until), nil)
      case .beyond: return
      }
    }
    let recipients: [String]
    switch notice {
    case .emailChanged(let old): recipients = [old]
    case .accountDeleted, .ownAccountDeleted: recipients = account.addresses
    case _ where notice.isReportable: recipients = account.addresses
    default: recipients = [account.email].compactMap { $0 }
    }
    guard !recipients.isEmpty else { return }
    let sender = try PoolEmailSettings.read(pool, connection).sender(of: .notice)
    for recipient in recipients
    where try recipient != notified && mayNotify(recipient, of: account, connection) {
      let link =
        notice.isReportable && links.isKnown
        ? try reportLink(for: notice, of: account, to: recipient, at: now, connection) : nil
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
          about: [.accountDeleted, .ownAccountDeleted].contains(notice) ? account.id : nil),
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
    if newPassword { notices.append(.passwordSet) }
    if old.hasPassword && !new.hasPassword || old.signsInByLink && !new.signsInByLink {
      notices.append(.passwordRemoved)
    }
    if old.phoneNumber != new.phoneNumber {
      notices.append(new.phoneNumber == nil ? .phoneNumberRemoved : .phoneNumberSet)
    }
    for link in old.providers where !new.providers.contains(where: { $0.provider == link.provider })
    {
      notices.append(.providerUnlinked(name: link.provider))
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
    if newPassword || (old.hasPassword && !new.hasPassword) { notices.append(.passwordChanged) }
    if let email = old.email, !email.isSameBytes(as: new.email ?? "") {
      notices.append(.emailChanged(from: email))
    }
    if !removed.isEmpty { notices.append(.factorsRemoved(names: removed.map(\.label))) }
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
      .factorsAdded(names: added.map(\.label)), old, in: pool, within: author.noticeQuota, at: now,
      connection)
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
