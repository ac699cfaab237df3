import Database

extension Administrators {
  /// Grants an administrator a role, effective immediately in open sessions.
  ///
  /// If they already have it, its end becomes the given one.
  ///
  /// - Returns: False if they already have it with this end and nothing changed.
  @discardableResult
  public func grant(
    _ grant: Grant, until end: Instant? = nil, to id: ID<Administrator>, by caller: Caller
  ) async throws -> ActionOutcome<Bool> {
    try await store.run(.grantRole, by: caller, in: .instance) { context, connection in
      let now = context.now
      // A role that ended since the last purge is a new one now.
      try Self.endGrants(of: id, context.outbox, at: now, connection)
      let record = try Self.manage(id, by: context.author, at: now, connection)
      try Self.checkPlace(of: grant, connection)
      guard !record.administrator.grants.contains(grant) else {
        // From now on it's granted by hand, and stays whatever the groups are.
        let isKept =
          try connection.run(
            """
            UPDATE administrator_grant SET is_from_provider = 0
            WHERE \(Self.row(of: grant, id)) AND is_from_provider = 1
            """) > 0
        if isKept {
          var entry = Self.entry(.administratorGrant, record)
          entry.add(.grants, .of([grant]))
          try context.record(entry, connection)
          try context.outbox.notify(
            of: .given, grant, until: end, of: record.administrator, by: context.author, at: now,
            connection)
        }
        return try Self.setEnd(of: grant, of: record, to: end, context, connection) || isKept
      }
      try Self.check(end: end, at: now)
      try Self.checkGroups(record, giving: grant, until: end, connection)
      try Self.insert(grant, of: id, until: end, at: now, connection)
      var entry = Self.entry(.administratorGrant, record)
      entry.add(.grants, .of([grant]))
      if let end { entry.add(.grantEnds, .instant(end)) }
      try context.record(entry, connection)
      try context.outbox.notify(
        of: .given, grant, until: end, of: record.administrator, by: context.author, at: now,
        connection)
      return true
    }
  }

  /// Revokes a role, effective immediately in open sessions.
  ///
  /// Service tokens they created that exceed their remaining permissions are revoked too.
  ///
  /// - Returns: The number of revoked tokens.
  @discardableResult
  public func revoke(
    _ grant: Grant, from id: ID<Administrator>, by caller: Caller
  ) async throws -> ActionOutcome<Int> {
    try await store.run(.revokeRole, by: caller, in: .instance) { context, connection in
      let (author, now) = (context.author, context.now)
      try Self.endGrants(of: id, context.outbox, at: now, connection)
      let record = try Self.manage(id, by: author, at: now, connection)
      let removed = try connection.run(
        "DELETE FROM administrator_grant WHERE \(Self.row(of: grant, id))")
      guard removed == 1 else { throw CallError.notFound }
      // Checked after the change, in the same transaction: if two owners revoke each other, one
      // fails.
      try Self.requireOwners(after: record, losing: [grant], connection)
      var entry = Self.entry(.administratorRevoke, record)
      entry.add(.grants, lost: .of([grant]))
      try context.record(entry, connection)
      try context.outbox.notify(
        of: .revoked, grant, until: record.grantEnds[grant], of: record.administrator, by: author,
        at: now, connection)
      return try ServiceTokens.revokeExceeding(id, by: author, at: now, connection)
    }
  }

