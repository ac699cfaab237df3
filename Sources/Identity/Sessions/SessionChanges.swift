import Database

/// Limits how often users can make changes that end their sessions.
///
/// Each such change costs a password hash or an email, and leaves rows behind. Sessions ended by
/// administrators, programs, and links in emails aren't counted, so that a revocation can't be
/// prevented.
enum SessionChanges {
  /// The number of changes per account and hour.
  static let perHour = 30
  /// The number per hour in the emulator profile, where test suites use one account for everything.
  static let perHourInEmulator = 1_000

  static func name(_ account: Int64) -> String { "session-changes \(account)" }

  static func limit(_ profile: Profile) -> Int {
    profile == .emulator ? perHourInEmulator : perHour
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
    let until = try HourlyQuota.take(
      SessionChanges.name(account), limit: SessionChanges.limit(profile), at: now, connection)
    if let until { throw SessionError.tooManyChanges(until: until) }
    return try AccountRecord.endSessions(account, except: kept, at: now, connection)
  }
}
