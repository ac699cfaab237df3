import Database

/// A phone that codes are sent to.
enum PhoneFactor {
  /// Stores a new factor as the account's newest.
  ///
  /// Whether there is room for it, and no other with the number, is for the caller to check.
  static func insert(
    _ id: ID<Factor>, displayName: String?, phoneNumber: String, enrolledAt: Instant,
    for account: Account, in scope: Scope, _ connection: borrowing Connection
  ) throws {
    try FactorRecord.insert(
      NewFactor(
        id: id, kind: .phone, displayName: displayName, enrolledAt: enrolledAt,
        phoneNumber: phoneNumber),
      for: account, in: scope, connection)
  }
}
