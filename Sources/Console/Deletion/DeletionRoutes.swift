import HTTP
import Identity

enum DeletionRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let scopeDeletion = ScopeDeletionPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("deletion/deletion", for: ScopeDeletionView.self))
    table.inProject(.get, ConsolePaths.projectDeletion, .deleteProject, scopeDeletion.askForProject)
    table.inProject(
      ConsolePaths.projectDeletion, performing: [.deleteProject], scopeDeletion.deleteProject)
    let tenantDeletion = ConsolePaths.tenantDeletion
    table.inProjectOfTenant(.get, tenantDeletion, .manageTenants, scopeDeletion.askForTenant)
    table.inProjectOfTenant(
      tenantDeletion, performing: [.deleteTenant], scopeDeletion.deleteTenant)
  }
}

extension ConsolePaths {
  static let projectDeletion = Path(
    "projects", nil, "settings", "deletion", parameters: String.self)
  static let tenantDeletion = Path(
    "projects", nil, "tenants", nil, "settings", "deletion", parameters: String.self, String.self)
}
