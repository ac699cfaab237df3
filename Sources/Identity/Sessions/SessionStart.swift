import Database

package enum SessionStart: Sendable {
  case signIn
  /// With a sign-in by a custom token or an identity, whose claims the session's tokens have too,
  /// as JSON text, or in which a backup code replaced the second factor's own.
  case signInWith(claims: String?, backupCode: Bool = false)
  /// With an added factor or identity, which isn't a sign-in: it continues another session.
  case continuation(of: UserSession)
  /// With changed credentials, which isn't a sign-in either: it continues another session, and is as
  /// recent as one that begins now if that one had no second factor.
  case renewal(of: UserSession)

  var isSignIn: Bool {
    switch self {
    case .signIn, .signInWith: true
    case .continuation, .renewal: false
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

  /// Returns how the session begins that follows when a user changes their own password or address.
  ///
  /// A password that was added to an account that isn't anonymous isn't a sign-in (``link(to:in:)``).
  static func change(
    of account: Account, to new: Account, in session: UserSession
  ) -> SessionStart {
    new.addsPasswordProvider(to: account) && !account.isAnonymous
      ? .continuation(of: session) : .renewal(of: session)
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
    case .continuation(let old), .renewal(let old):
      var origin = Origin(
        usedBackupCode: try Sessions.usedBackupCode(old, account, connection),
        signedInAt: try Sessions.signInTime(of: old, account, connection),
        claims: try Sessions.claims(of: old, account, connection))
      if case .renewal = self, old.secondFactor == nil {
        origin.signedInAt = try Sessions.earlierSignIn(of: old, account, connection)
      }
      return origin
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