  /// Removes an administrator with their grants, factor, codes, and sessions.
  ///
  /// Service tokens they created are revoked; their audit rows are kept.
  ///
  /// - Returns: The number of revoked tokens.
  @discardableResult
  public func remove(
    _ id: ID<Administrator>, by caller: Caller
  ) async throws -> ActionOutcome<Int> {
    try await store.run(.removeAdministrator, by: caller, in: .instance) { context, connection in
      let (author, now) = (context.author, context.now)
      try Self.endGrants(of: id, context.outbox, at: now, connection)
      let record = try Self.manage(id, by: author, at: now, connection)
      try connection.run("DELETE FROM administrator WHERE administrator_id = \(id)")
      try Self.requireOwners(
        after: record, losing: record.administrator.grants, connection)
      var entry = Self.entry(.administratorRemove, record)
      entry.add(.email, lost: .text(record.administrator.email))
      entry.add(.grants, lost: .of(record.administrator.grants))
      try context.record(entry, connection)
      for grant in record.administrator.grants {
        try context.outbox.notify(
          of: .revoked, grant, until: record.grantEnds[grant], of: record.administrator,
          by: author, at: now, connection)
      }
      return try ServiceTokens.revokeExceeding(id, by: author, at: now, connection)
    }
  }

  /// Finds an administrator to change, after checking that the author is allowed to.
  static func manage(
    _ id: ID<Administrator>, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> AdministratorRecord {
    try mustManage(author, at: now, connection)
    if case .administrator(let own, _) = author.actor, own == id { throw ManagementError.oneself }
    return try record(id, at: now, connection)
  }

  /// Checks that the author is currently an owner of the instance, or has access to the data
  /// folder.
  static func mustManage(
    _ author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    guard try mayManage(author.actor, at: now, connection) else { throw ManagementError.notAllowed }
  }

  static func mayManage(
    _ actor: Actor, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    switch actor {
    case .commandLine: true
    case .administrator(let id, _):
      try grants(id, at: now, connection).contains(where: \.managesAdministrators)
    case .serviceToken, .user, .emulatorOwner, .server, .visitor, .remote: false
    }
  }

  static func checkPlace(of grant: Grant, _ connection: borrowing Connection) throws {
    guard let project = grant.project else { return }
    do {
      _ = try Pools.find(project: project, tenant: grant.tenant, connection)
    } catch is PoolLookupError {
      throw ManagementError.poolNotFound
    }
  }

  static func entry(_ action: AuditAction, _ record: AdministratorRecord) -> AuditEntry {
    AuditEntry(action, of: record.administrator)
  }
}

extension Administrators {
  /// The maximum number of roles of one administrator, or in one place, that end at a time.
  private static let mostEnded = 200

  /// Nil removes the end date.
  ///
  /// - Returns: False if the end is the same and nothing changed.
  public func setEnd(
    of grant: Grant, of id: ID<Administrator>, to end: Instant?, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    try await store.run(.grantRole, by: .console(request), in: .instance) { context, connection in
      let record = try Self.manage(id, by: context.author, at: context.now, connection)
      guard record.administrator.grants.contains(grant) else { throw CallError.notFound }
      return try Self.setEnd(of: grant, of: record, to: end, context, connection)
    }
  }

