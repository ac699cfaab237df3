import Database

/// What a user can say was none of theirs, by the link in a mail.
public struct Objection: Sendable {
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
public enum ObjectionError: Error, Sendable {
  /// A link that was never made, or whose account is gone.
  case unknown
  /// A link that was used.
  case used(Objection)
  /// A link that came too late.
  case expired(Objection)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ObjectionError: UseCaseError {}

/// Lets users say that something was none of theirs, which stops all changes of their second factors.
public struct Objections: Sendable {
  let store: Store

  /// What a link would object to.
  ///
  /// - Throws: ``ObjectionError``.
  public func look(at code: String) async throws(ObjectionError) -> Objection {
    let now = store.clock.now()
    return try await store.read(ObjectionError.self) { connection in
      try Self.find(code, at: now, connection).objection
    }
  }

  /// Objects: ends the sessions of the account and what stands in for its authenticator app, lets
  /// nobody change its second factors, and alerts those who answer for the user pool.
  ///
  /// All other links of the kind that the account has are used up with it, for what they do is done.
  ///
  /// - Throws: ``ObjectionError``.
  @discardableResult
  public func object(_ code: String, by author: Author) async throws(ObjectionError) -> Objection {
    let now = store.clock.now()
    let store = store
    return try await store.write(ObjectionError.self) { connection in
      let link = try Self.find(code, at: now, connection)
      guard let account = try AccountRecord.find(key: link.account, connection) else {
        throw ObjectionError.unknown
      }
      let objection = link.objection
      try UserLink.useAll(.objection, of: account.key, at: now, connection)
      try UserLink.useAll(.enrolment, of: account.key, at: now, connection)
      for kind in StandInCodes.Kind.allCases {
        try StandInCodes.clear(kind, of: account.key, connection)
      }
      let ended = try AccountRecord.endSessions(account.key, at: now, connection)
      let isNew =
        try connection.run(
          """
          UPDATE account SET changes_locked_at = \(now.microseconds)
          WHERE account_key = \(account.key) AND changes_locked_at IS NULL
          """) == 1
      var entry = AuditEntry(
        "factor.object", "account", account.id.text, name: account.label, in: objection.scope)
      entry.from = "\(objection.fact), on \(objection.at.inWords)"
      entry.to = [
        isNew ? "changes locked" : "changes stay locked",
        Words.ended(ended, "session", "sessions"),
      ].compactMap { $0 }.joined(separator: ", ")
      try entry.record(by: author.user(account), at: now, connection)
      if isNew { try store.alert(objection, account, at: now, connection) }
      return objection
    }
  }

  private static func find(
    _ code: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> UserLink {
    guard let link = try UserLink.find(code, .objection, connection) else {
      throw ObjectionError.unknown
    }
    guard link.usedAt == nil else { throw ObjectionError.used(link.objection) }
    guard now < link.expiresAt else { throw ObjectionError.expired(link.objection) }
    return link
  }
}

extension UserLink {
  fileprivate var objection: Objection {
    Objection(scope: scope, fact: about, at: createdAt, expiresAt: expiresAt)
  }
}

/// A user who said that a change was none of theirs.
public struct ObjectingUser: Sendable {
  /// Whose account.
  public let account: ID<Account>
  /// The name that people know it by.
  public let label: String
  /// Since when nobody changes its second factors.
  public let since: Instant
}

/// How many users of a pool said that a change was none of theirs.
public struct ObjectingPool: Sendable {
  /// The user pool.
  public let scope: Scope
  /// How many.
  public let users: Int
}

extension Objections {
  /// The users of a pool whose second factors nobody changes, the longest waiting first.
  ///
  /// - Throws: ``ObjectionError/unavailable(_:)``.
  public func users(
    of scope: Scope, limit: Int
  ) async throws(ObjectionError) -> [ObjectingUser] {
    try await store.read(ObjectionError.self) { connection in
      let rows = try connection.all(
        """
        SELECT account_key, changes_locked_at FROM account
        WHERE scope_key = \(scope.key) AND changes_locked_at IS NOT NULL
        ORDER BY changes_locked_at LIMIT \(limit)
        """
      ) { row in (key: try row.value(0) as Int64, at: try row.value(1) as Int64) }
      return try rows.compactMap { row in
        try AccountRecord.find(key: row.key, connection).map { account in
          ObjectingUser(
            account: account.id, label: account.label, since: Instant(microseconds: row.at))
        }
      }
    }
  }

  /// The pools with such users, of those that an administrator may see.
  ///
  /// They stand in an index, so that finding none costs nothing.
  ///
  /// - Throws: ``ObjectionError/unavailable(_:)``.
  public func pools(
    visibleTo administrator: Administrator, limit: Int
  ) async throws(ObjectionError) -> [ObjectingPool] {
    guard !administrator.grants.isEmpty else { return [] }
    let restriction = administrator.restriction
    return try await store.read(ObjectionError.self) { connection in
      try connection.all(
        """
        SELECT \(Scope.columns), count(*) FROM account a
          CROSS JOIN scope s ON s.scope_key = a.scope_key CROSS JOIN project p USING (project_id)
        WHERE a.scope_key > 0 AND a.changes_locked_at IS NOT NULL AND s.deleted_at IS NULL
          \(restriction)
        GROUP BY a.scope_key ORDER BY a.scope_key LIMIT \(limit)
        """
      ) { row in ObjectingPool(scope: try Scope(row), users: try row.value(7)) }
    }
  }
}
