import Crypto
import Database

/// Creates, finds, changes, and deletes projects.
public struct Projects: Sendable {
  let store: Store

  /// Creates a project with one API key and all second factors disabled.
  ///
  /// - Throws: ``ProjectError``.
  public func create(
    id: String, displayName: String, by author: Author
  ) async throws(ProjectError) -> Project {
    guard Self.isValidID(id) else { throw .invalidID }
    return try await store.perform(
      by: author, ProjectError.self, try inserting(id: id, displayName: displayName))
  }

  /// Creates a project on behalf of an administrator in the console.
  ///
  /// - Throws: ``ActionError``.
  public func create(
    id: String, displayName: String, _ request: ActionRequest
  ) async throws(ActionError<ProjectError>) -> Project {
    guard Self.isValidID(id) else { throw .failed(.invalidID) }
    let insertion: Action<Project>
    do { insertion = try inserting(id: id, displayName: displayName) } catch {
      throw .failed(error)
    }
    return try await store.perform(
      .createProject, request, in: .instance, ProjectError.self, insertion
    ).value
  }

  /// Creates the project of an ID that an application used, in the emulator profile.
  func makeImplicit(_ id: ID<Project>) async throws(ProjectError) {
    guard (1...128).contains(id.text.utf8.count) else { throw .invalidID }
    _ = try await store.perform(
      by: Author(actor: .emulatorOwner), ProjectError.self,
      try inserting(id: id.text, displayName: id.text))
  }

  private func inserting(
    id: String, displayName: String
  ) throws(ProjectError) -> Action<Project> {
    let name = displayName.isEmpty ? id : displayName
    guard Self.isValidName(name) else { throw .invalidDisplayName }
    let random = store.random
    return { context, connection in
      let now = context.now
      let emulator = context.profile == .emulator
      let number = try Self.freeNumber(random, connection)
      do {
        try connection.run(
          """
          INSERT INTO project (project_id, number, display_name, email_privacy, created_at)
          VALUES (\(id), \(number), \(name), \(!emulator), \(now.microseconds))
          """)
      } catch let error as DatabaseError {
        if case .uniqueViolation = error.code { throw ProjectError.idTaken }
        throw error
      }
      try connection.run(
        """
        INSERT INTO scope (project_id, display_name, password, email_link, anonymous, phone,
          created_at, mfa_state)
        VALUES (\(id), \(name), \(true), \(emulator), \(emulator), \(emulator),
          \(now.microseconds), \(MFAState.disabled.rawValue))
        """)
      try APIKeys.insert(for: ID(id), random: random, at: now, connection)
      let project = try Self.find(ID(id), connection)
      var entry = AuditEntry(.projectCreate, .project, id, name: name, in: project.scope)
      entry.add(.displayName, .text(name))
      try context.record(entry, connection)
      return project
    }
  }

  /// Finds a project.
  ///
  /// - Throws: ``ProjectError/notFound``, ``ProjectError/unavailable(_:)``.
  public func find(_ id: ID<Project>) async throws(ProjectError) -> Project {
    try await store.read(ProjectError.self) { connection in try Self.find(id, connection) }
  }

  /// Lists the projects that an administrator has a grant for, ordered by ID.
  ///
  /// The counts are stored rather than added up, because a project may have thousands of tenants.
  ///
  /// - Throws: ``ProjectError/unavailable(_:)``.
  public func list(
    visibleTo administrator: Administrator, search: String? = nil, after: String? = nil,
    limit: Int = 50
  ) async throws(ProjectError) -> Page<ProjectSummary> {
    guard !administrator.grants.isEmpty else { return Page(items: [], next: nil) }
    var condition: SQL = "p.project_id > \(after ?? "")"
    if !administrator.seesEveryProject {
      // Includes the empty ID, which no project has, because SQLite (3.40) would sort for a list
      // with a single element.
      let granted = [""] + administrator.grants.compactMap(\.project?.text)
      condition += " AND p.project_id IN (\(list: granted))"
    }
    if let search, !search.isEmpty {
      condition +=
        " AND (instr(lower(p.display_name), lower(\(search))) OR instr(p.project_id, lower(\(search))))"
    }
    let filter = condition
    let limit = Page<ProjectSummary>.size(limit)
    return try await store.read(ProjectError.self) { connection in
      var rows = try connection.all(
        """
        SELECT \(ProjectSummary.columns)
        FROM project p JOIN scope s ON s.project_id = p.project_id AND s.tenant_id = ''
        WHERE \(filter) AND p.deleted_at IS NULL ORDER BY p.project_id LIMIT \(limit + 1)
        """
      ) { try ProjectSummary($0) }
      for index in rows.indices {
        guard let tenants = administrator.onlyTenants(of: rows[index].id) else { continue }
        try rows[index].restrict(to: tenants, connection)
      }
      return Page(rows, limit: limit) { $0.id.text }
    }
  }

