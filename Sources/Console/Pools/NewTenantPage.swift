import HTTP
import Identity
import Localization

/// `/projects/{p}/tenants/new`: creates a tenant.
struct CreateTenant: FormAction {
  let pools: Pools
  let action = ConsoleAction.createTenant

  func page(_ target: FormTarget<ProjectContext>) -> FormPage {
    let list = ConsolePaths.tenants(target.pool.project.text)
    return FormPage(
      title: Message("New tenant"), crumbs: [Link(text: Message("Tenants"), href: list)],
      lead: Message(
        """
        New tenants start with TOTP off and password sign-in on, regardless of the settings of \
        <bdi>{projectName}</bdi>.
        """, ["projectName": .text(target.pool.name)]),
      fields: [
        .line(
          "name", Message("Name"),
          hint: Message(
            """
            4 to 20 letters, digits, and hyphens, starting with a letter. The tenant ID is derived \
            from it.
            """), Field.Look.exact)
      ], button: Message("Create tenant"), back: list)
  }

  func perform(
    _ input: Void, _ target: FormTarget<ProjectContext>, _ request: ActionRequest
  ) async throws -> FormEnd {
    let tenant = try await pools.createTenant(
      in: target.pool.project, .newTenant(named: target.form.trimmed("name")), request)
    return FormEnd(
      Message("Tenant created. TOTP is off in its policy."),
      at: ConsolePaths.overview(tenant.pool))
  }

  func fault(
    _ error: PoolError, _ target: FormTarget<ProjectContext>
  ) throws -> FieldError {
    try FieldError(error)
  }
}

enum TenantsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let tenants = PoolsPage(
      purpose: .tenants, identity: parts.identity, frames: parts.frames,
      tables: PoolTables(
        parts.identity, try parts.template("pools/row", for: PoolRow.self)),
      view: try parts.template("pools/pools", for: PoolsView.self))
    table.inProject(.get, ConsolePaths.tenants, .seePool, tenants.show)

    table.inProject(
      ConsolePaths.newTenant, performing: CreateTenant(pools: parts.identity.pools), parts.actions)
  }
}

extension ConsolePaths {
  static let tenants = Path("projects", nil, "tenants", parameters: String.self)
  static let newTenant = Path("projects", nil, "tenants", "new", parameters: String.self)
}
