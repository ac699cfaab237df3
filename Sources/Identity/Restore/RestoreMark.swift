import Database

/// When the database was last restored from a backup.
///
/// What clients carry in sealed form, such as pending credentials, outlives a restore, and the
/// record of its use doesn't. So none of it is valid that was issued before the restore.
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

  /// Whether something that was issued at a moment is from before the last restore.
  static func ends(_ issuedAt: Instant, _ connection: borrowing Connection) throws -> Bool {
    let mark = try connection.first(
      "SELECT value FROM instance WHERE name = \(name)"
    ) { try $0.value(0) as String }
    guard let mark, let microseconds = Int64(mark) else { return false }
    return issuedAt.microseconds <= microseconds
  }
}
