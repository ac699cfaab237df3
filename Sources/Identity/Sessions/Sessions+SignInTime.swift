import Database

extension Sessions {
  /// Returns when the user signed in, in Unix seconds, for a session that may continue another one.
  ///
  /// The ID token of a session that continues another one has the time of the change between them,
  /// since older tokens aren't valid any longer.
  static func signInTime(
    of session: UserSession, _ account: Account, _ connection: borrowing Connection
  ) throws -> Int64 {
    try earlierSignIn(of: session, account, connection) ?? session.authTime
  }

  /// Returns when the user signed in before a session that continues another one began, in Unix
  /// seconds; nil for other sessions.
  static func earlierSignIn(
    of session: UserSession, _ account: Account, _ connection: borrowing Connection
  ) throws -> Int64? {
    guard let id = session.id else { return nil }
    return try connection.first(
      """
      SELECT signed_in_at_s FROM session
      WHERE session_id = \(id.bytes) AND account_key = \(account.key)
      """
    ) { try $0.next() as Int64? } ?? nil
  }

  /// Returns whether the user signed in recently enough to add what signs in from then on.
  static func isFresh(
    _ session: UserSession, _ account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let time = try signInTime(of: session, account, connection)
    return now.seconds - min(time, session.authTime) <= Enrollments.freshSignIn
      && !Instant(seconds: time).isInFuture(at: now)
  }
}
