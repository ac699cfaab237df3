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

  private static let length = 50
  /// The maximum number of warnings of each kind on the page.
  static let warnings = 5
  /// The maximum number of items of each kind that are counted in a project's row.
  private static let counted = 100
  /// The period of rejection rates, in days.
  static let days = 7

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let administrator = signedIn.administrator
    let query = signedIn.query.trimmed("q")
    let after = signedIn.query.text("after")
    let page = try await refusing {
      try await identity.pools.projects(
        visibleTo: administrator, search: query.isEmpty ? nil : query, after: after,
        limit: Self.length)
    }
    let warnings = try await refusing {
      try await identity.scopes.warnings(visibleTo: administrator, limit: Self.counted)
    }
    let alerts = try await refusing {
      try await identity.alerts.ongoing(visibleTo: administrator, limit: Self.warnings + 1)
    }
    let reporting = try await refusing {
      try await identity.reportedChanges.pools(visibleTo: administrator, limit: Self.warnings)
    }
    let unreadable = try await refusing {
      try await identity.unreadableSecrets.groups(visibleTo: administrator)
    }
    let differing = try await refusing {
      try await identity.policies.differing(in: page.items, visibleTo: administrator, limit: 0)
    }
    let mostDiffering = try await self.differing(administrator)
    let overdue = try await refusing {
      try await identity.reviews.overdue(visibleTo: administrator, limit: Self.counted)
    }
    let unreviewed = try await refusing {
      try await identity.reviews.neverSignedOff(visibleTo: administrator, limit: Self.warnings + 1)
    }
    let drifting = try await refusing {
      try await identity.policies.drifting(in: page.items, visibleTo: administrator)
    }
    let missing = try await refusing {
      try await identity.policies.missingFilePools(in: page.items, visibleTo: administrator)
    }
    let damage = try await refusing {
      try await identity.integrityChecks.damage(visibleTo: administrator)
    }
    let breakGlass =
      administrator.may(.manageAdministrators, in: nil)
      ? try await refusing { try await identity.alerts.breakGlass() } : nil
    let held = try await held(administrator)
    let waiting = signedIn.approvals ?? 0
    let frame = frames.frame(Message("projects.projects"), for: signedIn)
    let now = identity.clock.now()
    let trends = try await identity.activity.trends(of: page.items, at: now)
    let visible = page.items.filter { administrator.may(.seeScope, project: $0.id, tenant: nil) }
    let attempts = try await refusing {
      try await identity.activity.attemptCounts(
        of: visible.map(\.key), isWhole: true,
        since: signedIn.times.start(ofDays: Self.days, until: now), at: now)
    }
    let exemptions = try await refusing {
      try await identity.exemptions.list(visibleTo: administrator)
    }
    var statuses: [ID<Project>: ProjectRow.Status] = [:]
    for exemption in exemptions where exemption.tenant == nil && !exemption.isEnrolled {
      statuses[exemption.project, default: ProjectRow.Status()].exempt += 1
    }
    for project in warnings.map(\.project) + drifting.map(\.project)
      + reporting.map(\.scope.project) + alerts.map(\.scope.project)
      + unreadable.compactMap(\.project)
    {
      statuses[project, default: ProjectRow.Status()].warnings += 1
    }
    for each in differing {
      statuses[each.project, default: ProjectRow.Status()].differing = each.count
    }
    for each in overdue {
      statuses[each.signOff.project, default: ProjectRow.Status()].isOverdue = true
    }
    let sources = ProjectRow.Source.all(
      page.items, trends, attempts, statuses, administrator: administrator)
    let rows = rows.joined(sources) { row.render(ProjectRow($0)) }
    var model = ProjectsView(
      frame: frame, page: page, rows: rows,
      trends: sources.filter { $0.rights.contains(.see) }.map(\.trend),
      attention: ProjectsAttention(
        warnings, mostDiffering, overdue: overdue, unreviewed: unreviewed, held: held,
        reporting: reporting, alerts: alerts,
        unreadable: unreadable, drifting: drifting, missing: missing,
        policyFile: identity.policies.fileStatus, damage: damage,
        breakGlass: breakGlass, clock: frames.clock(for: signedIn), signedIn,
        administrator: administrator),
      upcoming: try await Upcoming(identity, exemptions, signedIn), query: query, after: after,
      firstRun: query.isEmpty && after == nil && page.next == nil
        ? try await FirstRun(page.items, administrator, identity) : nil,
      administrator: administrator)
    if waiting > 0 {
      model.approvals = Link(
        text: ApprovalText.waiting(waiting), href: ConsolePaths.approvals())
    }
    return .html(view.render(model))
  }

  /// The first projects with tenants whose policies differ, among all that the administrator can
  /// read, and whether there are more.
  private func differing(
    _ administrator: Administrator
  ) async throws(Refusal) -> (projects: [DifferingTenants], hasMore: Bool) {
    let page = try await refusing {
      try await identity.pools.projects(
        visibleTo: administrator, .differing, limit: Self.warnings)
    }
    let differing = try await refusing {
      try await identity.policies.differing(
        in: page.items, visibleTo: administrator, limit: Self.warnings)
    }
    return (differing, page.next != nil)
  }

  /// The blocked agents whom this administrator can unblock.
  private func held(_ administrator: Administrator) async throws(Refusal) -> [HeldAgent] {
    guard administrator.maySomewhere(.protectUsers) else { return [] }
    let all = try await refusing { try await identity.support.held() }
    return all.filter {
      administrator.may(.protectUsers, in: $0.scope) && $0.agent != administrator.id
    }
  }
}
