import HTTP
import Identity
import Localization

/// `/projects/{p}/settings/deletion`: deletes a project.
struct DeleteProject: PoolDeletion {
  static let action = ConsoleAction.deleteProject
  static let name = Message("Delete project")
  static let path = ProjectPath0("settings", "deletion")
  let pools: Pools

  func page(_ target: FormTarget<ProjectContext>) async throws -> FormPage {
    try await page(of: target.pool)
  }
}

/// `/projects/{p}/tenants/{t}/settings/deletion`: deletes a tenant.
struct DeleteTenant: PoolDeletion {
  static let action = ConsoleAction.deleteTenant
  static let name = Message("Delete tenant")
  static let path = TenantPath0("settings", "deletion")
  let pools: Pools

  func page(_ target: FormTarget<TenantContext>) async throws -> FormPage {
    try await page(of: target.pool)
  }
}

/// Lists what will be lost, asks for the name, and deletes a project or tenant.
protocol PoolDeletion: FormAction where Place: PoolPlace, Input == Void, Reason == PoolError {
  var pools: Pools { get }
}

extension PoolDeletion {
  fileprivate func page(of pool: Pool) async throws -> FormPage {
    let losses: DeletionImpact
    do {
      losses = try await pools.deletionImpact(project: pool.project, tenant: pool.tenant)
    } catch is PoolError { throw Refusal.notFound }
    let (name, settings) = (Message.Value.text(pool.name), ConsolePaths.settings(pool))
    return FormPage(
      title: Message("Delete · Settings"),
      crumbs: [Link(text: Message("Settings"), href: settings)],
      heading: Message("Delete “<bdi>{poolName}</bdi>”?", ["poolName": name]),
      consequencesHeading: Message("Deleted permanently"),
      consequences: Self.lost(losses, with: pool),
      note: Message(
        """
        Applications lose access immediately, and this can’t be undone. The ID <code>{id}</code> \
        can never be reused. Its history stays in the audit log of the instance.
        """, ["id": .text(pool.objectID)]),
      fields: [
        .line(
          "confirmation", Message("To delete it, type <bdi>{poolName}</bdi>", ["poolName": name]),
          hint: Message("Name or ID"), Field.Look.exact)
      ], button: pool.tenant == nil ? Message("Delete project") : Message("Delete tenant"),
      isDestructive: true, isFinal: true, back: settings)
  }

  private static func lost(_ losses: DeletionImpact, with pool: Pool) -> [Message] {
    var lines = [
      losses.users == 0
        ? Message("No users.")
        : Message(
          one: """
            {count} user, {enrolled} of them with a second factor: accounts, passwords, factors, \
            and sessions.
            """,
          other: """
            {count} users, {enrolled} of them with a second factor: accounts, passwords, factors, \
            and sessions.
            """,
          ["count": .number(losses.users), "enrolled": .number(losses.enrolledUsers)])
    ]
    func add(_ count: Int, _ text: (Message.Value) -> Message) {
      if count > 0 { lines.append(text(.number(count))) }
    }
    add(losses.tenants) {
      Message(
        one: "{count} tenant, including its policy.",
        other: "{count} tenants, including their policies.", ["count": $0])
    }
    if pool.tenant == nil {
      lines.append(
        Message(
          one: "{count} API key: applications that use it can no longer connect.",
          other: "{count} API keys: applications that use one can no longer connect.",
          ["count": .number(losses.apiKeys)]))
    }
    add(losses.serviceTokens) {
      Message(one: "{count} service token.", other: "{count} service tokens.", ["count": $0])
    }
    add(losses.roles) {
      Message(
        one: "{count} administrator role.", other: "{count} administrator roles.", ["count": $0])
    }
    add(losses.groupRoles) {
      Message(
        one: "{count} group role of the sign-in provider.",
        other: "{count} group roles of the sign-in provider.", ["count": $0])
    }
    add(losses.invitations) {
      Message(
        one: "{count} pending administrator invitation.",
        other: "{count} pending administrator invitations.", ["count": $0])
    }
    return lines
  }

  func input(_ target: FormTarget<Place>) throws {
    guard target.pool.isNamed(target.form.trimmed("confirmation")) else {
      throw InvalidInput.field(
        "confirmation", Message("Enter the name as shown above, or the ID."))
    }
  }

  func perform(_ input: Void, _ target: FormTarget<Place>) async throws -> FormEnd {
    let pool = target.pool
    let outcome = try await pools.delete(
      project: pool.project, tenant: pool.tenant, by: .console(target.request))
    let name = Message.Value.name(Formatted.short(pool.name))
    return pool.tenant == nil
      ? FormEnd(
        Message("Project “{name}” deleted. Requests to it are now rejected.", ["name": name]),
        at: ConsolePaths.projects(), after: outcome)
      : FormEnd(
        Message("Tenant “{name}” deleted. Requests to it are now rejected.", ["name": name]),
        at: ConsolePaths.tenants(pool.project.text), after: outcome)
  }

  func fault(_ error: PoolError, _ target: FormTarget<Place>) throws -> FieldError {
    throw Refusal.notFound
  }
}

enum DeletionRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let pools = parts.identity.pools
    table.add(DeleteProject(pools: pools), parts.actions)
    table.add(DeleteTenant(pools: pools), parts.actions)
  }
}
