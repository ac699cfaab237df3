import Database
import Text

extension UserData {
  /// Erases everything that's stored about a user, whose account may be deleted already.
  ///
  /// Everything but the audit log is erased at once; ``continueErasures()`` erases the log. The
  /// user isn't notified, because the message would contain their address. An administrator must
  /// have typed the account's email, case-insensitive, or its UID.
  ///
  /// - Throws: ``ActionDenial/accountNotFound`` if nothing is stored, ``ActionDenial/existsElsewhere`` for
  ///   a user of a connected project who isn't gone there.
  public func erase(
    _ pool: Pool, _ uid: ID<Account>, by caller: Caller
  ) async throws -> ActionOutcome<Erasure> {
    let user = user(uid, in: pool) { account in
      caller.request?.confirms(account) == false ? [.notConfirmed] : []
    }
    return try await store.run(.eraseUser, by: caller, on: user) { _, context, connection in
      let subject = try existing(pool, uid, connection)
      // The next walk would bring them back.
      if let account = subject.account, account.askedAt != nil, account.goneAt == nil {
        throw ActionDenial.existsElsewhere
      }
      let (erasure, entry) = try Self.erase(
        subject, by: context.author, at: context.now, connection)
      try context.record(entry, connection)
      return erasure
    }
  }

  /// The administrator must have typed the UID.
  ///
  /// - Throws: ``ActionDenial/accountNotFound`` if nothing is stored, and
  ///   ``ActionDenial/nothingToDo`` if the user isn't deleted.
  public func eraseDeleted(
    _ pool: Pool, _ uid: ID<Account>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Erasure> {
    try await store.run(
      .eraseDeletedUser, by: .console(request), in: ActionTarget(pool)
    ) { context, connection in
      let subject = try existing(pool, uid, connection)
      guard subject.account == nil else { throw ActionDenial.nothingToDo }
      let (erasure, entry) = try Self.erase(
        subject, by: context.author, at: context.now, connection)
      try context.record(entry, connection)
      return erasure
    }
  }

  public func progress(
    of erasure: Int64, in pool: Pool
  ) async throws -> Progress? {
    try await store.read { connection in
      try connection.first(
        """
        SELECT entries, parts, finished_at IS NOT NULL FROM user_erasure
        WHERE scope_key = \(pool.key) AND erasure_id = \(erasure)
        """
      ) { row in
        Progress(
          entries: try row.next(), parts: try row.next(), isFinished: try row.next())
      }
    }
  }

  private static func erase(
    _ subject: UserDataSubject, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> (erasure: Erasure, entry: AuditEntry) {
    let (pool, identifiers) = (subject.pool, subject.identifiers)
    var sessions = 0
    if let account = subject.account {
      sessions = try Sessions.count(account.key, connection)
      // Its entry would contain what is erased.
      _ = try Accounts.delete(account, in: pool, by: author, at: now, connection)
      try connection.run("DELETE FROM session WHERE account_key = \(account.key)")
      try connection.run("DELETE FROM outbox WHERE account_key = \(account.key)")
      try ThrottleCharge.reset(.messages(of: account.key), connection)
      for phone in identifiers.phones {
        try ThrottleCharge.reset(
          .secondFactorMessages(to: phone.text, of: account.key), connection)
      }
    }
    let keys = pool.accountKeys
    try connection.run(
      """
      DELETE FROM session WHERE deleted_uid = \(subject.uid)
        AND account_key BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
      """)
    for recipient in identifiers.recipients {
      // A deleted account's messages also went to addresses that nothing else names.
      try connection.run(
        """
        DELETE FROM outbox WHERE account_key IN (
            SELECT account_key FROM outbox \(index: "outbox_by_recipient")
            WHERE scope_key = \(pool.key) AND recipient = \(recipient))
          AND \(UserDataSubject.isOfNoAccount)
        """)
      try connection.run("DELETE \(subject.messages(to: recipient))")
      try connection.run("DELETE \(subject.emailCodes(to: recipient))")
    }
    try connection.run(
      """
      DELETE FROM outbox \(index: "outbox_about")
      WHERE scope_key = \(pool.key) AND about_uid = \(subject.uid)
      """)
    try connection.run(
      "DELETE FROM approval WHERE scope_key = \(pool.key) AND uid = \(subject.uid)")
    try connection.run("DELETE FROM intent WHERE scope_key = \(pool.key) AND uid = \(subject.uid)")
    try connection.run("DELETE FROM unreadable_secret WHERE \(subject.unreadableSecrets)")
    try connection.run(
      "DELETE FROM mirror_fault WHERE scope_key = \(pool.key) AND uid = \(subject.uid)")
    try eraseGuesses(identifiers, in: pool, connection)
    try eraseBulkRemovals(subject, connection)
    return try begin(subject, sessions: sessions, at: now, connection)
  }

  /// Deletes the counters of the user's phone numbers and email addresses in the pool.
  private static func eraseGuesses(
    _ identifiers: UserIdentifiers, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    for phone in identifiers.phones {
      try ThrottleCharge.reset(.phoneSignInCodes(of: phone.text, in: pool.key), connection)
      try ThrottleCharge.reset(.requestedMessages(to: phone.text, in: pool.key), connection)
      try ThrottleCharge.reset(.enrollmentMessages(to: phone.text, in: pool.key), connection)
    }
    for email in identifiers.emails {
      try ThrottleCharge.reset(
        .passwords(of: TypedEmail(email.text), in: pool.key), connection)
    }
  }

  /// Clears the user's lines in bulk removals, which still say what was done, and what
  /// administrators wrote about the user there.
  private static func eraseBulkRemovals(
    _ subject: UserDataSubject, _ connection: borrowing Connection
  ) throws {
    let (pool, uid, listed) = (subject.pool.key, subject.uid, subject.identifiers.listed)
    try connection.run(
      """
      UPDATE bulk_item SET given = '', uid = NULL, factors = '', removal_id = NULL
      WHERE scope_key = \(pool) AND (uid = \(uid) OR lower(given) IN (\(list: listed)))
      """)
    let texts = try connection.all(
      """
      SELECT j.job_id, coalesce(j.note, ''), coalesce(j.ticket, ''), coalesce(u.note, ''),
        coalesce(u.ticket, ''), coalesce(j.sentence, '')
      FROM bulk_job j LEFT JOIN bulk_undo u USING (scope_key, job_id) WHERE j.scope_key = \(pool)
      """
    ) { row in
      (job: try row.next() as Int64, texts: try (1...5).map { _ in try row.next() as String })
    }
    try eraseRequests(of: subject, connection)
    for (job, texts) in texts where texts.contains(where: subject.identifiers.isMentioned) {
      try connection.run(
        """
        UPDATE bulk_job SET note = NULL, ticket = NULL, sentence = NULL
        WHERE scope_key = \(pool) AND job_id = \(job)
        """)
      try connection.run(
        """
        UPDATE bulk_undo SET note = '', ticket = ''
        WHERE scope_key = \(pool) AND job_id = \(job)
        """)
    }
  }

  /// Clears what administrators wrote about the user in requests that are about no single user.
  private static func eraseRequests(
    of subject: UserDataSubject, _ connection: borrowing Connection
  ) throws {
    let requests = try connection.all(
      """
      SELECT approval_id, note, ticket, coalesce(answer, '')
      FROM approval \(index: "approval_of_user")
      WHERE scope_key = \(subject.pool.key) AND uid = ''
      """
    ) { row in
      (id: try row.next() as Int64, texts: try (1...3).map { _ in try row.next() as String })
    }
    for (id, texts) in requests where texts.contains(where: subject.identifiers.isMentioned) {
      try connection.run(
        """
        UPDATE approval SET note = '', ticket = '', answer = NULL
        WHERE scope_key = \(subject.pool.key) AND approval_id = \(id)
        """)
    }
  }

  /// Stores what has to be erased from the audit log.
  private static func begin(
    _ subject: UserDataSubject, sessions: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> (erasure: Erasure, entry: AuditEntry) {
    let last = try Audit.lastRow(connection)
    let number: Int64? = try connection.first(
      """
      INSERT INTO user_erasure (erasure_id, scope_key, requested_at, last_entry, identifiers)
      VALUES (\(SQL.nextNumber("erasure_id", of: "user_erasure")), \(subject.pool.key), \(now), \(last),
        \(subject.identifiers.stored))
      RETURNING erasure_id
      """
    ) { try $0.next() }
    guard let number else { throw Failure("an erasure without a number") }
    var entry = AuditEntry(
      .accountErase, .erasure, String(number), name: "", in: subject.pool)
    entry.addEnded(sessions)
    return (Erasure(number: number, sessions: sessions), entry)
  }
}

extension ActionRequest {
  /// Whether the agent typed the account's email, in any spelling, or its UID.
  func confirms(_ account: Account) -> Bool {
    typed.isSameBytes(as: account.id.text) || account.hasEmail(typed)
  }
}
