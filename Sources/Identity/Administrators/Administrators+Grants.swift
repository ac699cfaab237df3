import Database

extension Administrators {
  /// Grants an administrator a role, effective immediately in open sessions.
  ///
  /// - Returns: False if they already have it and nothing changed.
  /// - Throws: ``ManagementError``.
  @discardableResult
  public func grant(
    _ grant: Grant, to id: ID<Administrator>, by author: Author
  ) async throws(ManagementError) -> Bool {
    try await store.perform(by: author, ManagementError.self, Self.granting(grant, to: id))
  }

  /// Grants a role, for an administrator in the console.
  ///
  /// - Throws: ``ActionError``.
  public func grant(
    _ grant: Grant, to id: ID<Administrator>, _ request: ActionRequest
  ) async throws(ActionError<ManagementError>) -> ActionOutcome<Bool> {
    try await store.perform(
      .grantRole, request, in: .instance, ManagementError.self, Self.granting(grant, to: id))
  }

  private static func granting(_ grant: Grant, to id: ID<Administrator>) -> Action<Bool> {
    { context, connection in
      let record = try Self.manage(id, by: context.author, connection)
      try Self.checkPlace(of: grant, connection)
      let added = try connection.run(
        """
        INSERT INTO administrator_grant (administrator_id, role, project_id, tenant_id)
        VALUES (\(id.text), \(grant.role.rawValue), \(grant.project?.text ?? ""),
          \(grant.tenant?.text ?? ""))
        ON CONFLICT DO NOTHING
        """)
      guard added == 1 else { return false }
      var entry = Self.entry(.administratorGrant, record)
      entry.add(.grants, .of([grant]))
      try context.record(entry, connection)
      return true
    }
  }

  /// Revokes a role, effective immediately in open sessions.
  ///
  /// Service tokens they created that exceed their remaining permissions are revoked too.
  ///
  /// - Returns: The number of revoked tokens.
  /// - Throws: ``ManagementError``.
  @discardableResult
  public func revoke(
    _ grant: Grant, from id: ID<Administrator>, by author: Author
  ) async throws(ManagementError) -> Int {
    try await store.perform(by: author, ManagementError.self, Self.revocation(of: grant, from: id))
  }

  /// Revokes a role, for an administrator in the console.
  ///
  /// - Throws: ``ActionError``.
  public func revoke(
    _ grant: Grant, from id: ID<Administrator>, _ request: ActionRequest
  ) async throws(ActionError<ManagementError>) -> ActionOutcome<Int> {
    try await store.perform(
      .revokeRole, request, in: .instance, ManagementError.self,
      Self.revocation(of: grant, from: id))
  }

  private static func revocation(
    of grant: Grant, from id: ID<Administrator>
  ) -> Action<Int> {
    { context, connection in
      let (author, now) = (context.author, context.now)
      let record = try Self.manage(id, by: author, connection)
      let removed = try connection.run(
        """
        DELETE FROM administrator_grant
        WHERE administrator_id = \(id.text) AND role = \(grant.role.rawValue)
          AND project_id = \(grant.project?.text ?? "") AND tenant_id = \(grant.tenant?.text ?? "")
        """)
      guard removed == 1 else { throw ManagementError.notFound }
      // Checked after the change, in the same transaction: if two owners revoke each other, one
      // fails.
      guard try Self.hasOwner(connection) else { throw ManagementError.lastOwner }
      var entry = Self.entry(.administratorRevoke, record)
      entry.add(.grants, lost: .of([grant]))
      try context.record(entry, connection)
      return try ServiceTokens.revokeExceeding(id, by: author, at: now, connection)
    }
  }

  /// Removes an administrator with their grants, factor, codes, and sessions.
  ///
  /// Service tokens they created are revoked; their audit rows are kept.
  ///
  /// - Returns: The number of revoked tokens.
  /// - Throws: ``ManagementError``.
  @discardableResult
  public func remove(
    _ id: ID<Administrator>, by author: Author
  ) async throws(ManagementError) -> Int {
    try await store.perform(by: author, ManagementError.self, Self.removal(of: id))
  }

  /// Removes another administrator, for an administrator in the console.
  ///
  /// - Throws: ``ActionError``.
  public func remove(
    _ id: ID<Administrator>, _ request: ActionRequest
  ) async throws(ActionError<ManagementError>) -> ActionOutcome<Int> {
    try await store.perform(
      .removeAdministrator, request, in: .instance, ManagementError.self, Self.removal(of: id))
  }

  private static func removal(of id: ID<Administrator>) -> Action<Int> {
    { context, connection in
      let (author, now) = (context.author, context.now)
      let record = try Self.manage(id, by: author, connection)
      try connection.run("DELETE FROM administrator WHERE administrator_id = \(id.text)")
      guard try Self.hasOwner(connection) else { throw ManagementError.lastOwner }
      var entry = Self.entry(.administratorRemove, record)
      entry.add(.email, lost: .text(record.administrator.email))
      entry.add(.grants, lost: .of(record.administrator.grants))
      try context.record(entry, connection)
      return try ServiceTokens.revokeExceeding(id, by: author, at: now, connection)
    }
  }

  /// Finds an administrator to change, after checking that the author is allowed to.
  static func manage(
    _ id: ID<Administrator>, by author: Author, _ connection: borrowing Connection
  ) throws -> AdministratorRecord {
    try mustManage(author, connection)
    if case .administrator(let own, _) = author.actor, own == id { throw ManagementError.oneself }
    return try record(id, connection)
  }

  /// Checks that the author is currently an owner of the instance, or has access to the data
  /// folder.
  static func mustManage(_ author: Author, _ connection: borrowing Connection) throws {
    guard try mayManage(author.actor, connection) else { throw ManagementError.notAllowed }
  }

  static func mayManage(_ actor: Actor, _ connection: borrowing Connection) throws -> Bool {
    switch actor {
    case .commandLine: true
    case .administrator(let id, _):
      try grants(id, connection).contains { grant in
        grant.covers(project: nil, tenant: nil)
          && grant.role.permissions.contains(.manageAdministrators)
      }
    case .serviceToken, .user, .emulatorOwner, .server, .visitor: false
    }
  }

  /// Checks that a grant's project or tenant exists.
  static func checkPlace(of grant: Grant, _ connection: borrowing Connection) throws {
    guard let project = grant.project else { return }
    do {
      _ = try Scopes.find(project: project, tenant: grant.tenant, connection)
    } catch is ScopeError {
      throw ManagementError.scopeNotFound
    }
  }

  static func entry(_ action: AuditAction, _ record: AdministratorRecord) -> AuditEntry {
    AuditEntry(
      action, .administrator, record.administrator.id.text,
      name: record.administrator.displayName)
  }
}
