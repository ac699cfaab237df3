import Database

/// Limits how often users can change their own accounts, separately for each kind of change.
///
/// Each change leaves rows behind, and some cost a password hash or send emails, also to addresses
/// that belong to someone else. Changes by administrators, programs, and links in emails aren't
/// counted, so that a revocation can't be prevented.
enum OwnChange: String, CaseIterable {
  /// A change that ends sessions, such as a new password.
  case sessions = "session-changes"
  /// A new name or photo, which is recorded in the audit log.
  case profile = "profile-changes"
  /// A change that the addresses of the account are alerted of: an enrolled or unenrolled factor, new
  /// recovery codes, a linked identity, or another email address.
  ///
  /// Without the alert, the change is refused too. Signing in with a recovery code isn't counted: each
  /// works once, and a new set of them counts.
  case alert = "alerts"
  /// A notice of a new or removed password, phone number, or email link, or of an unlinked identity.
  ///
  /// Without the notice, the change isn't refused: the user got that many of others.
  case notice = "notices"
  /// An email with a link that the user requests in a session.
  case mail = "requested-mails"
  /// A code that an enrollment rejected, which is recorded although nothing changes.
  case rejectedCode = "rejected-enrollment-codes"
  /// A row of the audit log or a code attempt, of whatever kind.
  ///
  /// What needs the user's session or password is counted, so only those who have one can use it up:
  /// changes in a session, and codes at sign-in that are wrong or weren't checked. At sign-in, it
  /// decides only whether the attempt is recorded: the lock on wrong codes is as without it, and a
  /// right code, of which each time step has one, is accepted, recorded, and not counted. What else
  /// isn't counted is in ``AuditRowLimit``.
  case row = "rows"

  /// The number of changes of the kind per account and hour.
  var perHour: Int {
    switch self {
    case .sessions, .profile, .rejectedCode: 30
    case .alert, .notice, .mail: 5
    case .row: 60
    }
  }

  /// The number per hour in the emulator profile, where test suites use one account for everything.
  static let perHourInEmulator = 1_000

  func name(_ account: Int64) -> CounterName { .ownChanges(self, of: account) }

  /// - Throws: ``SessionError/tooManyChanges(until:)``, and database errors.
  func count(of account: Int64, at now: Instant, _ connection: borrowing Connection) throws {
    if let until = try take(of: account, at: now, connection) {
      throw SessionError.tooManyChanges(until: until)
    }
  }

  /// Counts a change unless the limit is reached.
  ///
  /// - Returns: The time of the next possible change if the limit is reached; nil otherwise.
  func take(
    of account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    try limited(connection) { limit in
      try HourlyQuota.take(name(account), limit: limit, at: now, connection)
    }
  }

  /// Returns the time of the next possible change if the limit is reached, without counting one.
  func exhausted(
    of account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    try limited(connection) { limit in
      try HourlyQuota.exhausted(name(account), limit: limit, at: now, connection)
    }
  }

  /// Applies the limit of the data folder's profile, which is read only if the lower one is reached.
  private func limited(
    _ connection: borrowing Connection, _ check: (_ limit: Int) throws -> Instant?
  ) throws -> Instant? {
    guard let until = try check(perHour) else { return nil }
    return try Profile.stored(connection) == .emulator ? check(Self.perHourInEmulator) : until
  }
}

extension Sessions {
  /// Ends the sessions of a user who changes their own account, and counts the change.
  ///
  /// `kept` is the session that stays open; nil to end all sessions.
  ///
  /// - Returns: The number of sessions ended.
  /// - Throws: ``SessionError/tooManyChanges(until:)``.
  @discardableResult
  static func endOwn(
    of account: Int64, except kept: ID<UserSession>? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    try OwnChange.sessions.count(of: account, at: now, connection)
    return try AccountRecord.endSessions(account, except: kept, at: now, connection)
  }
}
