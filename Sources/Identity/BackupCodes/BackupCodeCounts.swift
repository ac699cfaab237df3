import Database

struct BackupCodeCounts {
  let temporary: Int
  let recovery: Int

  /// Counts an account's codes; an account without second factors has none.
  init(of account: Account, at now: Instant, _ connection: borrowing Connection) throws {
    func left(_ kind: BackupCodeStore.Kind, _ connection: borrowing Connection) throws -> Int {
      guard !account.factors.isEmpty else { return 0 }
      return try BackupCodeStore.left(kind, of: account.key, at: now, connection)?.count ?? 0
    }
    temporary = try left(.temporary, connection)
    recovery = try left(.recovery, connection)
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
