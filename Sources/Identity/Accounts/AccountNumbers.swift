import Database

/// Numbers for new accounts: the number of an account is its key without the pool's.
enum AccountNumbers {
  /// Takes numbers of a pool in a transaction; nil if the pool is deleted.
  static func take(
    _ count: Int, in pool: Int64, _ connection: borrowing Connection
  ) throws -> Range<Int64>? {
    try connection.first(
      """
      UPDATE scope SET next_account = next_account + \(count)
      WHERE scope_key = \(pool) AND deleted_at IS NULL RETURNING next_account
      """
    ) { row in
      let end: Int64 = try row.next()
      return end - Int64(count)..<end
    }
  }
}
