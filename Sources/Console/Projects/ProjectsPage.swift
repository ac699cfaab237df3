import HTTP
import Identity
import Localization
import Templating

/// `/`: lists the projects that an administrator can access and what needs attention in them.
struct ProjectsPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<ProjectsView>
  let row: Template<ProjectRow>
  let rows = MarkupCache<ProjectRow.Source>()

  /// The maximum number of warnings of each kind on the page.
  static let warnings = 5
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
    let sources = ProjectRow.Source.all(
      page.items, trends, attempts, ProjectRow.Status.all(facts, exemptions),
      administrator: administrator)
    let rows = rows.joined(sources) { row.render(ProjectRow($0)) }
    var model = ProjectsView(
      frame: frame, page: page, rows: rows,
      trends: sources.filter { $0.rights.contains(.see) }.map(\.trend),
      attention: ProjectsAttention(facts, clock: frames.clock(for: signedIn), signedIn),
      upcoming: try await Upcoming(identity, exemptions, signedIn), query: query, size: size,
      after: after,
      firstRun: query.isEmpty && after == nil && page.next == nil
        ? try await FirstRun(page.items, administrator, identity) : nil,
      administrator: administrator)
    if let waiting = frame.approvals?.count, waiting > 0 {
      model.approvals = Link(
        text: ApprovalText.waiting(waiting), href: ConsolePaths.approvals())
    }
    return .html(view.render(model))
  }
}
