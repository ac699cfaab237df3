import Database

/// A change that a user can report with the link in an email.
public struct ReportedChange: Sendable {
  public let pool: Pool
  public let fact: Fact
  public let at: Instant
  public let expiresAt: Instant

  public enum Fact: Sendable, Equatable {
    case notice(UserNotice)
    /// A clause that an earlier version stored, such as `your password was changed`.
    case clause(String)

    /// Reads a stored change, as links and the audit log have it.
    public init(stored: String) {
      self = UserNotice(stored: stored).map { .notice($0) } ?? .clause(stored)
    }

    var audited: AuditValue {
      switch self {
      case .notice(let notice): .code(notice.stored)
      case .clause(let clause): .text(clause)
      }
    }
  }
}

public enum ReportedChangeError: Error, Sendable {
  /// The link doesn't exist, or its account was deleted.
  case unknown
  case used(ReportedChange)
  case expired(ReportedChange)
}

/// Lets users report a change that wasn't theirs, which locks their account.
public struct ReportedChanges: Sendable {
  let store: Store

  public func look(at code: String) async throws -> ReportedChange {
    try await store.read { now, connection in
      try Self.find(code, at: now, connection).reportedChange
    }
  }

  /// Reports a change: ends the account's sessions, revokes its backup codes and enrollment links,
  /// locks it (``AccountLock``), and alerts the administrators of the pool.
  ///
  /// This also uses up the account's other links to report a change.
  @discardableResult
  public func object(_ code: String, by author: Author) async throws
    -> ReportedChange
  {
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      let link = try Self.find(code, at: now, connection)
      guard let account = try AccountRecord.find(key: link.account, connection) else {
        throw ReportedChangeError.unknown
      }
      let reportedChange = link.reportedChange
      try UserLink.useAll(.reportedChange, of: account.key, at: now, connection)
      try UserLink.useAll(.enrollment, of: account.key, at: now, connection)
      let codes = try BackupCodeCounts(of: account, at: now, connection)
      try BackupCodeStore.clear(BackupCodeStore.Kind.allCases, of: account.key, connection)
      // Those of a connected project are ended where they are, by an administrator.
      let ended =
        try link.pool.kind == .hosted
        ? AccountRecord.endSessions(account.key, at: now, connection) : 0
      try OwnChange.renew(of: account.key, connection)
      // A program may have got them.
      try OutOfBandRecord.end(by: [.password], of: account, in: link.pool, at: now, connection)
      let lock = try AccountLock(
        of: account, reportedFrom: link.address, in: link.pool, at: now, connection)
      try AccountLock.store(lock, of: account.key, connection)
      let isNew = account.lock == nil
      var entry = AuditEntry(.factorReport, of: account, in: reportedChange.pool)
      entry.add(.reportedChange, reportedChange.fact.audited)
      entry.add(.reportedAt, .instant(reportedChange.at))
      if isNew { entry.add(.changesLockedAt, from: .absent, to: .instant(now)) }
      entry.addEnded(ended)
      try entry.addEnded(codes, of: account, at: now, connection)
      try entry.record(by: author.user(account), limitedBy: .link, at: now, connection)
      if account.lock?.signIn != lock.signIn {
        try store.alert(reportedChange, account, lock.signIn, at: now, connection)
      }
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
    guard !link.isExpired(at: now) else { throw ReportedChangeError.expired(link.reportedChange) }
    return link
  }
}

extension UserLink {
  fileprivate var reportedChange: ReportedChange {
    ReportedChange(
      pool: pool, fact: ReportedChange.Fact(stored: about), at: createdAt, expiresAt: expiresAt)
  }
}

/// A user who reported a change that wasn't theirs.
public struct ReportingUser: Sendable {
  public let account: ID<Account>
  public let label: String
  /// When it was locked.
  public let since: Instant
}

public struct ReportingPool: Sendable {
  public let pool: Pool
  public let users: Int
}

extension ReportedChanges {
  /// Lists the users of a pool whose accounts are locked, longest first.
  public func users(
    of pool: Pool, limit: Int
  ) async throws -> [ReportingUser] {
    try await store.read { connection in
      let rows = try connection.all(
        """
        SELECT account_key, changes_locked_at FROM account
        WHERE scope_key = \(pool.key) AND changes_locked_at IS NOT NULL
        ORDER BY changes_locked_at LIMIT \(limit)
        """
      ) { row in (key: try row.next() as Int64, at: try row.next() as Instant) }
      return try rows.compactMap { row in
        try AccountRecord.find(key: row.key, connection).map { account in
          ReportingUser(account: account.id, label: account.label, since: row.at)
        }
      }
    }
  }

  /// A partial index covers locked accounts, so the query is cheap if there are none.
  public func pools(
    visibleTo administrator: Administrator, limit: Int
  ) async throws -> [ReportingPool] {
    guard !administrator.grants.isEmpty else { return [] }
    let restriction = administrator.restriction
    return try await store.read { connection in
      try connection.all(
        """
        SELECT \(Pool.columns), count(*) FROM account a
          \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
            \(SQL.orderedJoin) project p USING (project_id)
        WHERE a.scope_key > 0 AND a.changes_locked_at IS NOT NULL AND s.deleted_at IS NULL
          \(restriction)
        GROUP BY a.scope_key\(SQL.alsoGrouped(by: "s.scope_key, p.project_id"))
        ORDER BY a.scope_key LIMIT \(limit)
        """
      ) { row in ReportingPool(pool: try Pool(&row), users: try row.next()) }
    }
  }
}

extension Store {
  private static let mostAlerted = 50

  /// Emails the owners and policy admins of a pool that a user reported a change.
  ///
  /// The email doesn't name the account to administrators who can't search users.
  func alert(
    _ reportedChange: ReportedChange, _ account: Account, _ signIn: AccountLock.SignIn,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    // Without a mail server, the console shows it, and nothing about the user is stored.
    guard outbox.carriesMail else { return }
    let readers = try Administrators.recipients(
      with: .editSupportRules, around: reportedChange.pool, atMost: Self.mostAlerted, at: now,
      connection)
    for reader in readers {
      let findsUsers = reader.role.permissions.contains(.findUsers)
      let known = ReportedChangeMail.ReportedAccount(
        label: account.label, id: account.id,
        link: links.console(account.id, in: reportedChange.pool))
      let mail = ReportedChangeMail(
        change: reportedChange, account: findsUsers ? known : nil, signIn: signIn, at: now)
      try outbox.add(
        .changesLocked, .reportedChange(mail),
        to: OutboxMessage.Reader(
          id: reader.id, permission: findsUsers ? .findUsers : .editSupportRules),
        at: reader.email, about: account.id, in: reportedChange.pool, now, connection)
    }
  }
}
