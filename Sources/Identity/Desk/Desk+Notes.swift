import Database

/// What an agent wrote about a user for the next one.
public struct UserNote: Sendable {
  /// Its number.
  public let id: Int64
  /// When it was written.
  public let writtenAt: Instant
  /// The name of who wrote it.
  public let author: String
  /// What.
  public let text: String
}

extension Desk {
  /// How many notes a list has at most.
  public static let mostNotes = 20

  /// The newest notes about a user, the newest first.
  ///
  /// - Throws: ``DeskError/unavailable(_:)``.
  public func notes(_ account: Account) async throws(DeskError) -> [UserNote] {
    try await store.read(DeskError.self) { connection in
      try connection.all(
        """
        SELECT note_id, written_at, author_name, text FROM user_note
        WHERE account_key = \(account.key) ORDER BY note_id DESC LIMIT \(Self.mostNotes)
        """
      ) { row in
        UserNote(
          id: try row.value(0), writtenAt: Instant(microseconds: try row.value(1)),
          author: try row.value(2), text: try row.value(3))
      }
    }
  }

  /// Writes a note about a user, of 1 to ``DeskRequest/longestNote`` characters.
  ///
  /// It changes nothing about the account, so neither a code nor a reason is asked for.
  ///
  /// - Throws: ``DeskError``.
  public func addNote(
    _ scope: Scope, _ id: ID<Account>, _ text: String, by author: Author
  ) async throws(DeskError) {
    let text = text.trimmed
    guard !text.isEmpty else { throw .answers([.emptyNote]) }
    guard text.count <= DeskRequest.longestNote else { throw .answers([.noteTooLong]) }
    let now = store.clock.now()
    try await store.write(DeskError.self) { connection in
      guard let account = try AccountRecord.find(scope, id, connection) else {
        throw DeskError.accountNotFound
      }
      try connection.run(
        """
        INSERT INTO user_note (account_key, written_at, author_name, text)
        VALUES (\(account.key), \(now.microseconds), \(author.actor.name), \(text))
        """)
      var entry = AuditEntry(
        "account.note", "account", account.id.text, name: account.label, in: scope)
      entry.note = text
      try entry.record(by: author, at: now, connection)
    }
  }
}
