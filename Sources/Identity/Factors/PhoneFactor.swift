package import Database

package enum PhoneFactor {
  /// Inserts a new factor as the account's newest.
  ///
  /// The caller checks the limit and that the phone number isn't already enrolled.
  package static func insert(
    _ id: ID<Factor>, displayName: String?, phoneNumber: String, enrolledAt: Instant,
    for account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    try FactorRecord.insert(
      NewFactor(
        id: id, kind: .phone, displayName: displayName, enrolledAt: enrolledAt,
        phoneNumber: phoneNumber),
      for: account, in: pool, connection)
  }

  static func accept(
    _ factor: ID<Factor>, of account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE factor SET last_used_at = \(now)
      WHERE account_key = \(account.key) AND enrollment_id = \(factor)
      """)
  }
}
