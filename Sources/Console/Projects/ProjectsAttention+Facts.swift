import Identity

extension ProjectsAttention {
  struct Facts: Sendable {
    let warnings: [PoolWarning]
    let alerts: [Alert]
    let reporting: [ReportingPool]
    let unreadable: [UnreadableSecrets.Group]
    /// The projects on the page with tenants whose policies differ.
    let differing: [DifferingTenants]
    /// The first such projects of all, and whether there are more.
    let mostDiffering: (projects: [DifferingTenants], hasMore: Bool)
    let overdue: [(signOff: SignOff, projectName: String)]
    let unreviewed: [(id: ID<Project>, name: String)]
    let drifting: [DriftingPool]
    /// The pools in the policy file that don't exist.
    let missing: [String]
    let policyFile: PolicyFileStatus
    let damage: IntegrityChecks.Result?
    let breakGlass: BreakGlassAlert?
    let held: [HeldAgent]

    /// The maximum number of items of each kind that are counted in a project's row.
    private static let counted = 100

    /// Reads what an administrator can see; `page` has the projects on the page.
    init(
      _ identity: Identity, _ page: [ProjectSummary], _ administrator: Administrator
    ) async throws {
      let most = ProjectsPage.warnings
      warnings = try await identity.pools.warnings(visibleTo: administrator, limit: Self.counted)
      alerts = try await identity.alerts.ongoing(visibleTo: administrator, limit: most + 1)
      reporting = try await identity.reportedChanges.pools(visibleTo: administrator, limit: most)
      unreadable = try await identity.unreadableSecrets.groups(visibleTo: administrator)
      differing = try await identity.policies.differing(
        in: page, visibleTo: administrator, limit: 0)
      mostDiffering = try await Self.differing(identity, administrator)
      overdue = try await identity.reviews.overdue(visibleTo: administrator, limit: Self.counted)
      unreviewed = try await identity.reviews.neverSignedOff(
        visibleTo: administrator, limit: most + 1)
      drifting = try await identity.policies.drifting(in: page, visibleTo: administrator)
      missing = try await identity.policies.missingFilePools(in: page, visibleTo: administrator)
      policyFile = identity.policies.fileStatus
      damage = try await identity.integrityChecks.damage(visibleTo: administrator)
      breakGlass =
        administrator.may(.manageAdministrators, in: nil)
        ? try await identity.alerts.breakGlass() : nil
      held = try await Self.held(identity, administrator)
    }

    private static func differing(
      _ identity: Identity, _ administrator: Administrator
    ) async throws -> (projects: [DifferingTenants], hasMore: Bool) {
      let page = try await identity.pools.projects(
        visibleTo: administrator, .differing, limit: ProjectsPage.warnings)
      let differing = try await identity.policies.differing(
        in: page.items, visibleTo: administrator, limit: ProjectsPage.warnings)
      return (differing, page.next != nil)
    }

    /// The blocked agents whom this administrator can unblock.
    private static func held(
      _ identity: Identity, _ administrator: Administrator
    ) async throws -> [HeldAgent] {
      guard administrator.maySomewhere(.protectUsers) else { return [] }
      let all = try await identity.support.held()
      return all.filter {
        administrator.may(.protectUsers, in: $0.pool) && $0.agent != administrator.id
      }
    }
  }
}

extension ProjectRow.Status {
  /// The status of each project that needs attention or has exempt users.
  static func all(
    _ facts: ProjectsAttention.Facts, _ exemptions: [Exemption]
  ) -> [ID<Project>: Self] {
    var statuses: [ID<Project>: Self] = [:]
    for exemption in exemptions where exemption.tenant == nil && !exemption.hasFactor {
      statuses[exemption.project, default: Self()].exempt += 1
    }
    for project in facts.warnings.map(\.project) + facts.drifting.map(\.project)
      + facts.reporting.map(\.pool.project) + facts.alerts.map(\.pool.project)
      + facts.unreadable.compactMap(\.project)
    {
      statuses[project, default: Self()].warnings += 1
    }
    for each in facts.differing {
      statuses[each.project, default: Self()].differing = each.count
    }
    for each in facts.overdue {
      statuses[each.signOff.project, default: Self()].isOverdue = true
    }
    return statuses
  }
}
