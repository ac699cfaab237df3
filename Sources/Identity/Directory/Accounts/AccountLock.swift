import Database
import Text

/// What holds for an account from its user's report of a change until an owner's decision.
///
/// Its email address, phone number, password, identities at providers, and second factors can't be
/// changed, nor can it be deleted (``DeletionRules``). Its address and the one that reported can't be
/// those of another account. It signs in as ``signIn`` says.
public struct AccountLock: Sendable {
  /// How a locked account signs in; the raw value is stored.
  public enum SignIn: Int, Sendable, SQLConvertible {
    /// As without a lock: the password was reset since, or an earlier version locked the account.
    case open = 0
    /// After a reset of the password with a link that goes to ``AccountLock/mailbox``.
    case afterReset = 1
    /// After the owner's decision.
    case afterDecision = 2
  }

  public let since: Instant
  public let signIn: SignIn
  /// The address, in folded form, of the email whose link reported the change; nil if an earlier
  /// version sent it.
  let mailbox: String?

  /// The lock of an account after a report with the link in an email to an address.
  ///
  /// Of two mailboxes that report, each may be the thief's, so an owner decides.
  init(
    of account: Account, reportedFrom address: String?, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let earlier = account.lock
    since = earlier?.since ?? now
    mailbox = earlier?.mailbox ?? address
    let canReset = try Self.canReset(account, from: address, in: pool, at: now, connection)
    let isOfOther = !(mailbox ?? "").isSameBytes(as: address ?? "")
    signIn = canReset && !isOfOther ? .afterReset : .afterDecision
  }

  /// Whether the user can reset the password with a link to an address: the account's own, or one that
  /// can still become it again.
  private static func canReset(
    _ account: Account, from address: String?, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Bool {
    guard let address, account.hasPassword, try SignIns.methods(pool, connection).password else {
      return false
    }
    return try account.email?.isSameBytes(as: address) == true
      || OutOfBandRecord.canRestore(address, of: account, at: now, connection)
  }

  /// Checks a change once it's written, in its transaction, so that no way to change an account is
  /// forgotten; throws ``AccountError/changesLocked``.
  static func check(
    from old: Account, to new: Account, isNewPassword: Bool
  ) throws(AccountError) {
    func isSame(_ one: String?, _ other: String?) -> Bool {
      (one ?? "").isSameBytes(as: other ?? "")
    }
    let changesProviders = !old.providers.elementsEqual(new.providers) { one, other in
      isSame(one.provider, other.provider) && isSame(one.rawID, other.rawID)
    }
    guard old.lock != nil else { return }
    guard !isNewPassword, old.hasPassword == new.hasPassword,
      old.signsInByLink == new.signsInByLink, isSame(old.email, new.email),
      isSame(old.phoneNumber, new.phoneNumber), !changesProviders
    else { throw .changesLocked }
  }

  /// Returns whether another account's lock keeps an address, in folded form, from being used.
  static func keeps(
    _ email: String, from account: Int64?, in pool: Int64, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM account
      WHERE scope_key = \(pool) AND reported_mailbox = \(email) AND account_key <> \(account ?? 0)
      LIMIT 1
      """
    ) { try $0.next() as Int } != nil
  }

  /// Leaves it to an owner how an account signs in whose address another mailbox than the one that
  /// reported has restored: either may be the thief's.
  func restored(
    to address: String, of account: Account, _ connection: borrowing Connection
  ) throws {
    guard let mailbox, !mailbox.isSameBytes(as: address) else { return }
    try AccountRecord.set("sign_in_lock = \(SignIn.afterDecision)", of: account.key, connection)
  }

  /// Stores the lock of an account; nil unlocks it.
  static func store(
    _ lock: AccountLock?, of account: Int64, _ connection: borrowing Connection
  ) throws {
    try AccountRecord.set(
      """
      changes_locked_at = \(lock?.since), sign_in_lock = \(lock?.signIn ?? .open),
        reported_mailbox = \(lock?.mailbox)
      """, of: account, connection)
  }
}

extension AccountLock {
  /// Reads `changes_locked_at, sign_in_lock, reported_mailbox`; nil if the account isn't locked.
  init?(_ row: inout Row) throws {
    let since: Instant? = try row.next()
    (signIn, mailbox) = (try row.next(), try row.next())
    guard let since else { return nil }
    self.since = since
  }
}

extension Account {
  /// The time since which the account is locked; nil if it isn't.
  public var changesLockedAt: Instant? { lock?.since }

  /// Whether no one can sign in to the account.
  var refusesSignIn: Bool { disabled || isSignInLocked }

  var isSignInLocked: Bool { lock.map { $0.signIn != .open } ?? false }

  /// Whether a link in an email to an address may reset the password, or undo an enrollment.
  func accepts(linkTo address: String) -> Bool {
    guard let lock else { return true }
    guard lock.signIn != .afterDecision else { return false }
    return (lock.mailbox ?? email)?.isSameBytes(as: address) ?? false
  }
}
