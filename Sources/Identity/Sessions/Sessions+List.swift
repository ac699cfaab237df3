import Database

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
