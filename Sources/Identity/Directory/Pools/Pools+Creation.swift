import Crypto
import Database

extension Pools {
  private static let letters = "abcdefghijklmnopqrstuvwxyz0123456789"

  /// Returns the ID that a project gets from its name: the letters and digits of the name, with
  /// hyphens between its words, and “project” behind a short one; nil if the name has no letter from
  /// a to z.
  public static func projectID(named name: String) -> String? {
    let words = SearchText.folded(name).split { character in
      !character.isASCII || !(character.isLetter || character.isNumber)
    }
    let text = words.joined(separator: "-").drop { !$0.isLetter }
    guard !text.isEmpty else { return nil }
    let long = text.utf8.count < 6 ? "\(text)-project" : String(text.prefix(30))
    return String(long.reversed().drop { $0 == "-" }.reversed())
  }

  /// Creates a project with one API key and all second factors disabled, except for text
  /// messages in the emulator profile.
  ///
  /// An administrator's gets the initial policy for passwords.
  @discardableResult
  public func createProject(
    id: String, displayName: String, by caller: Caller
  ) async throws -> ActionOutcome<PoolSettings> {
    guard PoolRules.isProjectID(id) else { throw PoolError.invalidProjectID }
    return try await store.run(
      .createProject, by: caller, in: .instance, apply: insertingProject(id, displayName))
  }

  /// Creates a tenant, with a copy of its project's policy if its version is given, which the
  /// administrator has seen.
  @discardableResult
  public func createTenant(
    in project: ID<Project>, _ edit: PoolEdit, withPolicyVersion version: Int? = nil,
    by caller: Caller
  ) async throws -> ActionOutcome<PoolSettings> {
    try await store.run(.createTenant, by: caller, in: ActionTarget(project: project)) {
      context, connection in
      guard let version else { return try insertTenant(edit, in: project, context, connection) }
      // A policy is set, which creating a tenant doesn't permit.
      guard let holder = context.holder,
        [Permission.readPolicy, .changePolicy].allSatisfy({
          holder.may($0, project: project, tenant: nil)
        })
      else { throw ActionDenial.notAllowed }
      let owner = try Self.settings(project, nil, connection)
      try owner.pool.check(.hosting)
      guard owner.policy.version == version else {
        throw PoolError.policy(
          .changedMeanwhile(try Policies.find(owner.pool.key, connection)))
      }
      let tenant = try insertTenant(edit, in: project, context, connection)
      let new = owner.policy.edit
      guard try !context.outbox.isMissing(for: new, over: tenant.policy.edit, connection) else {
        throw PoolError.policy(.refusalNeedsEmail)
      }
      _ = try Policies.store(
        new, over: tenant.policy, counting: try Policies.find(tenant.pool.key, connection),
        context, connection)
      return try Self.settings(project, tenant.pool.tenant, connection)
    }
  }

  /// Creates the project or tenant of an ID that an application used, in the emulator profile; a
  /// tenant with everything enabled, as Google's emulator does.
  func makeImplicit(project: ID<Project>, tenant: ID<Tenant>?) async throws {
    let id = tenant?.text ?? project.text
    guard (1...128).contains(id.utf8.count) else {
      throw tenant == nil ? PoolError.projectNotFound : .tenantNotFound
    }
    let caller = Caller.program(Author(actor: .emulatorOwner))
    guard let tenant else {
      _ = try await store.run(
        .createProject, by: caller, in: .instance, apply: insertingProject(id, id))
      return
    }
    let edit = PoolEdit(
      displayName: id, signIn: SignInMethods(password: true, emailLink: true, anonymous: true),
      configuration: MFAConfiguration(
        state: .enabled, smsEnabled: true,
        totp: TOTPConfiguration(state: .enabled, adjacentIntervals: nil)))
    _ = try await store.run(.createTenant, by: caller, in: ActionTarget(project: project)) {
      context, connection in try insert(tenant, in: project, edit, context, connection)
    }
  }

