import HTTP
import Identity

enum DeletionRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let pools = parts.identity.pools
    table.inProject(
      ConsolePaths.projectDeletion,
      performing: DeletePool<ProjectContext>(pools: pools, action: .deleteProject), parts.actions)
    table.inProjectOfTenant(
      ConsolePaths.tenantDeletion,
      performing: DeletePool<PoolContext>(pools: pools, action: .deleteTenant), parts.actions)
  }
}

extension ConsolePaths {
  static let projectDeletion = Path(
    "projects", nil, "settings", "deletion", parameters: String.self)
  static let tenantDeletion = Path(
    "projects", nil, "tenants", nil, "settings", "deletion", parameters: String.self, String.self)
}
