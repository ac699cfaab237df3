import Database

extension Deletion {
  /// The condition on a row that it applies to a tenant, or to a project with all its tenants.
  static func place(of pool: Pool) -> SQL {
    guard let tenant = pool.tenant else { return "project_id = \(pool.project)" }
    return "project_id = \(pool.project) AND tenant_id = \(tenant)"
  }

  /// Revokes the roles in a tenant, or in a project with all its tenants, that was marked as deleted,
  /// each with its own audit log entry; deletes the invitations and the roles of groups.
  static func revokeAccess(
    to pool: Pool, _ context: ActionContext, _ connection: borrowing Connection
  ) throws {
    let (place, now) = (place(of: pool), context.now)
    // Roles that ended since the last purge weren't revoked.
    while try Administrators.endGrants(withDeleted: pool, context.outbox, at: now, connection) {}
    let revoked = try connection.all(
      """
      SELECT \(TimedGrant.heldColumns) FROM administrator_grant
      WHERE \(place) AND \(Administrators.inForce(at: now))
      ORDER BY project_id, tenant_id, role
      """
    ) { try TimedGrant.held(&$0) }
    try connection.run("DELETE FROM administrator_grant WHERE \(place)")
    for (timed, holder) in revoked {
      let record = try Administrators.record(holder, at: now, connection)
      var entry = Administrators.entry(.administratorRevoke, record)
      entry.add(.grants, lost: .of([timed.grant]))
      try context.record(entry, connection)
      try context.outbox.notify(
        of: .revoked, timed.grant, until: timed.end, of: record.administrator, by: context.author,
        withDeleted: pool, at: now, connection)
    }
    try Invitations.revokeAll(where: place, context, connection)
    try deleteGroupRoles(in: place, context, connection)
  }

  private static func deleteGroupRoles(
    in place: SQL, _ context: ActionContext, _ connection: borrowing Connection
  ) throws {
    let old = try ConsoleProvider.find(connection)
    let deleted = try connection.run(
      "DELETE FROM sign_in_provider_role WHERE group_name > '' AND \(place)")
    guard deleted > 0 else { return }
    let new = try ConsoleProvider.find(connection)
    var entry = AuditEntry(.instanceChangeSignInProvider, of: nil)
    entry.compare(old?.auditFields(), new?.auditFields() ?? [])
    try context.record(entry, connection)
  }
}
