import HTTP
import Identity

/// The form for a new tenant.
enum TenantsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let newTenant = NewTenantPage(
      pools: parts.identity.pools, frames: parts.frames,
      view: try parts.template("tenants/new", for: NewTenantView.self))
    table.inProject(.get, ConsolePaths.newTenant, .manageTenants, newTenant.show)
    table.inProject(
      ConsolePaths.newTenant, performing: [.createTenant], newTenant.create)
  }
}
