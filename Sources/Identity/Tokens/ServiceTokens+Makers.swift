import Database

extension ServiceTokens {
  /// Returns the number of valid tokens that an administrator created.
  public func count(madeBy maker: ID<Administrator>) async throws -> Int {
    try await store.read { connection in
      try connection.first(
        """
        SELECT count(*) FROM service_token
        WHERE created_by_id = \(maker) AND revoked_at IS NULL
        """
      ) { try $0.next() } ?? 0
    }
  }

  /// Checks that an administrator can create a token, by the current grants.
  static func checkMaker(
    _ maker: ID<Administrator>, _ role: ServiceTokenRole, project: ID<Project>,
    tenant: ID<Tenant>?, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let grants = try Administrators.grants(maker, at: now, connection)
    let needed = role.permissions.union([.manageKeys])
    guard grants.allow(needed, project: project, tenant: tenant) else {
      throw ServiceTokenError.exceedsMaker
    }
  }

  /// Returns whether the administrator who created a token has a permission in a pool now; false
  /// for a token that was created on the command line.
  static func creatorMay(
    _ permission: Permission, in pool: Pool, of token: ID<ServiceToken>, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Bool {
    let maker =
      try connection.first(
        "SELECT created_by_id FROM service_token WHERE token_id = \(token)"
      ) { ID<Administrator>(nonEmpty: try $0.next()) } ?? nil
    guard let maker else { return false }
    let administrator = try Administrators.present(maker, at: now, connection)
    return administrator?.may(permission, project: pool.project, tenant: pool.tenant) ?? false
  }

  /// Revokes the tokens with permissions that their creator no longer has, each with its own audit
  /// log entry.
  ///
  /// - Returns: The number of tokens revoked.
  static func revokeExceeding(
    _ maker: ID<Administrator>, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    let grants = try Administrators.grants(maker, at: now, connection)
    let tokens = try connection.all(
      """
      SELECT token_id, project_id, tenant_id, role, name FROM service_token
      WHERE created_by_id = \(maker) AND revoked_at IS NULL
      """
    ) { row in
      CreatedToken(
        id: try row.next(), project: try row.next(), tenant: ID(nonEmpty: try row.next()),
        role: try row.next(), name: try row.next())
    }
    var count = 0
    for token in tokens where !token.isAllowed(by: grants) {
      try connection.run(
        """
        UPDATE service_token SET revoked_at = \(now) WHERE token_id = \(token.id)
        """)
      var entry = AuditEntry(.serviceTokenRevoke, .serviceToken, token.id.text, name: token.name)
      entry.project = token.project.text
      entry.tenant = token.tenant?.text ?? ""
      entry.add(.role, lost: .code(token.role.rawValue))
      try entry.record(by: author, at: now, connection)
      count += 1
    }
    return count
  }

  /// Returns the token of a condition; nil if there is none, it was revoked, or its creator no longer
  /// has every permission of its role.
  static func inForce(
    _ condition: SQL, at now: Instant, _ connection: borrowing Connection
  ) throws -> ServiceToken? {
    let found = try connection.all(
      """
      SELECT t.token_id, t.project_id, t.tenant_id, t.role, t.name, t.created_at, t.created_by,
        t.last_used_at, t.revoked_at, t.created_by_id, g.administrator_id, g.role, g.project_id,
        g.tenant_id
      FROM service_token t LEFT JOIN administrator_grant g
        ON g.administrator_id = t.created_by_id AND \(Administrators.inForce(at: now))
      WHERE \(condition) AND t.revoked_at IS NULL
      """
    ) { row in
      (
        token: try token(&row), maker: try row.next() as String,
        holder: try row.next() as String?, grant: try Administrators.joinedGrant(&row)
      )
    }
    guard let (token, maker, _, _) = found.first else { return nil }
    let isAllowed =
      maker.isEmpty
      || found.compactMap(\.grant).allow(
        token.role.permissions, project: token.project, tenant: token.tenant)
    return isAllowed ? token : nil
  }

  private struct CreatedToken {
    let id: ID<ServiceToken>
    let project: ID<Project>
    let tenant: ID<Tenant>?
    let role: ServiceTokenRole
    let name: String

    func isAllowed(by grants: [Grant]) -> Bool {
      grants.allow(role.permissions, project: project, tenant: tenant)
    }
  }
}

extension [Grant] {
  /// Returns whether the grants together include every permission in a project or tenant.
  fileprivate func allow(
    _ permissions: Set<Permission>, project: ID<Project>, tenant: ID<Tenant>?
  ) -> Bool {
    permissions.allSatisfy { permission in
      contains { grant in
        grant.covers(project: project, tenant: tenant)
          && grant.role.permissions.contains(permission)
      }
    }
  }
}
