import Database

/// What a user can say was none of theirs, by the link in a mail.
public struct ReportedChange: Sendable {
  /// The user pool.
  public let scope: Scope
  /// What was done, as the beginning of a sentence.
  public let fact: String
  /// When it was done.
  public let at: Instant
  /// Until when the link counts.
  public let expiresAt: Instant
}

/// Why a link by which somebody objects does nothing.
public enum ReportedChangeError: Error, Sendable {
  /// A link that was never made, or whose account is gone.
  case unknown
  /// A link that was used.
  case used(ReportedChange)
  /// A link that came too late.
  case expired(ReportedChange)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ReportedChangeError: UseCaseError {}

/// Lets users say that something was none of theirs, which stops all changes of their second factors.
public struct ReportedChanges: Sendable {
  let store: Store

  /// What a link would object to.
  ///
  /// - Throws: ``ReportedChangeError``.
  public func look(at code: String) async throws(ReportedChangeError) -> ReportedChange {
    let now = store.clock.now()
    return try await store.read(ReportedChangeError.self) { connection in
      try Self.find(code, at: now, connection).reportedChange
    }
  }

  /// Objects: ends the sessions of the account and what stands in for its authenticator app, lets
  /// nobody change its second factors, and alerts those who answer for the user pool.
  ///
  /// All other links of the kind that the account has are used up with it, for what they do is done.
  ///
  /// - Throws: ``ReportedChangeError``.
  @discardableResult
  public func object(_ code: String, by author: Author) async throws(ReportedChangeError)
    -> ReportedChange
  {
    let now = store.clock.now()
    let store = store
    return try await store.write(ReportedChangeError.self) { connection in
      let link = try Self.find(code, at: now, connection)
      guard let account = try AccountRecord.find(key: link.account, connection) else {
        throw ReportedChangeError.unknown
      }
      let reportedChange = link.reportedChange
      try UserLink.useAll(.reportedChange, of: account.key, at: now, connection)
      try UserLink.useAll(.enrollment, of: account.key, at: now, connection)
      for kind in BackupCodeStore.Kind.allCases {
        try BackupCodeStore.clear(kind, of: account.key, connection)
      }
      let ended = try AccountRecord.endSessions(account.key, at: now, connection)
      let isNew =
        try connection.run(
          """
          UPDATE account SET changes_locked_at = \(now.microseconds)
          WHERE account_key = \(account.key) AND changes_locked_at IS NULL
          """) == 1
      var entry = AuditEntry(
        "factor.object", "account", account.id.text, name: account.label, in: reportedChange.scope)
      entry.from = "\(reportedChange.fact), on \(reportedChange.at.formatted)"
      entry.to = [
        isNew ? "changes locked" : "changes stay locked",
        Words.ended(ended, "session", "sessions"),
      ].compactMap { $0 }.joined(separator: ", ")
      try entry.record(by: author.user(account), at: now, connection)
      if isNew { try store.alert(reportedChange, account, at: now, connection) }
      return reportedChange
    }
  }

  private static func find(
    _ code: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> UserLink {
    guard let link = try UserLink.find(code, .reportedChange, connection) else {
      throw ReportedChangeError.unknown
    }
    guard link.usedAt == nil else { throw ReportedChangeError.used(link.reportedChange) }
    guard now < link.expiresAt else { throw ReportedChangeError.expired(link.reportedChange) }
    return link
  }
}

extension UserLink {
  fileprivate var reportedChange: ReportedChange {
    ReportedChange(scope: scope, fact: about, at: createdAt, expiresAt: expiresAt)
  }
}

/// A user who said that a change was none of theirs.
public struct ReportingUser: Sendable {
  /// Whose account.
  public let account: ID<Account>
  /// The name that people know it by.
  public let label: String
  /// Since when nobody changes its second factors.
  public let since: Instant
}

/// How many users of a pool said that a change was none of theirs.
public struct ReportingPool: Sendable {
  /// The user pool.
  public let scope: Scope
  /// How many.
  public let users: Int
}

extension ReportedChanges {
  /// The users of a pool whose second factors nobody changes, the longest waiting first.
  ///
  /// - Throws: ``ReportedChangeError/unavailable(_:)``.
  public func users(
    of scope: Scope, limit: Int
  ) async throws(ReportedChangeError) -> [ReportingUser] {
    try await store.read(ReportedChangeError.self) { connection in
      let rows = try connection.all(
        """
        SELECT account_key, changes_locked_at FROM account
        WHERE scope_key = \(scope.key) AND changes_locked_at IS NOT NULL
        ORDER BY changes_locked_at LIMIT \(limit)
        """
      ) { row in (key: try row.value(0) as Int64, at: try row.value(1) as Int64) }
      return try rows.compactMap { row in
        try AccountRecord.find(key: row.key, connection).map { account in
          ReportingUser(
            account: account.id, label: account.label, since: Instant(microseconds: row.at))
        }
      }
    }
  }

  /// The pools with such users, of those that an administrator may see.
  ///
  /// They stand in an index, so that finding none costs nothing.
  ///
  /// - Throws: ``ReportedChangeError/unavailable(_:)``.
  public func pools(
    visibleTo administrator: Administrator, limit: Int
  ) async throws(ReportedChangeError) -> [ReportingPool] {
    guard !administrator.grants.isEmpty else { return [] }
    let restriction = administrator.restriction
    return try await store.read(ReportedChangeError.self) { connection in
      try connection.all(
        """
        SELECT \(Scope.columns), count(*) FROM account a
          CROSS JOIN scope s ON s.scope_key = a.scope_key CROSS JOIN project p USING (project_id)
        WHERE a.scope_key > 0 AND a.changes_locked_at IS NOT NULL AND s.deleted_at IS NULL
          \(restriction)
        GROUP BY a.scope_key ORDER BY a.scope_key LIMIT \(limit)
        """
      ) { row in ReportingPool(scope: try Scope(row), users: try row.value(7)) }
    }
  }
}
