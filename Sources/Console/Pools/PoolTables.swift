import HTTP
import Identity
import Localization
import Templating

struct PoolTable: ViewModel {
  let columns: [Heading]
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

/// Reads what the rows of tables of pools show, only for the columns shown.
struct PoolTables: Sendable {
  let identity: Identity
  let row: Template<PoolRow>
  private let caches = MarkupCaches<PoolRow.Context, PoolRow.Source>()

  /// The period of rejection rates, in days: the same as on the overview of a pool.
  static let days = Activity.chartDays

  func rows(
    _ pools: [PolicySummary], of review: PolicyReview, _ columns: Set<PoolColumn>,
    signedOff signOff: ReviewSummary?, in projectContext: ProjectContext,
    linkingTo destination: PoolRow.Destination
  ) async throws -> Markup {
    let (project, signedIn) = (projectContext.pool.project, projectContext.signedIn)
    let now = identity.clock.now()
    let since = signedIn.times.start(ofDays: Self.days, until: now)
    let figures =
      columns.contains(.rejected)
      ? try await identity.activity.attemptCounts(of: pools.map(\.key), since: since, at: now) : [:]
    let exemptions =
      columns.contains(.exemptions)
      ? try await identity.exemptions.counts(of: pools.map(\.key)) : [:]
    let trends =
      columns.contains(.enrolled)
      ? try await identity.activity.trends(of: pools, at: now) : [:]
    let file = identity.policies.filePools
    let isChangeable = projectContext.pool.offers.contains(.policyChanges)
    let context = PoolRow.Context(
      columns: columns, times: signedIn.times, today: Day(now), project: project,
      base: review.project?.inForce,
      destination: destination,
      opensExemptions: signedIn.administrator.maySomewhere(.findUsers))
    return caches[context].joined(
      pools.map { pool in
        PoolRow.Source(
          key: pool.key,
          subject: .pool(
            mayChange: isChangeable
              && signedIn.administrator.may(
                .changePolicy, project: project, tenant: pool.tenant)
          ),
          kind: projectContext.pool.kind, policy: pool,
          enforcer: EffectiveMFA.enforcer(
            of: pool.edit, carriesMail: identity.messages.carriesMail, at: now),
          users: pool.users, enrolled: pool.enrolledUsers,
          trend: trends[pool.key] ?? EnrollmentTrend(),
          attempts: figures[pool.key] ?? AttemptCounts(),
          exemptions: exemptions[pool.key] ?? 0,
          review: columns.contains(.signOff)
            ? signOff.map {
              PoolRow.Review(state: $0.state(of: pool.tenant), signOff: $0.status.signOff)
            } : nil,
          drift: file.drift(of: pool.edit, in: project, pool.tenant)?.map(\.field))
      }
    ) { row.render(PoolRow($0, in: context)) }
  }

  /// The rows of pools of several projects, compared with each project's own policy.
  func rows(
    _ pools: [ReviewedPool], _ columns: Set<PoolColumn>, for signedIn: SignedIn
  ) async throws -> Markup {
    let (administrator, now) = (signedIn.administrator, identity.clock.now())
    let projects = Array(Set(pools.map(\.project)))
    let bases = try await identity.policies.summaries(of: projects, visibleTo: administrator)
    let reviews = try await identity.reviews.summaries(of: pools, visibleTo: administrator)
    let context = PoolRow.Context(
      columns: columns, times: signedIn.times, today: Day(now),
      opensExemptions: administrator.maySomewhere(.findUsers))
    return caches[context].joined(
      pools.map { pool in
        PoolRow.Source(
          key: pool.policy.key,
          subject: .poolOf(
            pool.project, name: pool.projectName, base: bases[pool.project]?.inForce),
          kind: pool.kind, policy: pool.policy,
          enforcer: EffectiveMFA.enforcer(
            of: pool.policy.edit, carriesMail: identity.messages.carriesMail, at: now),
          users: pool.policy.users, enrolled: pool.policy.enrolledUsers,
          trend: EnrollmentTrend(), attempts: nil, exemptions: 0,
          review: reviews[pool.project].map {
            PoolRow.Review(
              state: $0.state(of: pool.policy.tenant), signOff: $0.status.signOff)
          },
          findsUsers: administrator.may(
            .findUsers, project: pool.project, tenant: pool.policy.tenant))
      }
    ) { row.render(PoolRow($0, in: context)) }
  }
}

/// A column of the table of pools; the first column names the pool.
enum PoolColumn: String, TableColumn {
  case policy, enforcement, window, sms, pattern, enrolled, rejected, exemptions, change
  case signOff = "sign-off"
  case comparison

