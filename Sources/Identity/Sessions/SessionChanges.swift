import Database

/// How often users may make changes that end their sessions.
///
/// Each of them costs a password hash or a mail and rows that stay. What administrators, programs
/// and links in mails end is not counted: nobody can keep a revocation from happening.
enum SessionChanges {
  /// How many an hour an account has.
  static let perHour = 30
  /// How many in the emulator profile, where test suites use one account for everything.
  static let perHourInEmulator = 1_000

  static func name(_ account: Int64) -> String { "sessions ended by \(account)" }

  static func limit(_ profile: Profile) -> Int {
    profile == .emulator ? perHourInEmulator : perHour
  }
}

extension Sessions {
  /// Ends the sessions of a user who changes their own account, and counts the change.
  ///
  /// - Parameters:
  ///   - account: The account's key.
  ///   - kept: The session that stays open; nil to end all.
  ///   - profile: Says how many such changes an hour has.
  ///   - now: The time.
  ///   - connection: The transaction of the change.
  /// - Returns: How many ended.
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
