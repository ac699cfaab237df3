import Database

extension SignIns {
  /// Returns whether a code has the format that authenticator apps show; an ordinary sign-in checks
  /// only such codes.
  static func isOfApp(_ code: String) -> Bool {
    code.utf8.count == TOTPFactor.digits && code.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Verifies a code that replaces the authenticator app's: a temporary code or a recovery code.
  ///
  /// It's accepted like a code of the app, even if the app is suspended. While codes aren't checked
  /// after too many wrong ones, it isn't checked either.
  ///
  /// - Returns: The result; a valid code is used up.
  func checkBackupCode(
    _ code: String, of account: Account, in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> CodeFinding {
    guard let kind = BackupCodeStore.Kind(of: code) else { return CodeFinding(.unreadable) }
    let settings = try SupportRules.find(pool, connection)
    guard settings.accepts(kind),
      try backupCodes.use(
        code, kind, of: account, in: pool, at: now, connection)
    else { return CodeFinding(.wrong) }
    let action: AuditAction =
      kind == .temporary ? .factorUseTemporaryCode : .factorUseRecoveryCode
    var entry = AuditEntry(action, of: account, in: pool)
    if kind == .recovery {
      let left = try BackupCodeStore.left(.recovery, of: account.key, at: now, connection)
      entry.add(.codesLeft, .number(left?.count ?? 0))
      try store.outbox.notify(
        .recoveryCodeUsed(left: left?.count ?? 0), account, in: pool, at: now, connection)
    }
    try entry.record(by: author.user(account), limitedBy: .code, at: now, connection)
    return CodeFinding(kind == .temporary ? .temporary : .recovery)
  }
}
