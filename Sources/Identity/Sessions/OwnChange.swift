import Database

/// Limits how often users can change their own accounts, separately for each kind of change.
///
/// Each change leaves rows behind, and some cost a password hash or send emails, also to addresses
/// that belong to someone else. Changes by administrators, programs, and links in emails aren't
/// counted, so that a revocation can't be prevented.
enum OwnChange: String {
  /// A change that ends sessions, such as a new password.
  case sessions = "session-changes"
  /// A new name or photo, which is recorded in the audit log.
  case profile = "profile-changes"
  /// New recovery codes, of which each address of the account is notified.
  case recoveryCodes = "recovery-codes"
  /// A linked identity, of which each address of the account is notified.
  case link = "linked-identities"
  /// A code that an enrollment rejected, which is recorded although nothing changes.
  case rejectedCode = "rejected-enrollment-codes"

  /// The number of changes of a kind per account and hour.
  static let perHour = 30
  /// The number per hour in the emulator profile, where test suites use one account for everything.
  static let perHourInEmulator = 1_000

  static func limit(_ profile: Profile) -> Int {
    profile == .emulator ? perHourInEmulator : perHour
  }

  func name(_ account: Int64) -> CounterName { .ownChanges(self, of: account) }

  /// Counts a change.
  ///
  /// - Throws: ``SessionError/tooManyChanges(until:)``, and database errors.
  func count(
    of account: Int64, profile: Profile, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let until = try HourlyQuota.take(
      name(account), limit: Self.limit(profile), at: now, connection)
    if let until { throw SessionError.tooManyChanges(until: until) }
  }

  /// Returns the time of the next possible change if the limit is reached, without counting one.
  func exhausted(
    of account: Int64, profile: Profile, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    try HourlyQuota.exhausted(name(account), limit: Self.limit(profile), at: now, connection)
  }
}

extension Sessions {
  /// Ends the sessions of a user who changes their own account, and counts the change.
  ///
  /// - Parameters:
  ///   - account: The account's key.
  ///   - kept: The session that stays open; nil to end all sessions.
  ///   - profile: The profile, which determines the limit per hour.
  ///   - now: The time.
  ///   - connection: The transaction of the change.
  /// - Returns: The number of sessions ended.
  /// - Throws: ``SessionError/tooManyChanges(until:)``.
  @discardableResult
  static func endOwn(
    of account: Int64, except kept: ID<UserSession>? = nil, profile: Profile, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    try OwnChange.sessions.count(of: account, profile: profile, at: now, connection)
    return try AccountRecord.endSessions(account, except: kept, at: now, connection)
  }
}
