import Database

extension Administrators {
  /// The maximum number of roles of one administrator, or in one place, that end at a time.
  private static let mostEnded = 200

  /// Nil removes the end date.
  ///
  /// - Returns: False if the end is the same and nothing changed.
  public func setEnd(
    of grant: Grant, of id: ID<Administrator>, to end: Instant?, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    try await store.perform(
      .grantRole, request, in: .instance
    ) { context, connection in
      let record = try Self.manage(id, by: context.author, at: context.now, connection)
      guard record.administrator.grants.contains(grant) else { throw ManagementError.notFound }
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
