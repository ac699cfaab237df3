import HTTP
import Identity

enum ProjectsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let projects = ProjectsPage(
      identity: identity, frames: frames,
      view: try parts.template("projects/projects", for: ProjectsView.self),
      row: try parts.template("projects/row", for: ProjectRow.self))
    table.signedIn(.get, ConsolePaths.projects, nil, projects.show)

    table.signedIn(
      ConsolePaths.newProject, performing: CreateProject(pools: identity.pools), parts.actions)
  }
}

extension ConsolePaths {
  static let projects = Path()
  static let newProject = Path("projects", "new")
}
