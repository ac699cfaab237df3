import HTTP
import Identity

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
