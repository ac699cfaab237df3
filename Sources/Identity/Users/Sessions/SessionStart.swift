import Database

package enum SessionStart: Sendable {
  case signIn
  /// With a sign-in by a custom token or an identity, whose claims the session's tokens have too,
  /// as JSON text, or in which a backup code replaced the second factor's own.
  case signInWith(claims: String?, backupCode: Bool = false)
  /// With a changed credential, factor, or identity, which isn't a sign-in: it continues another
  /// session.
  case continuation(of: UserSession)
  /// With the first credential of an anonymous account, which isn't a sign-in either, but from which
  /// the session is as recent as one.
  case upgrade(of: UserSession)

  var isSignIn: Bool {
    switch self {
    case .signIn, .signInWith: true
    case .continuation, .upgrade: false
    }
  }

  /// The claims that the session's tokens have from this sign-in, as JSON text; nil if there are
  /// none.
  var claims: String? {
    if case .signInWith(let claims, _) = self { claims } else { nil }
  }

  /// Returns how the session begins that follows when an identity is linked to an account.
  ///
  /// The first identity of an anonymous account is how its user signs in; another one isn't.
  static func link(to account: Account, in session: UserSession) -> SessionStart {
    account.isAnonymous ? .signIn : .continuation(of: session)
  }

  /// What a session keeps until it ends, and passes on to the sessions that continue it.
  struct Origin {
    /// Whether a backup code replaced the second factor's own.
    var usedBackupCode = false
    /// The time of the sign-in, in Unix seconds, if the session continues an earlier one; nil if it's
    /// a sign-in.
    var signedInAt: Int64?
    /// The claims that the session's tokens have from the sign-in, as JSON text; nil if there are
    /// none.
    var claims: String?
  }

  func origin(_ account: Account, _ connection: borrowing Connection) throws -> Origin {
    switch self {
    case .signIn: return Origin()
    case .signInWith(let claims, let backupCode):
      return Origin(usedBackupCode: backupCode, claims: claims)
    case .upgrade(let old):
      return Origin(claims: try Sessions.claims(of: old, account, connection))
    case .continuation(let old):
      return Origin(
        usedBackupCode: try Sessions.usedBackupCode(old, account, connection),
        signedInAt: try Sessions.signInTime(of: old, account, connection),
        claims: try Sessions.claims(of: old, account, connection))
    }
  }
}

extension Account {
  /// Whether the account, as it is after a change, has a password or signs in by email link, which it
  /// didn't before.
  func addsPasswordProvider(to before: Account) -> Bool {
    hasPassword && !before.hasPassword || signsInByLink && !before.signsInByLink
  }
}

extension Sessions {
  /// Returns whether a code other than one from the app or phone stood in for the second factor.
  static func usedBackupCode(
    _ session: UserSession, _ account: Account, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let id = session.id else { return false }
    return try connection.first(
      """
      SELECT used_backup_code FROM session
      WHERE session_id = \(id.bytes) AND account_key = \(account.key)
      """
    ) { try $0.next() as Int } == 1
  }

  /// Returns the claims that a session has from its sign-in, even if only its ID token is known.
  static func claims(
    of session: UserSession, _ account: Account, _ connection: borrowing Connection
  ) throws -> String? {
    if let claims = session.claims { return claims }
    guard let id = session.id else { return nil }
    return try connection.first(
      """
      SELECT claims FROM session
      WHERE account_key = \(account.key) AND session_id = \(id.bytes)
      """
    ) { try $0.next() as String? } ?? nil
  }
}

/// An open session of a user, as shown to support.
public struct OpenSession: Sendable {
  public let startedAt: Instant
  public let provider: SignInProvider
  public let factor: ID<Factor>?
  /// Whether a temporary or recovery code was used instead of a code of the factor.
  public let usedBackupCode: Bool
  public let lastRefreshAt: Instant?
}

extension Sessions {
  public static let mostListed = 20

  /// Returns the newest open sessions of an account, newest first.
  static func list(
    _ account: Account, _ connection: borrowing Connection
  ) throws -> [OpenSession] {
    try connection.all(
      """
      SELECT s.created_at, s.provider, s.enrollment_id, s.used_backup_code,
        s.last_refresh_at
      FROM account a \(SQL.orderedJoin) session s USING (account_key)
      WHERE a.account_key = \(account.key) AND s.generation = a.generation
      ORDER BY s.session_id DESC LIMIT \(Self.mostListed)
      """
    ) { row in
      OpenSession(
        startedAt: try row.next(), provider: try row.next(), factor: try row.next(),
        usedBackupCode: (try row.next() as Int) == 1,
        lastRefreshAt: try row.next())
    }
  }
}

extension Sessions {
  /// Returns when the user signed in, in Unix seconds, for a session that may continue another one.
  ///
  /// The ID token of a session that continues another one has the time of the change between them,
  /// since older tokens aren't valid any longer.
  static func signInTime(
    of session: UserSession, _ account: Account, _ connection: borrowing Connection
  ) throws -> Int64 {
    guard let id = session.id else { return session.authTime }
    let earlier =
      try connection.first(
        """
        SELECT signed_in_at_s FROM session
        WHERE session_id = \(id.bytes) AND account_key = \(account.key)
        """
      ) { try $0.next() as Int64? } ?? nil
    return earlier ?? session.authTime
  }

  /// Returns whether the user signed in recently enough to change how they sign in.
  static func isFresh(
    _ session: UserSession, _ account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let time = try signInTime(of: session, account, connection)
    return now.seconds - min(time, session.authTime) <= Enrollments.freshSignIn
      && !Instant(seconds: time).isInFuture(at: now)
  }
}

extension Sessions {
  /// Ends the sessions of a user who changes their own account, and counts the change.
  ///
  /// `kept` is the session that stays open; nil to end all sessions. Returns the number of sessions
  /// ended. Throws ``SessionError/tooManyChanges(until:)``.
  @discardableResult
  static func endOwn(
    of account: Int64, except kept: ID<UserSession>? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    try OwnChange.sessions.count(of: account, at: now, connection)
    return try AccountRecord.endSessions(account, except: kept, at: now, connection)
  }
}
