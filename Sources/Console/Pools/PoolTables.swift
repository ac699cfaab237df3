import HTTP
import Identity
import Localization
import Templating

/// The table of user pools, for every page that has one.
struct PoolTable: ViewModel {
  let columns: [PoolHeading]
  /// Each a `PoolRow`.
  let rows: Markup
  let pager: PagerView
  let empty: EmptyView

  static let keys: Keys<Self> = [
    .flag("hasRows") { !$0.rows.isEmpty },
    .markup("symbols") { _ in WindowStrip.symbols },
    .list(\.columns),
    .markup(\.rows),
    .object(\.pager),
    .object(\.empty),
  ]
}

/// Reads what the rows of tables of user pools show, only for the columns shown.
struct PoolTables: Sendable {
  let identity: Identity
  let row: Template<PoolRow>
  private let rows = MarkupCache<PoolRow.Source>()

  /// The period of rejection rates, in days.
  static let days = PolicyReviewQuery.rejectionDays

  init(_ identity: Identity, _ row: Template<PoolRow>) {
    (self.identity, self.row) = (identity, row)
  }

  /// The rows of pools of a project; names link to the policy or to the overview.
  func rows(
    _ pools: [PolicySummary], of review: PolicyReview, _ columns: Set<PoolColumn>,
    in context: ProjectContext, linkingTo page: ScopePath0
  ) async throws(Refusal) -> Markup {
    let (project, signedIn) = (context.scope.project, context.signedIn)
    let now = identity.clock.now()
    let figures = try await figures(columns, pools.map(\.key), isWhole: false, at: now)
    let exemptions =
      columns.contains(.exemptions)
      ? try await refusing { try await identity.exemptions.counts(in: project) } : [:]
    let standing =
      columns.contains(.signOff) && signedIn.administrator.may(.readPolicy, in: context.scope)
      ? try await refusing { try await identity.reviews.standing(of: project) } : nil
    let trends =
      columns.contains(.enrolled)
      ? try await identity.activity.trends(of: pools.map(\.key), at: now) : [:]
    let exempt = Self.exemptions(of: project)
    return rows.joined(
      pools.map { pool in
        let mayChange = signedIn.administrator.may(
          .changePolicy, project: project, tenant: pool.tenant)
        let policy = address(ConsolePaths.policy, project, pool.tenant)
        return PoolRow.Source(
          href: address(page, project, pool.tenant), name: pool.displayName,
          caption: pool.tenant.map { .id($0.text) } ?? .ownUsers, columns: columns, policy: pool,
          enforcer: EffectiveMFA.enforcer(of: pool.edit, at: now), users: pool.users,
          enrolled: pool.enrolledUsers, trend: trends[pool.key] ?? EnrollmentTrend(),
          attempts: figures[pool.key] ?? AttemptCounts(),
          exemptions: exemptions[pool.tenant] ?? 0, exemptionsHref: exempt,
          review: standing.map {
            PoolRow.Review(state: $0.state(of: pool, at: now), signOff: $0.signOff)
          },
          comparison: comparison(pool, review.project?.inForce, project, policy, mayChange),
          drift: identity.policies.drift(of: pool.edit, in: project, pool.tenant)?.map(\.field),
          turnOn: mayChange && !pool.edit.configuration.isTOTPOn
            ? PolicyLinks.turnOn(policy) : nil,
          times: signedIn.times)
      }
    ) { row.render(PoolRow($0)) }
  }

  /// The rows of projects, with the policies of their own users and the figures of all of them.
  func rows(
    _ projects: [ProjectSummary], _ columns: Set<PoolColumn>,
    _ standings: [ID<Project>: ReviewStanding],
    _ exemptions: [Exemption], for signedIn: SignedIn
  ) async throws(Refusal) -> Markup {
    let (administrator, now) = (signedIn.administrator, identity.clock.now())
    let visible = projects.filter { administrator.may(.seeScope, project: $0.id, tenant: nil) }
    let policies = try await refusing {
      try await identity.policies.summaries(of: projects.map(\.id), visibleTo: administrator)
    }
    let figures = try await figures(columns, visible.map(\.key), isWhole: true, at: now)
    let trends =
      columns.contains(.enrolled)
      ? try await identity.activity.trends(of: visible.map(\.id), at: now) : [:]
    let differing = try await refusing {
      columns.contains(.comparison)
        ? try await identity.policies.differing(in: projects, visibleTo: administrator) : []
    }
    return rows.joined(
      projects.map { project in
        let policy = policies[project.id]
        let review = ConsolePaths.review(project.id.text)
        return PoolRow.Source(
          href: review, name: project.displayName, caption: .tenants(project.tenants),
          columns: columns, policy: policy,
          enforcer: policy.map { EffectiveMFA.enforcer(of: $0.edit, at: now) },
          users: project.users, enrolled: project.enrolledUsers,
          trend: trends[project.id] ?? EnrollmentTrend(),
          attempts: figures[project.key] ?? AttemptCounts(),
          exemptions: exemptions.count { $0.project == project.id },
          exemptionsHref: Self.exemptions(of: project.id),
          review: standings[project.id].map {
            PoolRow.Review(state: $0.state, signOff: $0.signOff)
          },
          comparison: policy == nil
            ? .none
            : .tenants(
              differing.first { $0.project == project.id }?.count ?? 0,
              href: (["show": "differs"] as Form).query(of: review)),
          drift: nil, turnOn: nil, times: signedIn.times)
      }
    ) { row.render(PoolRow($0)) }
  }

  private func figures(
    _ columns: Set<PoolColumn>, _ keys: [Int64], isWhole: Bool, at now: Instant
  ) async throws(Refusal) -> [Int64: AttemptCounts] {
    guard columns.contains(.rejected) else { return [:] }
    return try await refusing {
      try await identity.activity.attemptCounts(
        of: keys, isWhole: isWhole, days: Self.days, at: now)
    }
  }

  private func comparison(
    _ pool: PolicySummary, _ base: PolicyInForce?, _ project: ID<Project>, _ policy: String,
    _ mayChange: Bool
  ) -> PoolRow.Comparison {
    guard let base, let tenant = pool.tenant else { return .none }
    let fields = pool.inForce.differences(from: base)
    guard !fields.isEmpty else { return .same }
    return .differs(
      fields,
      href: (["with": project.text] as Form).query(
        of: ConsolePaths.comparison.ofTenant(project.text, tenant.text)),
      reset: mayChange ? PolicyLinks.likeProject(policy) : nil)
  }

  private func address(
    _ path: ScopePath0, _ project: ID<Project>, _ tenant: ID<Tenant>?
  ) -> String {
    tenant.map { path.ofTenant(project.text, $0.text) } ?? path.ofProject(project.text)
  }

  private static func exemptions(of project: ID<Project>) -> String {
    (["project": project.text] as Form).query(of: ConsolePaths.exemptions())
  }
}
