import HTTP
import Identity
import Localization
import MailText

/// `/projects/{p}/tenants/new`: creates a tenant.
struct CreateTenant: FormAction {
  static let action = ConsoleAction.createTenant
  static let name = Message("Create tenant")
  static let path = ProjectPath0("tenants", "new")
  let identity: Identity

  func page(_ target: FormTarget<ProjectContext>) async throws -> FormPage {
    let list = ConsolePaths.tenants(target.pool.project.text)
    let name = Field.line(
      "name", Message("Name"),
      hint: Message(
        """
        4 to 20 letters, digits, and hyphens, starting with a letter. The tenant ID is derived \
        from it.
        """), Field.Look.exact)
    let project = try await projectPolicy(target)
    return FormPage(
      title: Message("New tenant"), crumbs: [Link(text: Message("Tenants"), href: list)],
      lead: project == nil
        ? Message(
          """
          New tenants start with TOTP off and password sign-in on, regardless of the settings of \
          <bdi>{projectName}</bdi>.
          """, ["projectName": .text(target.pool.name)])
        : Message(
          """
          New tenants start with password sign-in on, regardless of the settings of \
          <bdi>{projectName}</bdi>.
          """, ["projectName": .text(target.pool.name)]),
      fields: [name] + (project.map { Self.fields($0, of: target.pool) } ?? []),
      button: Message("Create tenant"), back: list)
  }

  /// The policy of the project; nil if TOTP is off there, or for administrators who can't read it
  /// or set that of a tenant.
  private func projectPolicy(_ target: FormTarget<ProjectContext>) async throws -> StoredPolicy? {
    let (administrator, pool) = (target.signedIn.administrator, target.pool)
    guard
      [Permission.readPolicy, .changePolicy].allSatisfy({
        administrator.may($0, project: pool.project, tenant: nil)
      })
    else { return nil }
    let policy = try await identity.policies.ofProject(pool)
    return policy.configuration.isTOTPOn ? policy : nil
  }

  private static func fields(_ policy: StoredPolicy, of project: Pool) -> [Field] {
    let edit = policy.edit
    let more = [
      edit.configuration.isSMSOn ? Message("SMS codes: on") : nil,
      edit.effectiveEnforcement.map {
        Message("server enforcement: {enforcement}", ["enforcement": .message($0.message)])
      },
    ].compactMap(\.self)
    let values = PolicySentence.text(edit)
    return [
      .choice(
        "policy", Message("MFA policy"),
        [
          Field.Option(
            value: "project", label: Message("Same as {name}", ["name": .name(project.name)]),
            hint: more.isEmpty
              ? values
              : Message(
                "{policy} ({more})", ["policy": .message(values), "more": .sequence(more)])),
          Field.Option(
            value: "off", label: Message("TOTP off"),
            hint: Message("Every user signs in with the first factor only.")),
        ], value: "project"),
      .hidden(HiddenField(name: "source", value: String(policy.version))),
    ]
  }

  /// Returns the version of the project's policy to copy; nil for TOTP off, also without an answer.
  func input(_ target: FormTarget<ProjectContext>) throws -> Int? {
    switch target.form.trimmed("policy") {
    case "project":
      guard let version = Int32(target.form.trimmed("source")), version >= 0 else {
        throw Refusal.unreadableForm
      }
      return Int(version)
    case "off", "": return nil
    default: throw InvalidInput.field("policy", Message("Select a policy."))
    }
  }

  func perform(_ version: Int?, _ target: FormTarget<ProjectContext>) async throws -> FormEnd {
    let (project, pools) = (target.pool.project, identity.pools)
    let edit = PoolEdit.newTenant(named: target.form.trimmed("name"))
    guard let version else {
      let tenant = try await pools.createTenant(in: project, edit, by: .console(target.request))
        .value
      return FormEnd(
        Message("Tenant created. TOTP is off in its policy."),
        at: ConsolePaths.overview(tenant.pool))
    }
    let tenant = try await pools.createTenant(
      in: project, edit, withPolicyVersion: version, by: .console(target.request)
    ).value
    return FormEnd(
      Message("Tenant created with the policy of {name}.", ["name": .name(target.pool.name)]),
      at: ConsolePaths.overview(tenant.pool))
  }

  func fault(_ error: PoolError, _ target: FormTarget<ProjectContext>) throws -> FieldError {
    switch error {
    case .policy(.changedMeanwhile):
      FieldError(
        field: "policy",
        text: Message("The project’s policy changed meanwhile. These are its current values."))
    case .policy(.refusalNeedsEmail):
      FieldError(
        field: "policy",
        text: Message(
          """
          The project’s policy blocks sign-ins, which requires email. It isn’t set up on this \
          server.
          """))
    default: try FieldError(error)
    }
  }
}

enum TenantsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let tenants = PoolsPage(
      purpose: .tenants, identity: parts.identity, frames: parts.frames,
      tables: PoolTables(
        identity: parts.identity, row: try parts.template("pools/row", for: PoolRow.self)),
      view: try parts.template("pools/pools"))
    table.inside(ConsolePaths.tenants, .get(.seePool), tenants.show)

    table.add(CreateTenant(identity: parts.identity), parts.actions)
  }
}

extension ConsolePaths {
  static let tenants = ProjectPath0("tenants")
}