  var heading: Message {
    switch self {
    case .policy: Message("TOTP")
    case .enforcement: Message("Enforcement")
    case .window: Message("Adjacent intervals")
    case .sms: Message("SMS")
    case .pattern: Message("Pattern")
    case .enrolled: Message("Enrolled")
    case .rejected: Message("Rejected codes")
    case .exemptions: Message("Exemptions")
    case .change: Message("Last change")
    case .signOff: Message("Sign-off")
    case .comparison: Message("Project policy")
    }
  }

  var isNumber: Bool {
    switch self {
    case .enrolled, .rejected, .exemptions: true
    case .policy, .enforcement, .window, .sms, .pattern, .change, .signOff, .comparison: false
    }
  }

  /// The order that the column sorts by, and the value of `aria-sort`; nil if it isn't sortable.
  var order: (order: PolicyReviewQuery.Order, direction: String)? {
    switch self {
    case .window: (.window, "descending")
    case .enrolled: (.enrolled, "ascending")
    case .rejected: (.rejected, "descending")
    case .change: (.changed, "descending")
    case .policy, .enforcement, .sms, .pattern, .exemptions, .signOff, .comparison: nil
    }
  }
}

enum PoolPreset: String, CaseIterable, Sendable {
  case overview, policy, review

  var name: Message {
    switch self {
    case .overview: Message("Overview")
    case .policy: Message("Policy")
    case .review: Message("Review")
    }
  }

  /// The columns that fit a laptop; a project's own sign-off is above its table.
  var columns: Set<PoolColumn> {
    switch self {
    case .overview: [.policy, .window, .pattern, .enrolled, .rejected, .change]
    case .policy: [.policy, .enforcement, .window, .sms, .pattern, .comparison]
    case .review:
      [.policy, .window, .pattern, .enrolled, .exemptions, .change, .comparison]
    }
  }

  /// The columns of the pools of several projects.
  static let everyPool: Set<PoolColumn> = [
    .policy, .window, .pattern, .enrolled, .comparison, .change, .signOff,
  ]
}

/// The columns that an address asks for, by preset or one by one.
struct PoolColumns: Hashable, Sendable {
  static let presetField = "view"

  let shown: Set<PoolColumn>
  /// The preset; nil for columns chosen one by one.
  let preset: PoolPreset?
  let standard: PoolPreset

  init(_ query: Form, standard: PoolPreset) {
    self.standard = standard
    if let chosen = ColumnsForm.chosen(in: query) {
      (shown, preset) = (Set(chosen.compactMap(PoolColumn.init(rawValue:))), nil)
    } else {
      let preset = PoolPreset(rawValue: query.trimmed(Self.presetField)) ?? standard
      (shown, self.preset) = (preset.columns, preset)
    }
  }

  init(_ standard: PoolPreset) { self.init(standard, standard: standard) }

  private init(_ preset: PoolPreset, standard: PoolPreset) {
    (shown, self.preset, self.standard) = (preset.columns, preset, standard)
  }

  /// Adds the choice to a query, unless it's the page's own.
  func add(to form: inout Form) {
    if let preset {
      if preset != standard { form.add(Self.presetField, preset.rawValue) }
    } else {
      form.add(ColumnsForm.field, "")
      for column in PoolColumn.allCases where shown.contains(column) {
        form.add(ColumnsForm.field, column.rawValue)
      }
    }
  }

  func form(action: String, kept: Form) -> ColumnsForm {
    ColumnsForm(action: action, kept: kept, shown: shown)
  }

  func tabs(_ path: String, _ query: (PoolColumns) -> Form) -> [Link] {
    PoolPreset.allCases.map { each in
      Link(
        text: each.name, href: query(PoolColumns(each, standard: standard)).query(of: path),
        isCurrent: each == preset)
    }
  }
}
