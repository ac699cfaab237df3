import HTTP
import Identity
import Templating

/// `/`: the projects that an administrator may see.
struct ProjectsPage: Sendable {
  let projects: Projects
  let frames: Frames
  let view: Template<ProjectsView>

  private static let length = 50

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let query = signedIn.query.trimmed("q")
    let after = signedIn.query["after"]
    let page = try await refusing {
      try await projects.list(
        visibleTo: signedIn.administrator, search: query.isEmpty ? nil : query, after: after,
        limit: Self.length)
    }
    let frame = frames.frame("Projects", for: signedIn, tab: .projects)
    return .html(
      view.render(
        ProjectsView(
          frame: frame, page: page, query: query, after: after,
          administrator: signedIn.administrator)))
  }
}
