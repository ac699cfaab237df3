import HTTP
import Identity

/// The list of a project's tenants and the form for a new one.
enum TenantsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let tenants = TenantsPage(
      identity: identity, frames: frames,
      view: try parts.template("tenants/tenants", for: TenantsView.self),
      row: try parts.template("tenants/row", for: TenantRow.self))
    table.inProject(.get, ConsolePaths.tenants, .seeScope, tenants.show)

    let newTenant = NewTenantPage(
      pools: identity.pools, frames: frames,
      view: try parts.template("tenants/new", for: NewTenantView.self))
    table.inProject(.get, ConsolePaths.newTenant, .manageTenants, newTenant.show)
    table.inProject(
      ConsolePaths.newTenant, performing: [.createTenant], newTenant.create)
  }
}
