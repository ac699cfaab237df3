import Database

/// When the database was last restored from a backup.
///
/// Sealed data that clients hold, such as pending credentials, outlives a restore, but the record
/// of its use doesn't. So anything issued before the restore is invalid.
enum RestoreMark {
  private static let value = InstanceValue("restored_at")

  static func set(_ now: Instant, _ connection: borrowing Connection) throws {
    try value.store(String(now.microseconds), connection)
  }

  /// Replaces a time in the future, from a clock that was ahead, with the present one, so that what's
  /// issued from now on is valid.
  static func limit(to now: Instant, _ connection: borrowing Connection) throws {
    guard let microseconds = try value.readNumber(connection),
      Instant(microseconds: microseconds).isInFuture(at: now)
    else { return }
    try set(now, connection)
  }

  /// Returns whether something was issued before the last restore.
  static func ends(_ issuedAt: Instant, _ connection: borrowing Connection) throws -> Bool {
    guard let microseconds = try value.readNumber(connection) else { return false }
    return issuedAt.microseconds <= microseconds
  }
}
