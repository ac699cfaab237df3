import Database

/// An account in a list, read without the rest of it.
public struct AccountSummary: Hashable, Sendable {
  /// The uid.
  public let id: ID<Account>
  /// The database's key; no two accounts of any scope have one.
  let key: Int64
  /// The email address, in lower case.
  public let email: String?
  /// True when the address is known to be the user's.
  public let emailVerified: Bool
  /// The name for people.
  public let displayName: String?
  /// The phone number in E.164 form.
  public let phoneNumber: String?
  /// True when it may not sign in.
  public let disabled: Bool
  /// When it was made.
  public let createdAt: Instant
  /// When it last signed in; with a second factor, when that had passed.
  public let lastLoginAt: Instant?
  /// Until when codes are not even looked at; nil or past when they are.
  let codesBlockedUntil: Instant?
  /// True when it has an authenticator app.
  public let hasTOTP: Bool
  /// True when it has a phone as second factor.
  public let hasPhone: Bool

  /// Until when codes of one of its factors are refused; nil or past when of none.
  let suspendedUntil: Instant?
  /// True when only owners act on it.
  public let isProtected: Bool

  static let columns: SQL = """
    a.uid, a.account_key, a.email, a.email_verified, a.display_name, a.phone, a.disabled,
      a.created_at, a.last_login_at, a.has_totp, a.has_phone, a.codes_blocked_until,
      a.suspended_until, a.protected
    """

  /// How many columns these are.
  static let columnCount = 14

  init(_ row: borrowing Row) throws {
    id = ID(try row.value(0))
    key = try row.value(1)
    email = try row.value(2)
    emailVerified = try row.value(3)
    displayName = try row.value(4)
    phoneNumber = try row.value(5)
    disabled = try row.value(6)
    createdAt = Instant(microseconds: try row.value(7))
    lastLoginAt = (try row.value(8) as Int64?).map(Instant.init(microseconds:))
    hasTOTP = try row.value(9)
    hasPhone = try row.value(10)
    codesBlockedUntil = (try row.value(11) as Int64?).map(Instant.init(microseconds:))
    suspendedUntil = (try row.value(12) as Int64?).map(Instant.init(microseconds:))
    isProtected = try row.value(13)
  }

  /// Takes from an account what lists show.
  public init(_ account: Account) {
    id = account.id
    key = account.key
    email = account.email
    emailVerified = account.emailVerified
    displayName = account.displayName
    phoneNumber = account.phoneNumber
    disabled = account.disabled
    createdAt = account.createdAt
    lastLoginAt = account.lastLoginAt
    hasTOTP = account.has(.totp)
    hasPhone = account.has(.phone)
    codesBlockedUntil = account.codesBlockedUntil
    suspendedUntil = account.factors.compactMap(\.suspendedUntil).max()
    isProtected = account.isProtected
  }

  /// True when it has a second factor of a kind.
  public func has(_ kind: Factor.Kind) -> Bool {
    switch kind {
    case .totp: hasTOTP
    case .phone: hasPhone
    }
  }

  /// True while codes of one of its factors are refused.
  public func isSuspended(at now: Instant) -> Bool { suspendedUntil.map { now < $0 } ?? false }

  /// The name that people know it by: email, else name, else phone, else uid.
  public var label: String { email ?? displayName ?? phoneNumber ?? id.text }

  /// Hashes the key, by which all accounts differ already.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