  /// Returns the names of the first projects that an administrator has a grant for, ordered by ID,
  /// for menus.
  ///
  /// - Throws: ``ProjectError/unavailable(_:)``.
  public func names(
    visibleTo administrator: Administrator, limit: Int
  ) async throws(ProjectError) -> [(id: ID<Project>, displayName: String)] {
    guard !administrator.grants.isEmpty else { return [] }
    var condition: SQL = "project_id > ''"
    if !administrator.seesEveryProject {
      condition = "project_id IN (\(list: administrator.grants.compactMap(\.project?.text)))"
    }
    let filter = condition
    return try await store.read(ProjectError.self) { connection in
      try connection.all(
        """
        SELECT project_id, display_name FROM project WHERE \(filter) AND deleted_at IS NULL
        ORDER BY project_id LIMIT \(limit)
        """
      ) { (ID(try $0.value(0)), try $0.value(1)) }
    }
  }

  /// Changes a project and records the change in the audit log, with one entry each for the project
  /// and its MFA policy if they changed.
  ///
  /// - Throws: ``ProjectError``, and any error that `edit` throws.
  public func update(
    _ id: ID<Project>, by author: Author,
    edit: @escaping @Sendable (inout ProjectEdit) throws(ProjectError) -> Void
  ) async throws(ProjectError) -> Project {
    try await store.perform(by: author, ProjectError.self, Self.change(of: id, edit))
  }

  /// Changes a project on behalf of an administrator in the console.
  ///
  /// A change that weakens security has stricter requirements.
  ///
  /// - Throws: ``ActionError``.
  public func update(
    _ id: ID<Project>, _ request: ActionRequest,
    edit: @escaping @Sendable (inout ProjectEdit) throws(ProjectError) -> Void
  ) async throws(ActionError<ProjectError>) -> ActionOutcome<Project> {
    try await store.perform(
      request, in: ActionTarget(project: id), ProjectError.self,
      choosing: { connection in
        let old = try Self.find(id, connection).edit
        var new = old
        try edit(&new)
        return ConsoleAction(
          weakens: !new.weakenings(since: old).isEmpty,
          disablesSignIn: (old.disableAuth, new.disableAuth))
      }, Self.change(of: id, edit))
  }

  private static func change(
    of id: ID<Project>, _ edit: @escaping @Sendable (inout ProjectEdit) throws(ProjectError) -> Void
  ) -> Action<Project> {
    { context, connection in
      let (author, now) = (context.author, context.now)
      var project = try Self.find(id, connection)
      var new = project.edit
      try edit(&new)
      guard Self.isValidName(new.displayName) else { throw ProjectError.invalidDisplayName }
      for domain in new.authorizedDomains where !project.authorizedDomains.contains(domain) {
        guard Self.isDomain(domain) else { throw ProjectError.invalidDomain(domain) }
      }
      do { try new.passwords?.check() } catch let error as PasswordPolicyError {
        throw ProjectError.passwords(error)
      }
      do {
        try LinkTargets.check(
          from: project.edit.linkTargets, to: new.linkTargets, authorized: new.authorizedDomains,
          by: author, project: id, context.profile, connection)
      } catch let error as LinkTargetError { throw ProjectError.links(error) }
      let isChanged = !AuditChange.between(project.edit.auditFields, new.auditFields).isEmpty
      if isChanged { try Self.store(new, over: project, by: author, at: now, connection) }
      do {
        var policy = project.policy.edit
        policy.configuration = new.configuration
        project.policy = try Policies.store(
          policy, over: project.policy, context, connection)
      } catch let error as PolicyError { throw ProjectError.policy(error) }
      return isChanged ? try Self.find(id, connection) : project
    }
  }

