import Database

public struct AccountSummary: Hashable, Sendable {
  public let id: ID<Account>
  /// The primary key in the database, unique across all pools.
  package let key: Int64
  /// The email address, in lowercase.
  public let email: String?
  public let emailVerified: Bool
  public let displayName: String?
  /// The phone number in E.164 format.
  public let phoneNumber: String?
  public let disabled: Bool
  public let createdAt: Instant
  /// The time of the last sign-in; with MFA, the time the second factor was accepted.
  public let lastLoginAt: Instant?
  /// The time until which codes are rejected without being checked; nil or in the past if they're
  /// checked.
  let codesBlockedUntil: Instant?
  /// The time of the last attempt to enter a code, whatever its result; nil if there was none.
  public let lastCodeAt: Instant?
  public let hasTOTP: Bool
  public let hasPhone: Bool

  /// The time until which codes of one factor are rejected; nil or in the past if none is
  /// suspended.
  public let suspendedUntil: Instant?
  /// True if the last codes showed that the device's clock is off.
  public let isClockOff: Bool
  /// True if the user reported a change that no owner has decided on.
  public let isReported: Bool
  /// True if only owners can perform support actions on the account.
  public let isProtected: Bool
  /// Since when the user is gone at the remote; nil for those who are there, and for hosted accounts.
  public let goneAt: Instant?

  static let columns: SQL = """
    a.uid, a.account_key, a.email, a.email_verified, a.display_name, a.phone, a.disabled,
      a.created_at, a.last_login_at, a.has_totp, a.has_phone, a.codes_blocked_until,
      a.suspended_until, a.protected, a.last_code_attempt_at, a.clock_off,
      a.changes_locked_at IS NOT NULL, a.gone_at
    """

  init(_ row: inout Row) throws {
    id = try row.next()
    key = try row.next()
    email = try row.next()
    emailVerified = try row.next()
    displayName = try row.next()
    phoneNumber = try row.next()
    disabled = try row.next()
    createdAt = try row.next()
    lastLoginAt = try row.next()
    hasTOTP = try row.next()
    hasPhone = try row.next()
    codesBlockedUntil = try row.next()
    suspendedUntil = try row.next()
    isProtected = try row.next()
    lastCodeAt = try row.next()
    isClockOff = try row.next()
    isReported = try row.next()
    goneAt = try row.next()
  }

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
    goneAt = account.goneAt
    isClockOff = account.isClockOff
    isReported = account.changesLockedAt != nil
    lastCodeAt = account.lastCodeAttemptAt.map(Instant.init(microseconds:))
  }

  public func has(_ kind: Factor.Kind) -> Bool {
    switch kind {
    case .totp: hasTOTP
    case .phone: hasPhone
    }
  }

  public func isSuspended(at now: Instant) -> Bool { suspendedUntil.map { now < $0 } ?? false }

  /// The name to show: email, otherwise display name, otherwise phone number, otherwise uid.
  public var label: String {
    Account.label(email: email, name: displayName, phone: phoneNumber, id: id.text)
  }

  /// Hashes only the key, which is unique.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
