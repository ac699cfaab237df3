import Database

/// A note about a user, for other agents.
public struct UserNote: Sendable {
  /// The number, which is never reused.
  public let id: Int64
  /// When it was written.
  public let writtenAt: Instant
  /// The name of the author.
  public let author: String
  /// The text.
  public let text: String
}

extension Support {
  /// The maximum number of notes in a list.
  public static let mostNotes = 20

  /// Returns the newest notes about a user, newest first.
  static func notes(
    _ account: Account, _ connection: borrowing Connection
  ) throws -> [UserNote] {
    try connection.all(
      """
      SELECT \(UserNote.columns) FROM user_note
      WHERE account_key = \(account.key) AND text <> ''
      ORDER BY note_id DESC LIMIT \(Self.mostNotes)
      """
    ) { try UserNote($0) }
  }

  /// Returns a note and its account, for the confirmation page.
  ///
  /// - Returns: The account and the note.
  /// - Throws: ``ActionDenial``; ``ActionDenial/nothingToDo`` if the note was deleted.
  public func note(
    _ scope: Scope, _ account: ID<Account>, _ id: Int64
  ) async throws(ActionDenial) -> (account: Account, note: UserNote) {
    try await store.read(ActionDenial.self) { connection in
      guard let account = try AccountRecord.find(scope, account, connection) else {
        throw ActionDenial.accountNotFound
      }
      return (account, try UserNote.find(id, about: account, connection))
    }
  }

  /// Saves the request's note about a user, 1 to ``ActionRequest/longestNote`` characters.
  ///
  /// - Returns: The note.
  /// - Throws: ``ActionDenial``.
  @discardableResult
  public func writeNote(
    _ scope: Scope, _ account: ID<Account>, _ request: ActionRequest
  ) async throws(ActionDenial) -> UserNote {
    try await authorization.remark(.writeNote, request, on: account, in: scope) {
      account, now, connection in
      let author = request.author.actor.name
      let id = try connection.first(
        """
        INSERT INTO user_note (note_id, account_key, written_at, author_name, text)
        VALUES (\(SQL.nextNumber("note_id", of: "user_note")), \(account.key), \(now.microseconds), \(author), \(request.note))
        RETURNING note_id
        """
      ) { try $0.value(0) as Int64 }
      guard let id else { throw Failure("a note without a number") }
      let entry = AuditEntry(.accountNote, of: account, in: scope)
      return SupportAction(
        entry: entry,
        value: UserNote(id: id, writtenAt: now, author: author, text: request.note))
    }
  }

  /// Deletes a note, regardless of its author.
  ///
  /// The text stays in the audit log entry of its creation.
  ///
  /// - Returns: The note before it was deleted.
  /// - Throws: ``ActionDenial``; ``ActionDenial/nothingToDo`` if the note was already deleted.
  @discardableResult
  public func deleteNote(
    _ scope: Scope, _ account: ID<Account>, _ id: Int64, _ request: ActionRequest
  ) async throws(ActionDenial) -> UserNote {
    try await authorization.remark(.deleteNote, request, on: account, in: scope) {
      account, _, connection in
      let note = try UserNote.find(id, about: account, connection)
      // The row stays without its text, so that a later note can't get a number that an open form
      // still contains.
      try connection.run(
        """
        UPDATE user_note SET text = ''
        WHERE account_key = \(account.key) AND note_id = \(note.id)
        """)
      var entry = AuditEntry(.accountDeleteNote, of: account, in: scope)
      entry.add(.noteAuthor, lost: .text(note.author))
      entry.add(.noteWrittenAt, lost: .instant(note.writtenAt))
      return SupportAction(entry: entry, value: note)
    }
  }
}

extension UserNote {
  static let columns: SQL = "note_id, written_at, author_name, text"

  init(_ row: borrowing Row) throws {
    id = try row.value(0)
    writtenAt = Instant(microseconds: try row.value(1))
    author = try row.value(2)
    text = try row.value(3)
  }

  static func find(
    _ id: Int64, about account: Account, _ connection: borrowing Connection
  ) throws -> UserNote {
    let note = try connection.first(
      """
      SELECT \(columns) FROM user_note
      WHERE account_key = \(account.key) AND note_id = \(id) AND text <> ''
      """
    ) { try UserNote($0) }
    guard let note else { throw ActionDenial.nothingToDo }
    return note
  }
}
