import HTTP
import Identity
import Localization
import Templating

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

/// Reads what the rows of tables of pools show, only for the columns shown.
struct PoolTables: Sendable {
  let identity: Identity
  let row: Template<PoolRow>
  private let caches = MarkupCaches<PoolRow.Context, PoolRow.Source>()

  /// The period of rejection rates, in days: the same as on the overview of a pool.
  static let days = Activity.chartDays

  init(_ identity: Identity, _ row: Template<PoolRow>) {
    (self.identity, self.row) = (identity, row)
  }

  func rows(
    _ pools: [PolicySummary], of review: PolicyReview, _ columns: Set<PoolColumn>,
    signedOff signOff: ReviewSummary?, in projectContext: ProjectContext,
    linkingTo destination: PoolRow.Destination
  ) async throws -> Markup {
    let (project, signedIn) = (projectContext.pool.project, projectContext.signedIn)
    let now = identity.clock.now()
    let since = signedIn.times.start(ofDays: Self.days, until: now)
    let figures = try await figures(
      columns, pools.map(\.key), isWhole: false, since: since, at: now)
    let exemptions =
      columns.contains(.exemptions)
      ? try await identity.exemptions.counts(of: pools.map(\.key)) : [:]
    let trends =
      columns.contains(.enrolled)
      ? try await identity.activity.trends(of: pools, at: now) : [:]
    let file = identity.policies.filePools
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
            mayChange: signedIn.administrator.may(
              .changePolicy, project: project, tenant: pool.tenant)),
          policy: pool,
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

  /// The rows of projects, with the policies of their own users and the figures of all of them.
  func rows(
    _ projects: [ProjectSummary], _ columns: Set<PoolColumn>,
    _ statuses: [ID<Project>: ReviewStatus], for signedIn: SignedIn
  ) async throws -> Markup {
    let (administrator, now) = (signedIn.administrator, identity.clock.now())
    let visible = projects.filter { administrator.may(.seePool, project: $0.id, tenant: nil) }
    let policies = try await identity.policies.summaries(
      of: projects.map(\.id), visibleTo: administrator)
    let since = signedIn.times.start(ofDays: Self.days, until: now)
    let figures = try await figures(
      columns, visible.map(\.key), isWhole: true, since: since, at: now)
    let whole = Set(visible.map(\.key))
    let trends =
      columns.contains(.enrolled)
      ? try await identity.activity.trends(of: visible, at: now) : [:]
    let exemptions =
      columns.contains(.exemptions)
      ? try await identity.exemptions.counts(visibleTo: administrator) : [:]
    let differing =
      try await columns.contains(.comparison)
      ? identity.policies.differing(in: projects, visibleTo: administrator) : []
    let context = PoolRow.Context(
      columns: columns, times: signedIn.times, today: Day(now),
      opensExemptions: administrator.maySomewhere(.findUsers))
    return caches[context].joined(
      projects.map { project in
        let policy = policies[project.id]
        return PoolRow.Source(
          key: project.key,
          subject: .project(
            project.id, name: project.displayName, tenants: project.tenants,
            differing: differing.first { $0.project == project.id }?.count ?? 0),
          policy: policy,
          enforcer: policy.map {
            EffectiveMFA.enforcer(
              of: $0.edit, carriesMail: identity.messages.carriesMail, at: now)
          },
          users: project.users, enrolled: project.enrolledUsers,
          trend: trends[project.key] ?? EnrollmentTrend(),
          attempts: whole.contains(project.key) ? figures[project.key] ?? AttemptCounts() : nil,
          exemptions: exemptions[project.id]?.values.reduce(0, +) ?? 0,
          review: statuses[project.id].map {
            PoolRow.Review(state: $0.state, signOff: $0.signOff)
          })
      }
    ) { row.render(PoolRow($0, in: context)) }
  }

  private func figures(
    _ columns: Set<PoolColumn>, _ keys: [Int64], isWhole: Bool, since: Instant, at now: Instant
  ) async throws -> [Int64: AttemptCounts] {
    guard columns.contains(.rejected) else { return [:] }
    return try await identity.activity.attemptCounts(
      of: keys, isWhole: isWhole, since: since, at: now)
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

  /// The columns that fit a desktop.
  ///
  /// A project's own sign-off is above its table, and the policies of several projects aren't
  /// compared. Their patterns are below who enforces enrollment, without a column.
  func columns(acrossProjects: Bool) -> Set<PoolColumn> {
    switch self {
    case .overview: [.policy, .window, .pattern, .enrolled, .rejected, .change]
    case .policy: [.policy, .enforcement, .window, .sms, .pattern, .comparison]
    case .review:
      Set([.enforcement, .window, .enrolled, .rejected, .exemptions, .change])
        .union(acrossProjects ? [.signOff] : [.pattern, .comparison])
    }
  }
}

/// The columns that an address asks for, by preset or one by one.
struct PoolColumns: Hashable, Sendable {
  static let presetField = "view"

  let shown: Set<PoolColumn>
  /// The preset; nil for columns chosen one by one.
  let preset: PoolPreset?
  let standard: PoolPreset

  init(_ query: Form, standard: PoolPreset, acrossProjects: Bool = false) {
    self.standard = standard
    if let chosen = ColumnsForm.chosen(in: query) {
      (shown, preset) = (Set(chosen.compactMap(PoolColumn.init(rawValue:))), nil)
    } else {
      let preset = PoolPreset(rawValue: query.trimmed(Self.presetField)) ?? standard
      (shown, self.preset) = (preset.columns(acrossProjects: acrossProjects), preset)
    }
  }

  init(_ standard: PoolPreset) { self.init(standard, standard: standard) }

  private init(_ preset: PoolPreset, standard: PoolPreset) {
    (shown, self.preset, self.standard) = (
      preset.columns(acrossProjects: false), preset, standard
    )
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

struct PoolHeading: ViewModel {
  let text: Message
  var isNumber = false
  var href: String?
  var direction: String?

  static let keys: Keys<Self> = [
    .text(\.text),
    .flag(\.isNumber),
    .text(\.href),
    .text(\.direction),
  ]
}