  static func setEnd(
    of grant: Grant, of record: AdministratorRecord, to end: Instant?, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws -> Bool {
    let (now, holder, old) = (context.now, record.administrator, record.grantEnds[grant])
    guard old != end else { return false }
    try check(end: end, at: now)
    try checkGroups(record, giving: grant, until: end, connection)
    try connection.run(
      """
      UPDATE administrator_grant
      SET ends_at = \(end), is_reminded = \(isSoon(end, at: now))
      WHERE \(row(of: grant, holder.id))
      """)
    try requireOwners(after: record, losing: [grant], connection)
    var entry = entry(.administratorGrantChange, record)
    entry.add(.grants, .of([grant]))
    entry.add(.grantEnds, from: .optional(old), to: .optional(end))
    try context.record(entry, connection)
    try context.outbox.notify(
      of: .changed, grant, until: end, of: holder, by: context.author, at: now, connection)
    return true
  }

  /// Checks that a role with an end date isn't one that a group gives, which would return without an
  /// end at the next sign-in.
  static func checkGroups(
    _ record: AdministratorRecord, giving grant: Grant, until end: Instant?,
    _ connection: borrowing Connection
  ) throws {
    guard end != nil else { return }
    let isFromGroup =
      try record.groupGrants.contains(grant)
      || ProviderRoles.wanted(
        of: record.administrator.id, by: ConsoleProvider.find(connection), connection
      ).contains(grant)
    guard !isFromGroup else { throw ManagementError.roleFromGroup }
  }

  /// Inserts a row of `administrator_grant`; a role that ends soon counts as reminded of.
  static func insert(
    _ grant: Grant, of id: ID<Administrator>, until end: Instant? = nil,
    isFromProvider: Bool = false, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO administrator_grant (administrator_id, role, project_id, tenant_id, ends_at,
        is_reminded, is_from_provider)
      VALUES (\(id), \(grant.role), \(grant.project?.text ?? ""),
        \(grant.tenant?.text ?? ""), \(end), \(isSoon(end, at: now)),
        \(isFromProvider))
      """)
  }

  static func row(of grant: Grant, _ id: ID<Administrator>) -> SQL {
    """
    administrator_id = \(id) AND role = \(grant.role)
      AND project_id = \(grant.project?.text ?? "") AND tenant_id = \(grant.tenant?.text ?? "")
    """
  }

  /// Deletes roles whose end has passed, each with its own audit log entry, and revokes the service
  /// tokens that exceed what's left.
  ///
  /// The roles haven't been in force since their end; this only records it.
  @discardableResult
  static func endGrants(
    of id: ID<Administrator>? = nil, withDeleted deleted: Pool? = nil, _ outbox: Outbox,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let which: SQL =
      if let id {
        "AND administrator_id = \(id)"
      } else if let deleted {
        "AND \(Deletion.place(of: deleted))"
      } else {
        "ORDER BY ends_at"
      }
    // Those of one administrator or place are few.
    let limit = id == nil && deleted == nil ? CleanupLimit.costlyRows : mostEnded
    let ended = try connection.all(
      """
      SELECT \(TimedGrant.heldColumns) FROM administrator_grant
      WHERE ends_at <= \(now) \(which) LIMIT \(limit)
      """
    ) { try TimedGrant.held(&$0) }
    let author = Author(actor: .server)
    for (timed, holder) in ended {
      try connection.run("DELETE FROM administrator_grant WHERE \(row(of: timed.grant, holder))")
      let record = try record(holder, at: now, connection)
      var entry = entry(.administratorGrantEnd, record)
      entry.add(.grants, lost: .of([timed.grant]))
      if let end = timed.end { entry.add(.grantEnds, .instant(end)) }
      try entry.record(by: author, at: now, connection)
      _ = try ServiceTokens.revokeExceeding(holder, by: author, at: now, connection)
      try outbox.notify(
        of: .ended, timed.grant, until: timed.end, of: record.administrator, by: author,
        withDeleted: deleted, at: now, connection)
    }
    return ended.count == limit
  }

  /// Emails administrators whose role ends in a week, once for each end date, a limited number at a
  /// time.
  static func remindOfGrants(
    _ outbox: Outbox, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let limit = CleanupLimit.costlyRows
    let soon = now.advanced(bySeconds: reminderLead)
    let ending = try connection.all(
      """
      SELECT \(TimedGrant.heldColumns) FROM administrator_grant
      WHERE ends_at > \(now) AND ends_at <= \(soon) AND is_reminded = 0
      ORDER BY ends_at LIMIT \(limit)
      """
    ) { try TimedGrant.held(&$0) }
    for (timed, holder) in ending {
      try connection.run(
        "UPDATE administrator_grant SET is_reminded = 1 WHERE \(row(of: timed.grant, holder))")
      guard let administrator = try present(holder, at: now, connection) else { continue }
      try outbox.notify(
        of: .ending, timed.grant, until: timed.end, of: administrator,
        by: Author(actor: .server), at: now, connection)
    }
    return ending.count == limit
  }
}
