import Database

/// What the removal of a factor does, or has done.
public struct Removal: Sendable {
  /// The account.
  public let account: Account
  /// The factor.
  public let factor: Factor
  /// How many sessions end.
  public let sessionsEnded: Int
  /// How many second factors the account keeps.
  public let factorsLeft: Int
}

/// Why a factor is not removed.
public enum UnenrolmentError: Error, Sendable {
  /// No such account.
  case accountNotFound
  /// The account has no such factor, or not any more.
  case factorNotFound
  /// The reason "other" needs a note.
  case noteRequired
  /// A note of more than 1000 characters.
  case noteTooLong
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension UnenrolmentError: UseCaseError {}

/// Removes factors for users who lost them.
public struct Unenrolments: Sendable {
  let store: Store

  /// The longest note, in characters.
  public static let longestNote = 1_000

  /// What removing a factor would do.
  ///
  /// - Throws: ``UnenrolmentError``.
  public func consequences(
    _ scope: Scope, _ account: ID<Account>, _ factor: ID<Factor>
  ) async throws(UnenrolmentError) -> Removal {
    try await store.read(UnenrolmentError.self) { connection in
      try Self.find(scope, account, factor, connection)
    }
  }

  /// Removes a factor, ends the account's sessions, writes the audit row and tells
  /// the user by mail, all at once.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - account: Whose factor.
  ///   - factor: Which.
  ///   - reason: Why.
  ///   - note: More about it, at most 1000 characters; needed when the reason is "other".
  ///   - author: Who removes it.
  /// - Returns: What it has done.
  /// - Throws: ``UnenrolmentError``.
  public func remove(
    _ scope: Scope, _ account: ID<Account>, _ factor: ID<Factor>, reason: DeskReason,
    note: String, by author: Author
  ) async throws(UnenrolmentError) -> Removal {
    let note = try Self.checked(note, for: reason)
    let now = store.clock.now()
    let outbox = store.outbox
    return try await store.write(UnenrolmentError.self) { connection in
      let removal = try Self.find(scope, account, factor, connection)
      try FactorRecord.delete([removal.factor], of: removal.account, in: scope, connection)
      let ended = try AccountRecord.endSessions(removal.account.key, at: now, connection)
      var entry = AuditEntry(
        "factor.remove", "account", account.text, name: removal.account.label, in: scope)
      let sessions = Words.count(ended, "session", "sessions")
      entry.from = "\(removal.factor.words), \(sessions)"
      let left = Words.count(removal.factorsLeft, "second factor", "second factors")
      entry.to = "\(left), no sessions"
      entry.reason = reason.rawValue
      entry.note = note.isEmpty ? nil : note
      try entry.record(by: author, at: now, connection)
      try outbox.notify(
        .factorsRemoved(names: [removal.factor.label]), removal.account, in: scope, at: now,
        connection)
      return removal
    }
  }

  /// A note as it is kept.
  static func checked(
    _ note: String, for reason: DeskReason
  ) throws(UnenrolmentError) -> String {
    let note = note.trimmed
    if reason == .other, note.isEmpty { throw .noteRequired }
    guard note.count <= longestNote else { throw .noteTooLong }
    return note
  }

  private static func find(
    _ scope: Scope, _ id: ID<Account>, _ factor: ID<Factor>, _ connection: borrowing Connection
  ) throws -> Removal {
    guard let account = try AccountRecord.find(scope, id, connection) else {
      throw UnenrolmentError.accountNotFound
    }
    guard let found = account.factors.first(where: { $0.id == factor }) else {
      throw UnenrolmentError.factorNotFound
    }
    return Removal(
      account: account, factor: found,
      sessionsEnded: try Sessions.count(account.key, connection),
      factorsLeft: account.factors.count - 1)
  }
}