  private static func store(
    _ new: ProjectEdit, over project: Project, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE project SET display_name = \(new.displayName), allow_tenants = \(new.allowTenants),
        email_privacy = \(new.emailPrivacy), import_totp = \(new.importsTOTP),
        allow_duplicate_emails = \(new.allowDuplicateEmails),
        authorized_domains = \(new.authorizedDomains.joined(separator: "\n"))
      WHERE project_id = \(project.id.text)
      """)
    try connection.run(
      """
      UPDATE scope SET display_name = \(new.displayName), members = \(new.members),
        password = \(new.signIn.password), email_link = \(new.signIn.emailLink),
        anonymous = \(new.signIn.anonymous), phone = \(new.signIn.phone),
        disabled = \(new.disableAuth), withdrawal_needs_factor = \(new.withdrawalNeedsFactor),
        sign_up_off = \(!new.userPermissions.signUp),
        deletion_off = \(!new.userPermissions.deletion),
        anonymous_expire = \(new.expiresAnonymous)
      WHERE scope_key = \(project.scope.key)
      """)
    if new.passwords != project.passwords {
      try PasswordPolicy.store(new.passwords, in: project.scope.key, at: now, connection)
    }
    var entry = AuditEntry(
      .projectChange, .project, project.id.text, name: new.displayName, in: project.scope)
    entry.compare(project.edit.auditFields, new.auditFields)
    try entry.record(by: author, at: now, connection)
  }

  /// Deletes a project with its tenants.
  ///
  /// It can no longer be found, its keys and tokens are revoked, and its users, factors, and
  /// sessions are deleted.
  ///
  /// If there are many users, some are deleted immediately and the rest by ``Identity/purge()``.
  /// The ID is never reused, so that the audit log, which is kept, refers to only one project.
  ///
  /// - Throws: ``ProjectError``.
  public func delete(_ id: ID<Project>, by author: Author) async throws(ProjectError) {
    try await store.perform(by: author, ProjectError.self, Self.deletion(of: id))
  }

  /// Deletes a project on behalf of an administrator in the console.
  ///
  /// - Throws: ``ActionError``.
  public func delete(
    _ id: ID<Project>, _ request: ActionRequest
  ) async throws(ActionError<ProjectError>) -> ActionOutcome<Void> {
    try await store.perform(
      .deleteProject, request, in: ActionTarget(project: id), ProjectError.self,
      Self.deletion(of: id))
  }

  private static func deletion(of id: ID<Project>) -> Action<Void> {
    { context, connection in
      let now = context.now
      let project = try Self.find(id, connection)
      let losses = try Deletion.losses(of: project.scope, connection)
      try Deletion.mark(project.scope, at: now, connection)
      try Deletion.purge(at: now, connection)
      var entry = AuditEntry(
        .projectDelete, .project, id.text, name: project.displayName, in: project.scope)
      entry.add(.displayName, lost: .text(project.displayName))
      entry.add(.tenants, lost: .number(losses.tenants))
      entry.add(.users, lost: .number(losses.users))
      entry.add(.apiKeys, lost: .number(losses.apiKeys))
      entry.add(.serviceTokens, lost: .number(losses.serviceTokens))
      try context.record(entry, connection)
    }
  }

  /// Returns what would be lost if a project were deleted.
  ///
  /// - Throws: ``ProjectError``.
  public func losses(_ id: ID<Project>) async throws(ProjectError) -> DeletionImpact {
    try await store.read(ProjectError.self) { connection in
      try Deletion.losses(of: Self.find(id, connection).scope, connection)
    }
  }

  static func find(_ id: ID<Project>, _ connection: borrowing Connection) throws -> Project {
    let project = try connection.first(
      """
      SELECT \(Project.columns) FROM scope s JOIN project p USING (project_id)
      WHERE s.project_id = \(id.text) AND s.tenant_id = '' AND s.deleted_at IS NULL
      """
    ) { try Project($0) }
    guard let project else { throw ProjectError.notFound }
    return project
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

  static func isValidID(_ id: String) -> Bool {
    let bytes = Array(id.utf8)
    guard (6...30).contains(bytes.count), bytes.last != UInt8(ascii: "-") else { return false }
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): continue
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        if index == 0 { return false }
      default: return false
      }
    }
    return true
  }

  /// Returns whether a text is a hostname, such as `localhost` or `app.example.com`: labels of a-z,
  /// 0-9, and hyphen, separated by dots (RFC 1123, section 2.1).
  static func isDomain(_ text: String) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    return text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .allSatisfy { label in
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else {
          return false
        }
        return label.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), hyphen:
            true
          default: false
          }
        }
      }
  }

  static func isValidName(_ name: String) -> Bool {
    !name.isEmpty && name.unicodeScalars.count <= 100
      && !name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
      && name.contains { !$0.isWhitespace }
  }
}

extension ProjectEdit {
  /// The fields, for comparison in the audit log.
  var auditFields: [AuditField] {
    [
      AuditField(.displayName, .text(displayName)),
      AuditField(.passwordSignIn, .flag(signIn.password)),
      AuditField(.emailLinkSignIn, .flag(signIn.emailLink)),
      AuditField(.anonymousSignIn, .flag(signIn.anonymous)),
      AuditField(.phoneSignIn, .flag(signIn.phone)),
      AuditField(.withdrawalNeedsFactor, .flag(withdrawalNeedsFactor)),
      AuditField(.emailPrivacy, .flag(emailPrivacy)),
      AuditField(.duplicateEmails, .flag(allowDuplicateEmails)),
      AuditField(.authorizedDomains, .optional(authorizedDomains)),
      AuditField(.allowsTenants, .flag(allowTenants)),
      AuditField(.importsTOTP, .flag(importsTOTP)), AuditField(.signIn, .flag(!disableAuth)),
      AuditField(.userSignUp, .flag(userPermissions.signUp)),
      AuditField(.userDeletion, .flag(userPermissions.deletion)),
      AuditField(.anonymousExpire, .flag(expiresAnonymous)),
    ] + PasswordPolicy.auditFields(of: passwords)
      + [AuditField(.otherMembers, .text(members))]
  }
}
