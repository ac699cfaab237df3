import HTTP
import Identity
import Localization
import Templating

struct ProjectsView: ViewModel {
  let frame: FrameView
  /// The table's rows, each a `ProjectRow`.
  let rows: Markup
  let attention: ProjectsAttention
  let upcoming: Upcoming
  let filter: FilterView?
  let pager: PagerView
  let empty: EmptyView
  let newProject: String?
  /// The address of the report of removals in all projects; nil for readers who can't open it.
  let removals: String?
  let finding: Message?
  /// The steps to the first enrolled user; nil once there are users.
  let firstRun: FirstRun?
  var approvals: Link?

  init(
    frame: Frame, page: Page<ProjectSummary>, rows: Markup, trends: [EnrollmentTrend],
    attention: ProjectsAttention, upcoming: Upcoming, query: String, size: PageSize,
    after: String?, firstRun: FirstRun?, administrator: Administrator
  ) {
    self.frame = FrameView(frame)
    self.rows = rows
    self.attention = attention
    self.upcoming = upcoming
    self.firstRun = firstRun
    let list = ConsolePaths.projects()
    let isWhole = query.isEmpty && after == nil && page.next == nil
    finding = Self.finding(trends, isWhole: isWhole && trends.count == page.items.count)
    filter =
      isWhole && page.items.count < 10
      ? nil
      : FilterView(
        action: list, label: Message("Search projects by name or ID"), query: query,
        keeping: size.form)
    pager = PagerView(
      shown: Message(
        one: "{count} project", other: "{count} projects", ["count": .number(page.items.count)]),
      path: list,
      query: size.added(to: query.isEmpty ? Form() : ["q": query]), after: after, next: page.next)
    newProject = administrator.may(.createProject, in: nil) ? ConsolePaths.newProject() : nil
    removals =
      !page.items.isEmpty && administrator.may(read: .removals, about: .instance)
      ? ConsolePaths.allRemovals() : nil
    empty =
      query.isEmpty
      ? EmptyView(
        heading: Message("No projects yet"),
        sentence: newProject == nil
          ? Message(
            """
            You don’t have access to any project. For access, ask an administrator with the \
            {roles} role.
            """, ["roles": Permission.manageAdministrators.roleNames])
          : Message(
            """
            Applications connect to a project, which contains users, tenants, API keys, and an \
            MFA policy.
            """),
        link: newProject.map { EmptyLink(text: Message("Create project"), href: $0) })
      : EmptyView(
        heading: Message("No matching projects"),
        sentence: Message("No project you can access has a matching name or ID."),
        link: EmptyLink(text: Message("Show all projects"), href: list))
  }

  /// In how many of the projects on the page enrollment is known to have risen.
  private static func finding(_ trends: [EnrollmentTrend], isWhole: Bool) -> Message? {
    let rising = trends.compactMap(\.isRising)
    guard rising.count > 1 else { return nil }
    let count = rising.count { $0 }
    return isWhole && count == trends.count
      ? Message("Enrollment rose in every project")
      : Message(
        one: "Enrollment rose in {number} of {count} project",
        other: "Enrollment rose in {number} of {count} projects",
        ["number": .number(count), "count": .number(trends.count)])
  }

  static let keys: Keys<Self> = [
    .text(\.finding),
    .optional(\.firstRun),
    .object(\.frame),
    .flag("hasRows") { !$0.rows.isEmpty },
    .markup("symbols") { _ in WindowStrip.symbols },
    .markup(\.rows),
    .flag("hasAttention") { !$0.attention.isEmpty },
    .object(\.attention),
    .flag("hasUpcoming") { !$0.upcoming.items.isEmpty },
    .object(\.upcoming),
    .optional(\.filter),
    .object(\.pager),
    .object(\.empty),
    .text(\.newProject),
    .text(\.removals),
    .optional(\.approvals),
  ]
}