  /// `configuration` is that of a connected project, which has no API key.
  func insertingProject(
    _ id: String, _ displayName: String, kind: PoolKind = .hosted,
    _ configuration: MFAConfiguration? = nil
  ) -> Action<PoolSettings> {
    let name = displayName.isEmpty ? id : displayName
    return { context, connection in
      // The project's row, which has the name too, is inserted before that of its pool.
      try checkName(name, isTenant: false)
      let isEmulator = context.profile == .emulator
      let settings = ProjectSettings(emailPrivacy: !isEmulator)
      do {
        try connection.run(
          """
          INSERT INTO project (project_id, number, display_name, email_privacy, created_at, kind)
          VALUES (\(id), \(try Self.freeNumber(store.random, connection)), \(name),
            \(settings.emailPrivacy), \(context.now), \(kind))
          """)
      } catch let error as DatabaseError {
        if case .uniqueViolation = error.code { throw PoolError.projectIDTaken }
        throw error
      }
      if kind == .hosted {
        try APIKeys.insert(for: ID(id), random: store.random, at: context.now, connection)
      }
      var edit = PoolEdit(
        displayName: name,
        signIn: SignInMethods(
          password: true, emailLink: isEmulator, anonymous: isEmulator, phone: isEmulator),
        passwords: isEmulator || context.request == nil ? nil : .initial,
        configuration: configuration ?? (isEmulator ? .emulator : .initial))
      edit.project = settings
      let project = try insert(edit, in: ID(id), nil, context, connection)
      guard let project else { throw PoolError.projectIDTaken }
      return project
    }
  }

  /// Inserts a tenant under a new ID; an administrator's gets the initial policy for passwords.
  private func insertTenant(
    _ edit: PoolEdit, in project: ID<Project>, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws -> PoolSettings {
    var edit = edit
    if context.profile != .emulator, context.request != nil {
      edit.passwords = edit.passwords ?? .initial
    }
    let stem = edit.displayName.filter { character in
      character.isASCII && (character.isLetter || character.isNumber || character == "-")
    }
    // Five characters allow sixty million tenants with the same name, so a second attempt is rare.
    for _ in 0..<8 {
      let tail = store.random.text(stem.isEmpty ? 28 : 5, from: Self.letters)
      let id = stem.isEmpty ? tail : "\(stem)-\(tail)"
      let tenant = try insert(ID(id), in: project, edit, context, connection)
      if let tenant { return tenant }
    }
    throw Failure("no free tenant id")
  }

  /// Inserts a tenant; returns nil if the ID is or was in use.
  private func insert(
    _ tenant: ID<Tenant>, in project: ID<Project>, _ edit: PoolEdit, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws -> PoolSettings? {
    let owner = try Self.settings(project, nil, connection)
    try owner.pool.check(.hosting)
    guard owner.project?.allowTenants == true else { throw PoolError.multiTenancyOff }
    return try insert(edit, in: project, tenant, context, connection)
  }

  /// Inserts a pool and records it in the audit log; returns nil if the ID is or was in use.
  ///
  /// A mirrored one is as the remote has it.
  func insert(
    _ edit: PoolEdit, in project: ID<Project>, _ tenant: ID<Tenant>?, isMirrored: Bool = false,
    _ context: ActionContext, _ connection: borrowing Connection
  ) throws -> PoolSettings? {
    if !isMirrored {
      try check(
        edit, since: nil, in: project, tenant, by: context.author, at: context.now, connection)
    }
    let policy = PolicyEdit(configuration: edit.configuration, pattern: nil)
    let inserted = try connection.run(
      """
      INSERT INTO scope (project_id, tenant_id, created_at, \(PoolEdit.columnNames),
        \(PolicyEdit.columnNames))
      VALUES (\(project), \(tenant?.text ?? ""), \(context.now), \(edit.values),
        \(policy.values))
      ON CONFLICT (project_id, tenant_id) DO NOTHING
      """)
    guard inserted == 1 else { return nil }
    var settings = try Self.settings(project, tenant, connection)
    if edit.passwords != nil {
      try PasswordPolicy.store(edit.passwords, in: settings.pool.key, at: context.now, connection)
      settings = try Self.settings(project, tenant, connection)
    }
    var entry = AuditEntry(
      tenant == nil ? .projectCreate : .tenantCreate, settings.pool.object,
      settings.pool.objectID, name: edit.displayName, in: settings.pool)
    for change in edit.creationChanges { entry.add(change) }
    try context.record(entry, connection)
    return settings
  }

  private static func freeNumber(
    _ random: RandomSource, _ connection: borrowing Connection
  ) throws -> Int64 {
    while true {
      let bits = random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let number = Int64(100_000_000_000 + bits % 900_000_000_000)
      let taken = try connection.first(
        "SELECT 1 FROM project WHERE number = \(number)"
      ) { _ in true }
      if taken == nil { return number }
    }
  }
}

extension PoolEdit {
  /// The settings of a new tenant that someone names: users sign in with a password.
  public static func newTenant(named name: String) -> Self {
    Self(
      displayName: name, signIn: SignInMethods(password: true, emailLink: false, anonymous: false))
  }
}
