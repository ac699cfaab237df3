import Database

/// When the database was last restored from a backup.
///
/// Sealed data that clients hold, such as pending credentials, outlives a restore, but the record
/// of its use doesn't. So anything issued before the restore is invalid.
enum RestoreMark {
  private static let name = "restored_at"

  /// Records that the database was restored.
  static func set(_ now: Instant, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      INSERT INTO instance (name, value) VALUES (\(name), \(String(now.microseconds)))
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """)
  }

  /// Returns whether something was issued before the last restore.
  static func ends(_ issuedAt: Instant, _ connection: borrowing Connection) throws -> Bool {
    let mark = try connection.first(
      "SELECT value FROM instance WHERE name = \(name)"
    ) { try $0.value(0) as String }
    guard let mark, let microseconds = Int64(mark) else { return false }
    return issuedAt.microseconds <= microseconds
  }
}
