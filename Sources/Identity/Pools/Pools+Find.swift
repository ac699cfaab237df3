import Database

extension Pools {
  /// In the emulator profile, a missing project or tenant is created, as in Google's emulator.
  public func find(
    project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> Pool {
    do {
      return try await existing(project: project, tenant: tenant)
    } catch let error as PoolLookupError {
      guard store.profile == .emulator else { throw error }
      switch error {
      case .projectNotFound: try await makeImplicit(project, nil)
      case .tenantNotFound: try await makeImplicit(project, tenant)
      case .projectDeleted, .tenantDeleted: throw error
      }
      return try await find(project: project, tenant: tenant)
    }
  }

  /// Finds a pool's settings, as ``find(project:tenant:)`` finds the pool.
  public func settings(
    project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> PoolSettings {
    let found = try await store.read { connection in
      try Pools.settingsIfPresent(project, tenant, connection)
    }
    if let found { return found }
    // Throws why there's none, or creates it.
    _ = try await find(project: project, tenant: tenant)
    return try await settings(project: project, tenant: tenant)
  }

  /// Finds a pool without creating one, in any profile.
  public func existing(
    project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> Pool {
    try await store.read { connection in
      try Self.find(project: project, tenant: tenant, connection)
    }
  }

  /// Returns a project's ID, given its ID or the number that resource names contain.
  ///
  /// A number that no project has is returned as it is.
  public func id(of project: ID<Project>) async throws -> ID<Project> {
    guard let number = Int64(project.text), String(number) == project.text else { return project }
    return try await store.read { connection in
      try connection.first(
        "SELECT project_id FROM project WHERE number = \(number)"
      ) { try $0.next() } ?? project
    }
  }

  /// Finds a pool by its key; nil if it was deleted.
  static func find(_ key: Int64, _ connection: borrowing Connection) throws -> Pool? {
    try connection.first(
      """
      SELECT \(Pool.columns) FROM scope s \(SQL.orderedJoin) project p USING (project_id)
      WHERE s.scope_key = \(key) AND s.deleted_at IS NULL
      """
    ) { try Pool(&$0) }
  }

  static func find(
    project: ID<Project>, tenant: ID<Tenant>?, _ connection: borrowing Connection
  ) throws -> Pool {
    // In the database, the empty tenant ID is the project's own pool, not a tenant.
    if let tenant, tenant.text.isEmpty { throw PoolLookupError.tenantNotFound }
    let row = try connection.first(
      """
      SELECT \(Pool.columns), s.deleted_at FROM scope s JOIN project p USING (project_id)
      WHERE s.project_id = \(project) AND s.tenant_id = \(tenant?.text ?? "")
      """
    ) { row in (pool: try Pool(&row), deletedAt: try row.next() as Int64?) }
    guard let row else {
      guard tenant != nil else { throw PoolLookupError.projectNotFound }
      _ = try find(project: project, tenant: nil, connection)
      throw PoolLookupError.tenantNotFound
    }
    guard row.deletedAt == nil else {
      throw tenant == nil ? PoolLookupError.projectDeleted : .tenantDeleted
    }
    return row.pool
  }

  private func makeImplicit(
    _ project: ID<Project>, _ tenant: ID<Tenant>?
  ) async throws {
    do {
      try await makeImplicit(project: project, tenant: tenant)
    } catch let error as PoolError {
      switch error {
      case .projectIDTaken: return  // created by a concurrent request
      default: throw tenant == nil ? PoolLookupError.projectNotFound : .tenantNotFound
      }
    }
  }
}
