import Database

struct BackupCodeCounts {
  let temporary: Int
  let recovery: Int

  /// Counts an account's codes; an account without second factors has none.
  init(of account: Account, at now: Instant, _ connection: borrowing Connection) throws {
    let left =
      try account.factors.isEmpty
      ? [:] : BackupCodeStore.left(of: account.key, at: now, connection)
    temporary = left[.temporary] ?? 0
    recovery = left[.recovery] ?? 0
  }
}

extension AuditEntry {
  /// Adds how many backup codes a change revoked, unless it's none.
  ///
  /// It's called after the change, with the counts from before it; nil if the change revokes none.
  mutating func addEnded(
    _ before: BackupCodeCounts?, of account: Account, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard let before, before.temporary + before.recovery > 0 else { return }
    let after = try BackupCodeCounts(of: account, at: now, connection)
    let (temporary, recovery) = (
      before.temporary - after.temporary, before.recovery - after.recovery
    )
    if temporary > 0 { add(.temporaryCodesEnded, .number(temporary)) }
    if recovery > 0 { add(.recoveryCodesEnded, .number(recovery)) }
  }
}
