import Database

/// Limits how often users can change their own accounts, separately for each kind of change, and how
/// many emails others' changes send them.
///
/// Each change leaves rows behind, and some send emails, also to addresses that belong to someone
/// else. The quotas bound those, never a rescue: removing a factor, a new password, and reporting a
/// change are never refused. Changes by administrators, programs, and links in emails aren't either.
enum OwnChange: String, CaseIterable {
  /// A change that ends sessions, other than a new password or the removal of a factor.
  case sessions = "session-changes"
  /// A password that is set or removed, which is recorded in the audit log.
  ///
  /// It isn't refused: the first one beyond the quota is recorded for all of the hour.
  case password = "password-changes"
  /// A new name or photo, which is recorded in the audit log.
  case profile = "profile-changes"
  /// A change that the addresses of the account are alerted of: an enrolled factor, new recovery
  /// codes, a linked identity, or another email address.
  ///
  /// Without the alert, the change is refused too. Signing in with a recovery code isn't counted: each
  /// works once, and a new set of them counts.
  case alert = "alerts"
  /// A notice of a new or removed password, phone number, or email link, of an unlinked identity, or of
  /// an unenrolled factor.
  ///
  /// The change isn't refused: one more email says that others aren't reported in this hour.
  case notice = "notices"
  /// A notice of a change by a program, of whatever kind; one more email says that there were others.
  case programNotice = "program-notices"
  /// A notice of a change by an administrator, whose actions have their own limit, or the server.
  case supportNotice = "support-notices"
  /// An email with a link that the user requests in a session.
  case mail = "requested-mails"
  /// A code that an enrollment rejected, which is recorded although nothing changes.
  case rejectedCode = "rejected-enrollment-codes"
  /// A row of the audit log or a code attempt, of most kinds.
  ///
  /// What needs the user's session or password is counted, so only those who have one can use it up:
  /// changes in a session, and codes at sign-in that are wrong or weren't checked. At sign-in, it
  /// decides only how the attempt is recorded: beyond it, wrong codes share one row, the lock on them is
  /// as without it, and a right code, of which each time step has one, is accepted, recorded, and not
  /// counted. What else isn't counted is in ``AuditRowLimit``.
  case row = "rows"

  /// The number of changes of the kind per account and hour.
  var perHour: Int {
    switch self {
    case .sessions, .password, .profile, .rejectedCode: 30
    case .alert, .notice, .programNotice, .mail: 5
    case .supportNotice: 20
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

  /// Whether there's room for what a change leaves behind.
  enum Room {
    case within
    /// The first change beyond the quota: what it leaves behind stands for all of them until then.
    case last(until: Instant)
    case beyond
  }

  /// Counts a change that isn't refused beyond the quota.
  func room(
    of account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> Room {
    guard let until = try take(of: account, at: now, connection) else { return .within }
    let full = try limited(connection) { limit in
      try HourlyQuota.take(name(account), limit: limit + 1, at: now, connection)
    }
    return full == nil ? .last(until: until) : .beyond
  }

  /// Begins new quotas for the user of an account, who may not be the one who used up the former.
  ///
  /// It's called where all sessions end by a link in an email that no session asked for, by a report of
  /// a change, or by support. What the changes of others count remains.
  static func renew(of account: Int64, _ connection: borrowing Connection) throws {
    let names: [SQL] = allCases.filter { ![.programNotice, .supportNotice].contains($0) }
      .map { "\($0.name(account).text)" }
    try connection.run("DELETE FROM throttle WHERE name IN (\(names.joined(separator: ", ")))")
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

extension Author {
  /// The quota of the notices to users whose accounts the author changes.
  var noticeQuota: OwnChange {
    switch actor {
    case .serviceToken, .emulatorOwner: .programNotice
    case .administrator, .commandLine, .server, .remote: .supportNotice
    case .user, .visitor: .notice
    }
  }
}
