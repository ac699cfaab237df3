import Database

extension BulkRemovals {
  /// Ends the sessions of one user, or disables the user, as the action on a single user does.
  func change(
    _ account: Account, _ job: BulkJob, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Outcome {
    var outcome: Outcome
    var entry: AuditEntry
    if job.kind == .disabling {
      guard !account.disabled else { return Outcome(result: .none) }
      let sessions: Int
      (entry, sessions) = try Support.disabling(account, in: pool, at: now, connection)
      outcome = Outcome(result: .removed, sessions: sessions)
      // Disabling began the account's next generation; whatever began another one came afterward.
      outcome.undo = (
        Self.mark(account.key, account.generation + 1),
        now.advanced(bySeconds: Int64(Self.daysKept) * 86_400)
      )
    } else {
      guard try Sessions.count(account.key, connection) > 0 else { return Outcome(result: .none) }
      let sessions: Int
      (entry, sessions) = try Support.ending(
        account, in: pool, store.outbox, at: now, connection)
      outcome = Outcome(result: .removed, sessions: sessions)
    }
    entry.justify(by: job)
    try entry.record(by: job.author, at: now, connection)
    return outcome
  }

  /// Returns what an undo of a disabling finds an account by, as ``disabledMark`` does in a statement.
  ///
  /// The key tells it from another account that got the same UID after it was deleted.
  private static func mark(_ key: Int64, _ generation: Int64) -> String { "\(key).\(generation)" }

  /// The mark of a row `a` of `account`.
  static let disabledMark: SQL = "CAST(a.account_key AS TEXT) || '.' || CAST(a.generation AS TEXT)"

  /// Enables one user whom a bulk action disabled, unless someone else changed that since.
  ///
  /// `mark` is that of the account since it was disabled.
  func enable(
    _ account: Account, since mark: String, of job: BulkJob, _ undo: BulkUndo,
    by administrator: Administrator, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> BulkResult {
    guard account.disabled else { return .restoredBefore }
    guard Self.mark(account.key, account.generation) == mark,
      administrator.denial(of: .enableUser, on: account, in: pool) == nil
    else { return .notRestored }
    var entry = try Support.enabling(account, in: pool, at: now, connection)
    entry.justify(undo.reason, note: undo.note, ticket: undo.ticket, proof: undo.proof)
    entry.add(job.kind.field, .number(Int(job.id)))
    try entry.record(by: undo.author, at: now, connection)
    return .restored
  }
}
