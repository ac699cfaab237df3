import HTTP
import Identity
import Localization
import Templating

/// `/projects`: lists the projects that an administrator can access and what needs attention in them.
struct ProjectsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ProjectsView>
  let row: Template<ProjectRow>
  let rows = MarkupCache<ProjectRow.Source>()

  /// The period of rejection rates, in days.
  static let days = 7

  func show(_ signedIn: SignedIn) async throws -> Response {
    let administrator = signedIn.administrator
    let query = signedIn.query.trimmed("q")
    let size = PageSize(signedIn.query)
    let after = signedIn.query.text("after")
    let page = try await identity.pools.projects(
      visibleTo: administrator, search: query.isEmpty ? nil : query, after: after,
      limit: size.rows)
    if let first = signedIn.firstPage(of: ConsolePaths.projects(), insteadOf: page) { return first }
    let facts = try await ProjectsAttention.Facts(identity, page.items, administrator)
    let frame = await frames.frame(Message("Projects"), for: signedIn)
    let now = identity.clock.now()
    let trends = try await identity.activity.trends(of: page.items, at: now)
    let visible = page.items.filter { administrator.may(.seePool, project: $0.id, tenant: nil) }
    let attempts = try await identity.activity.attemptCounts(
      of: visible.map(\.key), isWhole: true,
      since: signedIn.times.start(ofDays: Self.days, until: now), at: now)
    let exemptions = try await identity.exemptions.list(visibleTo: administrator)
    let attention = ProjectsAttention.list(facts, clock: frames.clock(for: signedIn), signedIn)
    let isAnyConnected = page.items.contains { $0.kind != .hosted }
    let sources = ProjectRow.Source.all(
      page.items, trends, attempts, ProjectRow.Status.all(attention, exemptions),
      readAt: isAnyConnected ? try await identity.connections.readAt() : [:], signedIn)
    let rows = rows.joined(sources) { row.render(ProjectRow($0)) }
    var model = ProjectsView(
      frame: frame, page: page, rows: rows,
      trends: sources.filter { $0.rights.contains(.see) }.map(\.trend),
      attention: attention,
      upcoming: try await Upcoming(identity, exemptions, signedIn), query: query, size: size,
      after: after,
      firstRun: query.isEmpty && after == nil && page.next == nil
        ? try await FirstRun(page.items, signedIn, identity) : nil,
      administrator: administrator)
    if let waiting = frame.approvals, waiting > 0 {
      model.approvals = Link(
        text: ApprovalText.waiting(waiting), href: ConsolePaths.approvals())
    }
    return .html(view.render(model))
  }
}

struct ProjectsView: ViewModel {
  let frame: FrameView
  /// The table's rows, each a `ProjectRow`.
  let rows: Markup
  let attention: AttentionList
  let upcoming: Upcoming
  let filter: FilterView?
  let pager: PagerView
  let empty: EmptyView
  let newProject: String?
  let finding: Message?
  /// The sums of the projects that the reader can open; nil for a part of the list.
  let summary: Message?
  /// The steps to the first enrolled user; nil once there are users.
  let firstRun: FirstRun?
  var approvals: Link?

  init(
    frame: Frame, page: Page<ProjectSummary>, rows: Markup, trends: [EnrollmentTrend],
    attention: AttentionList, upcoming: Upcoming, query: String, size: PageSize,
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
    summary =
      isWhole
      ? Self.summary(
        page.items.filter { administrator.may(.seePool, project: $0.id, tenant: nil) }) : nil
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
    newProject = administrator.may(.createProject, in: nil) ? CreateProject.path() : nil
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
        link: newProject.map { Link(text: Message("New project"), href: $0) })
      : EmptyView(
        heading: Message("No matching projects"),
        sentence: Message("No project you can access has a matching name or ID."),
        link: Link(text: Message("Show all projects"), href: list))
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

  private static func summary(_ projects: [ProjectSummary]) -> Message? {
    guard !projects.isEmpty else { return nil }
    let tenants = projects.reduce(0) { $0 + $1.tenants }
    let users = projects.reduce(0) { $0 + $1.users }
    let connected = projects.count { $0.kind != .hosted }
    let figures = [
      connected == 0
        ? Message(
          one: "{count} project", other: "{count} projects", ["count": .number(projects.count)])
        : Message(
          "{hosted} hosted, {connected} connected",
          ["hosted": .number(projects.count - connected), "connected": .number(connected)]),
      Message(one: "{count} tenant", other: "{count} tenants", ["count": .number(tenants)]),
      Message(one: "{count} user", other: "{count} users", ["count": .number(users)]),
    ]
    return Message.value(.sequence(figures))
  }

  static let keys: Keys<Self> = [
    .text(\.finding),
    .text(\.summary),
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
    .optional(\.approvals),
  ]
}

struct Upcoming: ViewModel {
  let items: [UpcomingItem]

  private static let most = 8
  /// How far exemptions and reviews are looked ahead, in days.
  private static let days = 7

  init(_ identity: Identity, _ exemptions: [Exemption], _ signedIn: SignedIn) async throws {
    let (administrator, times) = (signedIn.administrator, signedIn.times)
    let end = identity.clock.now().advanced(bySeconds: Int64(Self.days) * 86_400)
    let reviews = try await identity.reviews.upcoming(
      visibleTo: administrator, within: Self.days, limit: Self.most)
    let all =
      exemptions.prefix { $0.endsAt <= end }.prefix(Self.most).map { UpcomingItem($0, times) }
      + reviews.map { UpcomingItem($0.signOff, $0.projectName) }
    items = Array(all.sorted { $0.at < $1.at }.prefix(Self.most))
  }

  static let keys: Keys<Self> = [.list(\.items)]
}

struct UpcomingItem: ViewModel {
  let at: Instant
  let name: String
  let sentence: Message
  let href: String

  init(_ exemption: Exemption, _ times: Times) {
    at = exemption.endsAt
    name = exemption.poolName
    sentence = Message(
      "The MFA exemption of {user} ends on {at}.",
      ["user": .name(Formatted.short(exemption.label)), "at": times.endValue(exemption.endsAt)])
    href = exemption.userAddress
  }

  init(_ signOff: SignOff, _ projectName: String) {
    at = signOff.dueOn.start
    name = projectName
    sentence = Message(
      "The next policy review is due on {due}.", ["due": Times.value(signOff.dueOn)])
    href = ConsolePaths.review(signOff.project.text)
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.sentence),
    .text(\.href),
  ]
}

enum ProjectsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let projects = ProjectsPage(
      parts: parts, view: try parts.template("projects/projects"),
      row: try parts.template("projects/row"))
    table.signedIn(.get, ConsolePaths.home, StartPage.show)
    table.signedIn(.get, ConsolePaths.projects, projects.show)

    table.add(CreateProject(pools: identity.pools, profile: identity.profile), parts.actions)
  }
}

extension ConsolePaths {
  static let home = Path()
  static let projects = Path("projects")
}
