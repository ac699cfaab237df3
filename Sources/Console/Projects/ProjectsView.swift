import HTTP
import Identity
import Templating

struct ProjectsView: ViewModel {
  let frame: FrameView
  let rows: [ProjectRow]
  let filter: FilterView?
  let pager: PagerView
  let empty: EmptyView
  let newProject: String?

  init(
    frame: Frame, page: Page<ProjectSummary>, query: String, after: String?,
    administrator: Administrator
  ) {
    self.frame = FrameView(frame)
    rows = page.items.map { ProjectRow($0, administrator: administrator) }
    let list = ConsolePaths.projects()
    let isWhole = query.isEmpty && after == nil && page.next == nil
    filter =
      isWhole && page.items.count < 10
      ? nil : FilterView(action: list, label: "Find a project by name or id", query: query)
    pager = PagerView(
      shown: Words.count(page.items.count, "project", "projects"), path: list,
      query: query.isEmpty ? Form() : ["q": query], after: after, next: page.next)
    newProject = administrator.may(.createProject, in: nil) ? ConsolePaths.newProject() : nil
    empty =
      query.isEmpty
      ? EmptyView(
        heading: "No project yet",
        sentence: newProject == nil
          ? "Your role reaches no project. An owner can change that."
          : "A project is what an application connects to: users, tenants, keys and an MFA policy.",
        link: newProject.map { EmptyLink(text: "Create the first project", href: $0) })
      : EmptyView(
        heading: "No project is called so",
        sentence: "Names and ids of projects you may see were searched.",
        link: EmptyLink(text: "Show all projects", href: list))
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .flag("hasRows") { !$0.rows.isEmpty },
    .list("rows") { $0.rows },
    .optional("filter") { $0.filter },
    .object("pager") { $0.pager },
    .object("empty") { $0.empty },
    .text("newProject") { $0.newProject },
  ]
}

final class ProjectRow: ViewModel {
  let href: String
  let name: String
  let id: String
  let totp: Markup?
  let window: Markup?
  let tenants: String?
  let users: String?
  let enrolled: Markup?

  init(_ summary: ProjectSummary, administrator: Administrator) {
    let project = summary.project
    // Who has a role in a tenant only may neither open the project's own pages nor learn from its
    // counts about other tenants.
    let isVisible = administrator.may(.seeScope, in: project.scope)
    href =
      isVisible
      ? ConsolePaths.overview(project.scope) : ConsolePaths.tenants(project.id.text)
    name = project.displayName
    id = project.id.text
    totp = isVisible ? summary.policy.configuration.chip : nil
    window = isVisible ? WindowStrip.small(summary.policy.configuration) : nil
    tenants = isVisible ? Words.number(summary.tenants) : nil
    users = isVisible ? Words.number(summary.users) : nil
    enrolled = isVisible ? Meter.share(summary.enrolledUsers, of: summary.users) : nil
  }

  static let keys: Keys<ProjectRow> = [
    .text("href") { $0.href },
    .text("name") { $0.name },
    .text("id") { $0.id },
    .markup("totp") { $0.totp },
    .markup("window") { $0.window },
    .text("tenants") { $0.tenants },
    .text("users") { $0.users },
    .markup("enrolled") { $0.enrolled },
  ]
}
