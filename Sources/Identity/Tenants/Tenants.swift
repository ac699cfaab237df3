import Crypto
import Database

/// Creates, finds, changes, and deletes tenants.
public struct Tenants: Sendable {
  let store: Store

  private static let letters = "abcdefghijklmnopqrstuvwxyz0123456789"

  /// Returns whether a character of a display name is kept in the ID.
  private static func isOfID(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "-")
  }

  /// Creates a tenant.
  ///
  /// - Throws: ``TenantError``.
  public func create(
    in project: ID<Project>, _ edit: TenantEdit, by author: Author
  ) async throws(TenantError) -> Tenant {
    try checkName(edit.displayName)
    return try await store.perform(by: author, TenantError.self, inserting(edit, in: project))
  }

  /// Creates a tenant on behalf of an administrator in the console.
  ///
  /// - Throws: ``ActionError``.
  public func create(
    in project: ID<Project>, _ edit: TenantEdit, _ request: ActionRequest
  ) async throws(ActionError<TenantError>) -> Tenant {
    do { try checkName(edit.displayName) } catch { throw .failed(error) }
    return try await store.perform(
      .createTenant, request, in: ActionTarget(project: project), TenantError.self,
      inserting(edit, in: project)
    ).value
  }

  private func inserting(_ edit: TenantEdit, in project: ID<Project>) -> Action<Tenant> {
    let random = store.random
    return { context, connection in
      // Five characters allow sixty million tenants with the same name, so a second attempt is
      // rare.
      for _ in 0..<8 {
        let stem = edit.displayName.filter(Self.isOfID)
        let tail = random.text(stem.isEmpty ? 28 : 5, from: Self.letters)
        let id = stem.isEmpty ? tail : "\(stem)-\(tail)"
        let tenant = try insert(
          ID(id), in: project, edit, by: context.author, at: context.now, connection)
        if let tenant { return tenant }
      }
      throw Failure("no free tenant id")
    }
  }

  /// Creates the tenant of an ID that an application used, with everything enabled, as Google's
  /// emulator does.
  func makeImplicit(_ id: ID<Tenant>, in project: ID<Project>) async throws(TenantError) {
    guard (1...128).contains(id.text.utf8.count) else { throw .notFound }
    let now = store.clock.now()
    let edit = TenantEdit(
      displayName: id.text, signIn: SignInMethods(password: true, emailLink: true, anonymous: true),
      configuration: MFAConfiguration(
        state: .enabled, smsEnabled: true,
        totp: TOTPConfiguration(state: .enabled, adjacentIntervals: nil)))
    try await store.write(TenantError.self) { connection in
      _ = try insert(
        id, in: project, edit, by: Author(actor: .emulatorOwner), at: now, connection)
    }
  }

  private func checkName(_ name: String) throws(TenantError) {
    if store.profile == .emulator { return }
    guard !name.isEmpty else { throw .missingDisplayName }
    guard Self.isValidName(name) else { throw .invalidDisplayName }
  }

  static func isValidName(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard (4...20).contains(bytes.count) else { return false }
    for (index, byte) in bytes.enumerated() {
      switch byte | 0x20 {
      case UInt8(ascii: "a")...UInt8(ascii: "z") where byte >= 0x41: continue
      default:
        let digitOrHyphen =
          (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        if index == 0 || !digitOrHyphen { return false }
      }
    }
    return true
  }

  private func insert(
    _ id: ID<Tenant>, in project: ID<Project>, _ edit: TenantEdit, by author: Author,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Tenant? {
    let owner: Project
    do { owner = try Projects.find(project, connection) } catch ProjectError.notFound {
      throw TenantError.projectNotFound
    }
    guard owner.allowTenants else { throw TenantError.multiTenancyOff }
    do { try edit.configuration.check() } catch { throw TenantError.policy(error) }
    do { try edit.passwords?.check() } catch { throw TenantError.passwords(error) }
    let configuration = edit.configuration
    let inserted = try connection.run(
      """
      INSERT INTO scope (project_id, tenant_id, display_name, password, email_link, anonymous,
        disabled, members, created_at, mfa_state, sms, totp_state, totp_intervals,
        withdrawal_needs_factor)
      VALUES (\(project.text), \(id.text), \(edit.displayName), \(edit.signIn.password),
        \(edit.signIn.emailLink), \(edit.signIn.anonymous), \(edit.disableAuth), \(edit.members),
        \(now.microseconds), \(configuration.state?.rawValue), \(configuration.smsEnabled),
        \(configuration.totp?.state.rawValue), \(configuration.totp?.adjacentIntervals),
        \(edit.withdrawalNeedsFactor))
      ON CONFLICT (project_id, tenant_id) DO NOTHING
      """)
    guard inserted == 1 else { return nil }
    try Self.store(
      edit, over: nil, in: try Self.find(project, id, connection).scope.key, at: now, connection)
    let tenant = try Self.find(project, id, connection)
    var entry = AuditEntry(
      .tenantCreate, .tenant, id.text, name: edit.displayName, in: tenant.scope)
    entry.add(.displayName, .text(edit.displayName))
    try entry.record(by: author, at: now, connection)
    return tenant
  }

  /// Finds a tenant.
  ///
  /// - Throws: ``TenantError/projectNotFound``, ``TenantError/notFound``,
  ///   ``TenantError/unavailable(_:)``.
  public func find(
    project: ID<Project>, tenant: ID<Tenant>
  ) async throws(TenantError) -> Tenant {
    try await store.read(TenantError.self) { connection in
      try Self.find(project, tenant, connection)
    }
  }

  /// Returns whether a project allows tenants; true for a project that doesn't exist, which fails
  /// with another error.
  ///
  /// - Throws: ``TenantError/unavailable(_:)``.
  public func areAllowed(in project: ID<Project>) async throws(TenantError) -> Bool {
    try await store.read(TenantError.self) { connection in
      try connection.first(
        "SELECT allow_tenants FROM project WHERE project_id = \(project.text)"
      ) { try $0.value(0) } ?? true
    }
  }

  /// Lists the tenants of a project, ordered by ID.
  ///
  /// - Throws: ``TenantError/unavailable(_:)``.
  public func list(
    project: ID<Project>, after: String? = nil, limit: Int = 50
  ) async throws(TenantError) -> Page<Tenant> {
    let limit = Page<Tenant>.size(limit)
    return try await store.read(TenantError.self) { connection in
      let tenants = try connection.all(
        """
        SELECT \(Tenant.columns) FROM scope s JOIN project p USING (project_id)
        WHERE s.project_id = \(project.text) AND s.tenant_id > \(after ?? "")
          AND s.deleted_at IS NULL
        ORDER BY s.tenant_id LIMIT \(limit + 1)
        """
      ) { try Tenant($0) }
      return Page(tenants, limit: limit) { $0.id.text }
    }
  }

  /// Lists summaries of a project's tenants, ordered by ID.
  ///
  /// - Parameters:
  ///   - project: The project.
  ///   - administrator: The administrator who asks; only tenants they have a grant for are
  ///     included.
  ///   - search: A part of the name or ID; nil for all tenants.
  ///   - after: The key of the previous page.
  ///   - limit: The maximum number of tenants.
  /// - Returns: The summaries.
  /// - Throws: ``TenantError/unavailable(_:)``.
  public func summaries(
    project: ID<Project>, visibleTo administrator: Administrator, search: String? = nil,
    after: String? = nil, limit: Int = 50
  ) async throws(TenantError) -> Page<TenantSummary> {
    var condition: SQL = "s.project_id = \(project.text) AND s.tenant_id > \(after ?? "")"
    if let search, !search.isEmpty {
      condition += """
         AND (instr(lower(s.display_name), lower(\(search)))
          OR instr(lower(s.tenant_id), lower(\(search))))
        """
    }
    guard let restriction = Self.restriction(to: administrator, in: project) else {
      return Page(items: [], next: nil)
    }
    condition += restriction
    let filter = condition
    let limit = Page<TenantSummary>.size(limit)
    return try await store.read(TenantError.self) { connection in
      let tenants = try connection.all(
        """
        SELECT \(TenantSummary.columns) FROM scope s
        WHERE \(filter) AND s.deleted_at IS NULL ORDER BY s.tenant_id LIMIT \(limit + 1)
        """
      ) { try TenantSummary($0) }
      return Page(tenants, limit: limit) { $0.id.text }
    }
  }

  /// Returns the SQL condition that restricts a list of tenants; nil if none of them may be listed.
  private static func restriction(
    to administrator: Administrator, in project: ID<Project>
  ) -> SQL? {
    guard let only = administrator.onlyTenants(of: project) else { return "" }
    guard !only.isEmpty else { return nil }
    return " AND s.tenant_id IN (\(list: only.map(\.text)))"
  }

  /// Returns the names of the first tenants that an administrator has a grant for, ordered by ID,
  /// for menus.
  ///
  /// - Throws: ``TenantError/unavailable(_:)``.
  public func names(
    project: ID<Project>, visibleTo administrator: Administrator, limit: Int
  ) async throws(TenantError) -> [(id: ID<Tenant>, displayName: String)] {
    guard let restriction = Self.restriction(to: administrator, in: project) else { return [] }
    return try await store.read(TenantError.self) { connection in
      try connection.all(
        """
        SELECT s.tenant_id, s.display_name FROM scope s
        WHERE s.project_id = \(project.text) AND s.tenant_id > '' AND s.deleted_at IS NULL
          \(restriction)
        ORDER BY s.tenant_id LIMIT \(limit)
        """
      ) { (ID(try $0.value(0)), try $0.value(1)) }
    }
  }

  /// Changes a tenant and records the change in the audit log, with one entry each for the tenant
  /// and its MFA policy if they changed.
  ///
  /// - Throws: ``TenantError``, and any error that `edit` throws.
  public func update(
    project: ID<Project>, tenant: ID<Tenant>, by author: Author,
    edit: @escaping @Sendable (inout TenantEdit) throws(TenantError) -> Void
  ) async throws(TenantError) -> Tenant {
    try await store.perform(by: author, TenantError.self, change(of: tenant, in: project, edit))
  }

  /// Changes a tenant on behalf of an administrator in the console.
  ///
  /// A change that weakens security has stricter requirements.
  ///
  /// - Throws: ``ActionError``.
  public func update(
    project: ID<Project>, tenant: ID<Tenant>, _ request: ActionRequest,
    edit: @escaping @Sendable (inout TenantEdit) throws(TenantError) -> Void
  ) async throws(ActionError<TenantError>) -> ActionOutcome<Tenant> {
    try await store.perform(
      request, in: ActionTarget(project: project, tenant: tenant), TenantError.self,
      choosing: { connection in
        let old = try Self.find(project, tenant, connection).edit
        var new = old
        try edit(&new)
        return ConsoleAction(
          weakens: !new.weakenings(since: old).isEmpty,
          disablesSignIn: (old.disableAuth, new.disableAuth))
      }, change(of: tenant, in: project, edit))
  }

  private func change(
    of tenant: ID<Tenant>, in project: ID<Project>,
    _ edit: @escaping @Sendable (inout TenantEdit) throws(TenantError) -> Void
  ) -> Action<Tenant> {
    { context, connection in
      let (author, now) = (context.author, context.now)
      var old = try Self.find(project, tenant, connection)
      var new = old.edit
      try edit(&new)
      if new.displayName != old.displayName { try checkName(new.displayName) }
      do { try new.passwords?.check() } catch let error as PasswordPolicyError {
        throw TenantError.passwords(error)
      }
      do {
        try LinkTargets.check(
          from: LinkTargets(members: old.edit.members), to: LinkTargets(members: new.members),
          authorized: [], by: author, project: project, tenant: tenant, context.profile, connection)
      } catch let error as LinkTargetError { throw TenantError.links(error) }
      let changes = AuditChange.between(old.edit.auditFields, new.auditFields)
      let isChanged = !changes.isEmpty
      if isChanged {
        try connection.run(
          """
          UPDATE scope SET display_name = \(new.displayName), password = \(new.signIn.password),
            email_link = \(new.signIn.emailLink), anonymous = \(new.signIn.anonymous),
            disabled = \(new.disableAuth), members = \(new.members),
            withdrawal_needs_factor = \(new.withdrawalNeedsFactor)
          WHERE scope_key = \(old.scope.key)
          """)
        try Self.store(new, over: old, in: old.scope.key, at: now, connection)
        var entry = AuditEntry(
          .tenantChange, .tenant, tenant.text, name: new.displayName, in: old.scope)
        for change in changes { entry.add(change) }
        try entry.record(by: author, at: now, connection)
      }
      do {
        var policy = old.policy.edit
        policy.configuration = new.configuration
        old.policy = try Policies.store(
          policy, over: old.policy, context, connection)
      } catch let error as PolicyError { throw TenantError.policy(error) }
      return isChanged ? try Self.find(project, tenant, connection) : old
    }
  }

  /// Stores the user permissions and the password policy.
  private static func store(
    _ new: TenantEdit, over old: Tenant?, in scope: Int64, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE scope SET sign_up_off = \(!new.userPermissions.signUp),
        deletion_off = \(!new.userPermissions.deletion)
      WHERE scope_key = \(scope)
      """)
    guard new.passwords != old?.passwords else { return }
    try PasswordPolicy.store(new.passwords, in: scope, at: now, connection)
  }

  /// Deletes a tenant.
  ///
  /// It can no longer be found, and its users, factors, and sessions are deleted.
  ///
  /// If there are many users, some are deleted immediately and the rest by ``Identity/purge()``.
  /// The ID is never reused.
  ///
  /// - Throws: ``TenantError``.
  public func delete(
    project: ID<Project>, tenant: ID<Tenant>, by author: Author
  ) async throws(TenantError) {
    try await store.perform(
      by: author, TenantError.self, Self.deletion(of: tenant, in: project))
  }

  /// Deletes a tenant on behalf of an administrator in the console who can manage the project's
  /// tenants.
  ///
  /// - Throws: ``ActionError``.
  public func delete(
    project: ID<Project>, tenant: ID<Tenant>, _ request: ActionRequest
  ) async throws(ActionError<TenantError>) -> ActionOutcome<Void> {
    try await store.perform(
      .deleteTenant, request, in: ActionTarget(project: project), TenantError.self,
      Self.deletion(of: tenant, in: project))
  }

  private static func deletion(of tenant: ID<Tenant>, in project: ID<Project>) -> Action<Void> {
    { context, connection in
      let now = context.now
      let old = try Self.find(project, tenant, connection)
      try Deletion.mark(old.scope, at: now, connection)
      try Deletion.purge(at: now, connection)
      var entry = AuditEntry(
        .tenantDelete, .tenant, tenant.text, name: old.displayName, in: old.scope)
      entry.add(.displayName, lost: .text(old.displayName))
      entry.add(.users, lost: .number(old.policy.users))
      try context.record(entry, connection)
    }
  }

  /// Returns what would be lost if a tenant were deleted.
  ///
  /// - Throws: ``TenantError``.
  public func losses(
    project: ID<Project>, tenant: ID<Tenant>
  ) async throws(TenantError) -> DeletionImpact {
    try await store.read(TenantError.self) { connection in
      try Deletion.losses(of: Self.find(project, tenant, connection).scope, connection)
    }
  }

  static func find(
    _ project: ID<Project>, _ tenant: ID<Tenant>, _ connection: borrowing Connection
  ) throws -> Tenant {
    // In the database, the empty tenant ID is the project's own pool, not a tenant.
    guard !tenant.text.isEmpty else { throw TenantError.notFound }
    let found = try connection.first(
      """
      SELECT \(Tenant.columns) FROM scope s JOIN project p USING (project_id)
      WHERE s.project_id = \(project.text) AND s.tenant_id = \(tenant.text)
        AND s.deleted_at IS NULL
      """
    ) { try Tenant($0) }
    guard let found else { throw TenantError.notFound }
    return found
  }
}
