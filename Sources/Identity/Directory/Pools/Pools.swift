import Database

/// Finds, changes, and deletes projects and tenants.
public struct Pools: Sendable {
  let store: Store

  public func existingSettings(
    project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> PoolSettings {
    try await store.read { connection in
      try Self.settings(project, tenant, connection)
    }
  }

  /// Changes a project or tenant and records the change in the audit log, with one entry each for
  /// the settings and the MFA policy if they changed.
  ///
  /// An administrator's change that weakens security, or leaves users with a second factor without a
  /// way to sign in, has stricter requirements.
  @discardableResult
  public func update(
    project: ID<Project>, tenant: ID<Tenant>? = nil, by caller: Caller,
    edit: @escaping @Sendable (inout PoolEdit) throws(PoolError) -> Void
  ) async throws -> ActionOutcome<PoolSettings> {
    try await SignInNarrowing.counting(store) { counted in
      try await store.run(
        .changeSettings, by: caller, on: changing(project, tenant, counted, edit)
      ) { change, context, connection in
        try store(change, counted, in: project, tenant, context, connection)
      }
    }
  }

  struct Change: Sendable {
    let settings: PoolSettings
    let new: PoolEdit
    var narrowing: SignInNarrowing?
  }

  private func changing(
    _ project: ID<Project>, _ tenant: ID<Tenant>?, _ counted: SignInNarrowing.Counted?,
    _ edit: @escaping @Sendable (inout PoolEdit) throws(PoolError) -> Void
  ) -> ActionSubject<Change> {
    ActionSubject(target: ActionTarget(project: project, tenant: tenant)) { context, connection in
      let settings = try Self.settings(project, tenant, connection)
      try settings.pool.check(.hosting)
      let (old, new) = (settings.edit, try settings.edit.changed(by: edit))
      let narrowing = try SignInNarrowing(from: settings, to: new, context.profile, connection)
      let change = Change(settings: settings, new: new, narrowing: narrowing)
      guard context.request != nil else { return ActionSubject.Found(content: change) }
      let weakenings = try new.weakenings(
        since: old, usersHaveApps: try Policies.find(settings.pool.key, connection).totpUsers > 0)
      return ActionSubject.Found(
        content: change,
        action: ConsoleAction(
          narrows: try narrowing?.users(counted) != nil, weakens: !weakenings.isEmpty,
          disablesSignIn: (old.disableAuth, new.disableAuth)))
    }
  }

  /// Returns the users with a second factor whom an edit would leave without a way to sign in; nil
  /// if there are none.
  public func leftOutside(
    project: ID<Project>, tenant: ID<Tenant>?,
    by edit: @escaping @Sendable (inout PoolEdit) throws(PoolError) -> Void
  ) async throws -> LeftOutside? {
    let profile = store.profile
    return try await store.read { connection in
      let settings = try Self.settings(project, tenant, connection)
      let new = try settings.edit.changed(by: edit)
      return try SignInNarrowing(from: settings, to: new, profile, connection)?.users(connection)
    }
  }

  /// A connected pool is as the remote has it, so nothing is checked.
  @discardableResult
  func store(
    _ change: Change, _ counted: SignInNarrowing.Counted?, in project: ID<Project>,
    _ tenant: ID<Tenant>?, _ context: ActionContext, _ connection: borrowing Connection
  ) throws -> PoolSettings {
    let new = change.new
    var settings = change.settings
    if settings.pool.kind == .hosted {
      try check(
        new, since: settings.edit, in: project, tenant, by: context.author, at: context.now,
        connection)
    }
    let changes = new.settingChanges(since: settings.edit)
    if !changes.isEmpty {
      try change.narrowing?.record(
        try change.narrowing?.users(counted), in: settings.pool, context, connection)
      try Self.store(new, over: settings, at: context.now, connection)
      var entry = AuditEntry(
        tenant == nil ? .projectChange : .tenantChange, settings.pool.object,
        settings.pool.objectID, name: new.displayName, in: settings.pool)
      for change in changes { entry.add(change) }
      try context.record(entry, connection)
    }
    if new.configuration != settings.configuration {
      do {
        var edit = settings.policy.edit
        edit.configuration = new.configuration
        settings.policy = try Policies.store(
          edit, over: settings.policy,
          counting: try Policies.find(settings.pool.key, connection), context, connection)
      } catch let error as PolicyError { throw PoolError.policy(error) }
    }
    return changes.isEmpty ? settings : try Self.settings(project, tenant, connection)
  }

  /// Checks the settings of a pool that is changed or created: the only check of either.
  ///
  /// `old` has the settings before the change; nil for a pool that is created.
  func check(
    _ new: PoolEdit, since old: PoolEdit?, in project: ID<Project>, _ tenant: ID<Tenant>?,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    if new.displayName != old?.displayName {
      try checkName(new.displayName, isTenant: tenant != nil)
    }
    let old = old ?? new.beforeCreation
    let known = old.project?.authorizedDomains ?? []
    let domains = new.project?.authorizedDomains ?? []
    for domain in domains where !known.contains(domain) {
      guard PoolRules.isDomain(domain) else { throw PoolError.invalidDomain(domain) }
    }
    try new.passwords?.check()
    try AccessSettings.check(
      from: old.accessSettings, to: new.accessSettings, authorized: domains, by: author,
      in: project, tenant, store.profile, at: now, connection)
    try new.checkEmailSenders(since: old)
    do { try new.configuration.check() } catch { throw PoolError.policy(error) }
  }

  /// Checks a display name; in the emulator profile a tenant may have any.
  func checkName(_ name: String, isTenant: Bool) throws(PoolError) {
    guard isTenant else {
      guard PoolRules.isDisplayName(name) else { throw .invalidProjectName }
      return
    }
    if store.profile == .emulator { return }
    guard !name.isEmpty else { throw .missingTenantName }
    guard PoolRules.isTenantName(name) else { throw .invalidTenantName }
  }

  private static func store(
    _ new: PoolEdit, over settings: PoolSettings, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let key = settings.pool.key
    if let project = new.project,
      project != settings.project || new.displayName != settings.displayName
    {
      try connection.run(
        """
        UPDATE project SET display_name = \(new.displayName),
          allow_tenants = \(project.allowTenants), email_privacy = \(project.emailPrivacy),
          import_totp = \(project.importsTOTP),
          allow_duplicate_emails = \(project.allowDuplicateEmails),
          authorized_domains = \(project.authorizedDomains.joined(separator: "\n"))
        WHERE project_id = \(settings.pool.project)
        """)
    }
    try connection.run(
      "UPDATE scope SET (\(PoolEdit.columnNames)) = (\(new.values)) WHERE scope_key = \(key)")
    if new.passwords != settings.passwords {
      try PasswordPolicy.store(new.passwords, in: key, at: now, connection)
    }
  }

  /// A deleted pool can no longer be found, its keys and tokens are revoked, and its users,
  /// factors, and sessions are deleted.
  ///
  /// If there are many users, some are deleted immediately and the rest by ``Identity/purge()``.
  /// The ID is never reused, so that the audit log, which is kept, refers to only one project or
  /// tenant.
  ///
  /// A tenant's deletion requires a permission in its project.
  @discardableResult
  public func delete(
    project: ID<Project>, tenant: ID<Tenant>? = nil, by caller: Caller
  ) async throws -> ActionOutcome<Void> {
    try await store.run(
      tenant == nil ? .deleteProject : .deleteTenant, by: caller,
      in: ActionTarget(project: project)
    ) { context, connection in
      let pool = try Self.settings(project, tenant, connection).pool
      try pool.check(.hosting)
      let losses = try Deletion.deletionImpact(of: pool, at: context.now, connection)
      try Deletion.mark(pool, context, connection)
      try Deletion.purge(at: context.now, connection)
      var entry = AuditEntry(
        tenant == nil ? .projectDelete : .tenantDelete, pool.object, pool.objectID,
        name: pool.name, in: pool)
      entry.add(.displayName, lost: .text(pool.name))
      if tenant == nil { entry.add(.tenants, lost: .number(losses.tenants)) }
      entry.add(.users, lost: .number(losses.users))
      if tenant == nil {
        entry.add(.apiKeys, lost: .number(losses.apiKeys))
        entry.add(.serviceTokens, lost: .number(losses.serviceTokens))
      }
      try context.record(entry, connection)
    }
  }

  public func deletionImpact(
    project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> DeletionImpact {
    try await store.read { now, connection in
      let pool = try Self.settings(project, tenant, connection).pool
      return try Deletion.deletionImpact(of: pool, at: now, connection)
    }
  }

  static func settings(
    _ project: ID<Project>, _ tenant: ID<Tenant>?, _ connection: borrowing Connection
  ) throws -> PoolSettings {
    guard let settings = try settingsIfPresent(project, tenant, connection) else {
      throw tenant == nil ? PoolError.projectNotFound : .tenantNotFound
    }
    return settings
  }

  /// Finds a pool; nil if it never existed or was deleted.
  static func settingsIfPresent(
    _ project: ID<Project>, _ tenant: ID<Tenant>?, _ connection: borrowing Connection
  ) throws -> PoolSettings? {
    // In the database, the empty tenant ID is the project's own pool, not a tenant.
    if let tenant, tenant.text.isEmpty { return nil }
    return try connection.first(
      """
      SELECT \(PoolSettings.columns) FROM scope s JOIN project p USING (project_id)
      WHERE s.project_id = \(project) AND s.tenant_id = \(tenant?.text ?? "")
        AND s.deleted_at IS NULL
      """
    ) { try PoolSettings(&$0) }
  }
}
