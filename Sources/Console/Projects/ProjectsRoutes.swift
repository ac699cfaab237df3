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

    let newProject = NewProjectPage(
      pools: identity.pools, frames: frames,
      view: try parts.template("projects/new", for: NewProjectView.self))
    table.signedIn(.get, ConsolePaths.newProject, .createProject, newProject.show)
    table.signedIn(
      ConsolePaths.newProject, performing: [.createProject], newProject.create)
  }
}

extension ConsolePaths {
  static let projects = Path()
  static let newProject = Path("projects", "new")
}
