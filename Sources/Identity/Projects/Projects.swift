import Crypto
import Database

/// Makes, finds and changes projects.
public struct Projects: Sendable {
  let store: Store

  /// Makes a project with one API key and everything about second factors off.
  ///
  /// - Throws: ``ProjectError``.
  public func create(
    id: String, displayName: String, by author: Author
  ) async throws(ProjectError) -> Project {
    guard Self.isValidID(id) else { throw .invalidID }
    return try await insert(id: id, displayName: displayName, by: author)
  }

  /// Makes the project of an id that an application used, as the emulator profile does.
  func makeImplicit(_ id: ID<Project>) async throws(ProjectError) {
    guard (1...128).contains(id.text.utf8.count) else { throw .invalidID }
    _ = try await insert(id: id.text, displayName: id.text, by: Author(actor: .emulatorOwner))
  }

  private func insert(
    id: String, displayName: String, by author: Author
  ) async throws(ProjectError) -> Project {
    let name = displayName.isEmpty ? id : displayName
    guard Self.isValidName(name) else { throw .invalidDisplayName }
    let now = store.clock.now()
    let emulator = store.profile == .emulator
    let random = store.random
    return try await store.write(ProjectError.self) { connection in
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
        INSERT INTO scope (project_id, display_name, password, email_link, anonymous, created_at,
          mfa_state)
        VALUES (\(id), \(name), \(true), \(emulator), \(emulator), \(now.microseconds),
          \(MFAState.disabled.rawValue))
        """)
      try APIKeys.insert(for: ID(id), random: random, at: now, connection)
      let project = try Self.find(ID(id), connection)
      var entry = AuditEntry("project.create", "project", id, name: name, in: project.scope)
      entry.to = name
      try entry.record(by: author, at: now, connection)
      return project
    }
  }

  /// Finds a project.
  ///
  /// - Throws: ``ProjectError/notFound``, ``ProjectError/unavailable(_:)``.
  public func find(_ id: ID<Project>) async throws(ProjectError) -> Project {
    try await store.read(ProjectError.self) { connection in try Self.find(id, connection) }
  }

  /// Lists the projects that an administrator has any grant for, by id.
  ///
  /// - Throws: ``ProjectError/unavailable(_:)``.
  public func list(
    visibleTo administrator: Administrator, search: String? = nil, after: String? = nil,
    limit: Int = 50
  ) async throws(ProjectError) -> Page<ProjectSummary> {
    guard !administrator.grants.isEmpty else { return Page(items: [], next: nil) }
    var condition: SQL = "p.project_id > \(after ?? "")"
    if let search, !search.isEmpty {
      condition +=
        " AND (instr(lower(p.display_name), lower(\(search))) OR instr(p.project_id, lower(\(search))))"
    }
    if !administrator.seesEveryProject {
      condition +=
        " AND p.project_id IN (\(list: administrator.grants.compactMap(\.project?.text)))"
    }
    let filter = condition
    let counted = Self.countedScopes(visibleTo: administrator)
    let limit = Page<ProjectSummary>.size(limit)
    return try await store.read(ProjectError.self) { connection in
      let rows = try connection.all(
        """
        SELECT \(Project.columns), coalesce(sum(a.tenant_id <> ''), 0), coalesce(sum(a.users), 0),
          coalesce(sum(a.enrolled_users), 0)
        FROM project p JOIN scope s ON s.project_id = p.project_id AND s.tenant_id = ''
          LEFT JOIN scope a ON a.project_id = p.project_id AND a.deleted_at IS NULL \(counted)
        WHERE \(filter) GROUP BY p.project_id ORDER BY p.project_id LIMIT \(limit + 1)
        """
      ) { row in
        let column = Policy.columnCount + 9
        return ProjectSummary(
          project: try Project(row), tenants: try row.value(column),
          users: try row.value(column + 1),
          enrolledUsers: try row.value(column + 2))
      }
      return Page(rows, limit: limit) { $0.project.id.text }
    }
  }

  /// Which scopes `a` the counts of a list are made of: those the administrator may see, so that
  /// the counts of one tenant's administrator say nothing of the others.
  private static func countedScopes(visibleTo administrator: Administrator) -> SQL {
    if administrator.seesEveryProject { return "" }
    let parts = administrator.grants.compactMap { grant -> SQL? in
      guard let project = grant.project else { return nil }
      guard let tenant = grant.tenant else { return "a.project_id = \(project.text)" }
      return "(a.project_id = \(project.text) AND a.tenant_id = \(tenant.text))"
    }
    return "AND (\(parts.joined(separator: " OR ")))"
  }

  /// The names of the first projects that an administrator has any grant for, by id; for menus.
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
        SELECT project_id, display_name FROM project WHERE \(filter)
        ORDER BY project_id LIMIT \(limit)
        """
      ) { (ID(try $0.value(0)), try $0.value(1)) }
    }
  }

  /// Changes a project and writes its audit rows: one for the project, one for its MFA policy, for
  /// whichever changed.
  ///
  /// - Throws: ``ProjectError``, and what `edit` throws.
  public func update(
    _ id: ID<Project>, by author: Author,
    edit: @escaping @Sendable (inout ProjectEdit) throws(ProjectError) -> Void
  ) async throws(ProjectError) -> Project {
    let now = store.clock.now()
    return try await store.write(ProjectError.self) { connection in
      let project = try Self.find(id, connection)
      var new = project.edit
      try edit(&new)
      guard Self.isValidName(new.displayName) else { throw ProjectError.invalidDisplayName }
      if Words.difference(project.edit.words, new.words).from != nil {
        try Self.store(new, over: project, by: author, at: now, connection)
      }
      do {
        var policy = project.policy.edit
        policy.configuration = new.configuration
        _ = try Policies.store(policy, over: project.policy, by: author, at: now, connection)
      } catch let error as PolicyError { throw ProjectError.policy(error) }
      return try Self.find(id, connection)
    }
  }

  private static func store(
    _ new: ProjectEdit, over project: Project, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE project SET display_name = \(new.displayName), allow_tenants = \(new.allowTenants),
        email_privacy = \(new.emailPrivacy), allow_duplicate_emails = \(new.allowDuplicateEmails),
        authorized_domains = \(new.authorizedDomains.joined(separator: "\n"))
      WHERE project_id = \(project.id.text)
      """)
    try connection.run(
      """
      UPDATE scope SET display_name = \(new.displayName), members = \(new.members),
        password = \(new.signIn.password), email_link = \(new.signIn.emailLink),
        anonymous = \(new.signIn.anonymous), disabled = \(new.disableAuth)
      WHERE scope_key = \(project.scope.key)
      """)
    var entry = AuditEntry(
      "project.change", "project", project.id.text, name: new.displayName, in: project.scope)
    (entry.from, entry.to) = Words.difference(project.edit.words, new.words)
    try entry.record(by: author, at: now, connection)
  }

  static func find(_ id: ID<Project>, _ connection: borrowing Connection) throws -> Project {
    let project = try connection.first(
      """
      SELECT \(Project.columns) FROM scope s JOIN project p USING (project_id)
      WHERE s.project_id = \(id.text) AND s.tenant_id = ''
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

  static func isValidName(_ name: String) -> Bool {
    (1...100).contains(name.count)
      && !name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
      && name.contains { !$0.isWhitespace }
  }
}

extension ProjectEdit {
  /// Its fields in words, for the audit log.
  var words: [(String, String)] {
    [
      ("name", displayName), ("password sign-in", Words.onOff(signIn.password)),
      ("e-mail link", Words.onOff(signIn.emailLink)), ("anonymous", Words.onOff(signIn.anonymous)),
      ("e-mail privacy", Words.onOff(emailPrivacy)),
      ("duplicate e-mails", Words.onOff(allowDuplicateEmails)),
      ("authorised domains", authorizedDomains.joined(separator: ", ")),
      ("tenants", Words.onOff(allowTenants)), ("sign-in", disableAuth ? "off" : "on"),
      ("other members", members),
    ]
  }
}
