import Database

/// What is lost when a project or tenant is deleted.
public struct DeletionImpact: Equatable, Sendable {
  /// The number of tenants; 0 if a tenant is deleted.
  public let tenants: Int
  /// The number of users, including those of tenants.
  public let users: Int
  /// The number of users with a second factor.
  public let enrolledUsers: Int
  public let apiKeys: Int
  /// The number of valid service tokens.
  public let serviceTokens: Int
  public let roles: Int
  /// The number of roles that groups give at the sign-in provider.
  public let groupRoles: Int
  /// The number of pending invitations.
  public let invitations: Int
}

/// Deletes projects and tenants.
///
/// One write marks them as deleted, and from then on they can't be found. They may have a million
/// users, and deleting those at once would block all other writes for minutes, so they're deleted
/// in parts: the first immediately, the rest one write after another. An index lists what is marked
/// but not yet deleted, so that a restarted server can continue.
enum Deletion {
  /// The maximum number of rows that one write deletes.
  static let share = 100

  static func deletionImpact(
    of pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> DeletionImpact {
    let project = pool.project.text
    let place = place(of: pool)
    let roles = try count(
      """
      SELECT count(*) FROM administrator_grant
      WHERE \(place) AND \(Administrators.inForce(at: now))
      """, connection)
    let groupRoles = try count(
      "SELECT count(*) FROM sign_in_provider_role WHERE group_name > '' AND \(place)", connection)
    let invitations = try count(
      "SELECT count(*) FROM invitation WHERE \(place) AND expires_at > \(now)",
      connection)
    guard let tenant = pool.tenant else {
      let counts = try connection.first(
        """
        SELECT p.tenants, \(AccountCounts.current(ofProject: "users")),
          \(AccountCounts.current(ofProject: "enrolled_users"))
        FROM project p WHERE p.project_id = \(project)
        """
      ) { row in try (0...2).map { _ in try row.next() as Int } }
      return DeletionImpact(
        tenants: counts?[0] ?? 0, users: counts?[1] ?? 0, enrolledUsers: counts?[2] ?? 0,
        apiKeys: try count(
          "SELECT count(*) FROM api_key WHERE project_id = \(project)", connection),
        serviceTokens: try count(
          """
          SELECT count(*) FROM service_token WHERE project_id = \(project) AND revoked_at IS NULL
          """, connection), roles: roles, groupRoles: groupRoles, invitations: invitations)
    }
    let counts = try connection.first(
      """
      SELECT \(AccountCounts.current("users")), \(AccountCounts.current("enrolled_users"))
      FROM scope s WHERE s.scope_key = \(pool.key)
      """
    ) { row in try (0...1).map { _ in try row.next() as Int } }
    return DeletionImpact(
      tenants: 0, users: counts?[0] ?? 0, enrolledUsers: counts?[1] ?? 0, apiKeys: 0,
      serviceTokens: try count(
        """
        SELECT count(*) FROM service_token
        WHERE project_id = \(project) AND tenant_id = \(tenant) AND revoked_at IS NULL
        """, connection), roles: roles, groupRoles: groupRoles, invitations: invitations)
  }

  private static func count(_ query: SQL, _ connection: borrowing Connection) throws -> Int {
    try connection.first(query) { try $0.next() } ?? 0
  }

  /// Marks a tenant, or a project with all its tenants, as deleted; keys, tokens, roles, and
  /// invitations are removed immediately.
  ///
  /// A connected one can be connected again, so its roles, sign-offs, support rules, and playbook stay.
  static func mark(
    _ pool: Pool, _ context: ActionContext, _ connection: borrowing Connection
  ) throws {
    let (project, now) = (pool.project.text, context.now)
    try CountChanges.fold(pool, connection)
    // Lists and requests are deleted with the pool, so only the audit log says how they ended.
    try BulkRemovals.stopAll(deleted: pool, at: now, connection)
    try Approvals.closeAll(deleted: pool, at: now, connection)
    var tokens: SQL = "project_id = \(project) AND revoked_at IS NULL"
    if let tenant = pool.tenant {
      tokens += " AND tenant_id = \(tenant)"
      try connection.run(
        "UPDATE scope SET deleted_at = \(now) WHERE scope_key = \(pool.key)")
    } else {
      try connection.run(
        """
        UPDATE scope SET deleted_at = \(now)
        WHERE project_id = \(project) AND deleted_at IS NULL
        """)
      try connection.run(
        "UPDATE project SET deleted_at = \(now) WHERE project_id = \(project)")
      try connection.run("DELETE FROM api_key WHERE project_id = \(project)")
      try connection.run("DELETE FROM trusted_token_key WHERE project_id = \(project)")
      if pool.kind == .hosted {
        try connection.run("DELETE FROM sign_off WHERE project_id = \(project)")
      }
    }
    guard pool.kind == .hosted else {
      return try Invitations.revokeAll(where: place(of: pool), context, connection)
    }
    // A later project or tenant must not inherit these through the same ID.
    try revokeAccess(to: pool, context, connection)
    try connection.run(
      "UPDATE service_token SET revoked_at = \(now) WHERE \(tokens)")
  }

  /// Returns whether anything marked as deleted still has rows.
  static func isUnderWay(_ connection: borrowing Connection) throws -> Bool {
    try next(connection) != nil
  }

  /// Deletes about `share` rows of what is marked as deleted, oldest first.
  static func purge(
    _ share: Int = share, at now: Instant, _ connection: borrowing Connection
  ) throws {
    var left = share
    while left > 0, let pool = try next(connection) {
      left -= 1 + (try purge(pool, limit: left, at: now, connection))
    }
  }

  private static func next(_ connection: borrowing Connection) throws -> Int64? {
    try connection.first(
      """
      SELECT scope_key FROM scope WHERE deleted_at > 0 AND purged_at IS NULL
      ORDER BY deleted_at LIMIT 1
      """
    ) { try $0.next() }
  }

  private static func purge(
    _ pool: Int64, limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int {
    let keys = Pool.accountKeys(of: pool)
    let sessions = try connection.run(
      """
      DELETE FROM session WHERE (account_key, session_id) IN (
        SELECT account_key, session_id FROM session
        WHERE account_key BETWEEN \(keys.lowerBound) AND \(keys.upperBound) LIMIT \(limit))
      """)
    // Those about roles that were revoked with the project or tenant are still sent.
    let messages = try connection.run(
      """
      DELETE FROM outbox WHERE (scope_key, message_id) IN (SELECT scope_key, message_id FROM outbox
        WHERE scope_key = \(pool)
          AND (purpose <> \(MessagePurpose.grantRevoked) OR sealed_text IS NULL)
        LIMIT \(limit))
      """)
    let codeAttempts = try connection.run(
      """
      DELETE FROM code_attempt WHERE scope_key = \(pool) AND (at, account_key) IN (
        SELECT at, account_key FROM code_attempt WHERE scope_key = \(pool) LIMIT \(limit))
      """)
    let reaches = try connection.run(
      """
      DELETE FROM reach_account WHERE scope_key = \(pool) AND (reach, day, account_key) IN (
        SELECT reach, day, account_key FROM reach_account WHERE scope_key = \(pool)
        LIMIT \(limit))
      """)
    let lists = try purgeList(
      of: pool, limit: limit - sessions - messages - codeAttempts - reaches, connection)
    let others = sessions + messages + codeAttempts + reaches + lists
    let left = limit - others
    guard left > 0 else { return others }
    let first = keys.lowerBound
    let part = try connection.all(
      """
      SELECT account_key FROM account WHERE account_key BETWEEN \(first) AND \(keys.upperBound)
      ORDER BY account_key LIMIT \(left)
      """
    ) { try $0.next() as Int64 }
    let last = part.last ?? first
    try SearchIndex.removeAll(first...last, connection)
    let gone = try connection.all(
      """
      DELETE FROM account WHERE account_key BETWEEN \(first) AND \(last)
      RETURNING \(AccountCounts.ofRow)
      """
    ) { try AccountCounts(&$0) }
    let lost = gone.reduce(into: AccountCounts()) { $0 += $1 }
    try connection.run(
      """
      UPDATE scope SET users = users - \(lost.users),
        enrolled_users = enrolled_users - \(lost.enrolledUsers),
        unverified_users = unverified_users - \(lost.unverifiedEmails),
        disabled_users = disabled_users - \(lost.disabled),
        totp_users = totp_users - \(lost.totpUsers),
        phone_users = phone_users - \(lost.phoneUsers),
        locked_users = locked_users - \(lost.locked),
        purged_at = \(gone.count < left ? now : nil)
      WHERE scope_key = \(pool)
      """)
    if gone.count < left {
      try Activity.deleteAll(of: pool, connection)
      let isHosted: SQL = "NOT EXISTS (SELECT 1 FROM mirror WHERE scope_key = \(pool))"
      try connection.run("DELETE FROM guidance WHERE scope_key = \(pool) AND \(isHosted)")
      try connection.run("DELETE FROM identity_provider WHERE scope_key = \(pool)")
      try connection.run("DELETE FROM oob_code WHERE scope_key = \(pool)")
      try connection.run(
        """
        DELETE FROM approval WHERE scope_key = \(pool)
        """)
      try connection.run("DELETE FROM alert WHERE scope_key = \(pool)")
      try connection.run("DELETE FROM policy_weakening WHERE scope_key = \(pool)")
      try connection.run("DELETE FROM support_rules WHERE scope_key = \(pool) AND \(isHosted)")
      try connection.run("DELETE FROM support_hold WHERE scope_key = \(pool)")
      try connection.run("DELETE FROM dismissed_attention WHERE scope_key = \(pool)")
      try connection.run("DELETE FROM mirror_fault WHERE scope_key = \(pool)")
      try connection.run("DELETE FROM intent WHERE scope_key = \(pool)")
    }
    return others + gone.count
  }

  /// Deletes some of the rows of bulk removal lists, and lists without any rows left.
  private static func purgeList(
    of pool: Int64, limit: Int, _ connection: borrowing Connection
  ) throws -> Int {
    let limit = max(limit, 0)
    var left = limit
    while left > 0 {
      let job = try connection.first(
        "SELECT job_id FROM bulk_job WHERE scope_key = \(pool) ORDER BY job_id LIMIT 1"
      ) { try $0.next() as Int64 }
      guard let job else { break }
      let lines = try connection.run(
        """
        DELETE FROM bulk_item WHERE scope_key = \(pool) AND job_id = \(job) AND line IN (
          SELECT line FROM bulk_item WHERE scope_key = \(pool) AND job_id = \(job)
          ORDER BY line LIMIT \(left))
        """)
      let users = try connection.run(
        """
        DELETE FROM campaign_user WHERE scope_key = \(pool) AND job_id = \(job)
          AND account_key IN (
            SELECT account_key FROM campaign_user WHERE scope_key = \(pool) AND job_id = \(job)
            ORDER BY account_key LIMIT \(left - lines))
        """)
      if lines + users < left {
        try connection.run(
          "DELETE FROM bulk_job WHERE scope_key = \(pool) AND job_id = \(job)")
      }
      left -= max(lines + users, 1)
    }
    return limit - max(left, 0)
  }
}

extension Identity {
  /// Deletes some of the data of deleted projects and tenants, in one write.
  ///
  /// Call it periodically, and repeat while it returns true.
  public func purge() async throws -> Bool {
    let isUnderWay = try await store.read { connection in
      try Deletion.isUnderWay(connection)
    }
    guard isUnderWay else { return false }
    let now = clock.now()
    try await store.write { connection in
      try Deletion.purge(at: now, connection)
    }
    return true
  }
}

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
