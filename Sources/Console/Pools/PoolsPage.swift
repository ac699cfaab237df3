import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/tenants` and `/projects/{p}/review`: the pools of a project with their policies
/// and figures.
struct PoolsPage: Sendable {
  enum Purpose: Sendable {
    case tenants, review
  }

  let purpose: Purpose
  let identity: Identity
  let frames: Frames
  let tables: PoolTables
  let view: Template<PoolsView>

  func show(_ context: ProjectContext) async throws -> Response {
    let asked = PoolsQuery(context, purpose)
    if purpose == .review { identity.connections.lookAtPolicies(of: context.pool.project) }
    // Before the policies: a later change is then one that the form to sign off tells.
    let signedOff =
      purpose == .review || asked.columns.shown.contains(.signOff)
      ? try await identity.signOff(of: context.pool.project, for: context.signedIn) : nil
    let since = context.signedIn.times.start(
      ofDays: PoolTables.days, until: identity.clock.now())
    let review = try await identity.policies.review(
      context.pool.project, visibleTo: context.signedIn.administrator,
      asked.query(since: since), after: asked.after, limit: asked.size.rows)
    if let first = context.signedIn.firstPage(of: asked.path, insteadOf: review.tenants) {
      return first
    }
    let title =
      purpose == .tenants ? Message("Tenants") : Message("Policy review")
    let frame = try await frames.frame(title, in: context)
    let own =
      purpose == .tenants || asked.isNarrowed || asked.after != nil ? nil : review.project
    let rows = try await tables.rows(
      [own].compactMap { $0 } + review.tenants.items, of: review, asked.columns.shown,
      signedOff: signedOff, in: context,
      linkingTo: purpose == .tenants ? .overview : .policy)
    let mayCreate =
      purpose == .tenants
      && context.signedIn.administrator.may(.manageTenants, in: context.pool)
    var model = PoolsView(
      frame: frame, title: title, pool: context.pool, review: review, rows: rows, asked: asked,
      signOff: try await section(signedOff, context),
      newTenant: mayCreate ? CreateTenant.path(context.pool.project.text) : nil)
    model.policyFile = identity.policies.fileStatus.warning
    return .html(view.render(model))
  }

  private func section(
    _ review: ReviewSummary?, _ context: ProjectContext
  ) async throws -> SignOffSection? {
    guard purpose == .review, let review else { return nil }
    let key = try await identity.evidenceKeys.list().first
    return SignOffSection(
      pool: context.pool, review: review,
      maySign: context.signedIn.administrator.may(.signOffReview, in: context.pool),
      key: key, isInQueue: ReviewQueue.isIn(context.signedIn),
      skip: try await ReviewQueue.skip(
        context.pool.project, identity.reviews, context.signedIn),
      times: context.signedIn.times)
  }

  func download(_ context: ProjectContext) async throws -> Response {
    let now = identity.clock.now()
    var file = ReviewFile(publicURL: frames.publicURL, now: now)
    let project = context.pool.project
    let exemptions = try await identity.exemptions.counts(in: project)
    try await identity.addPools(
      of: project, PoolsQuery(context, purpose), exemptions: exemptions, to: &file,
      for: context.signedIn, at: now)
    return file.csv.response(named: "mfa-policies-\(project.text)")
  }
}

extension Identity {
  /// Reads the last sign-off of a project and what has changed since; nil for administrators who can't
  /// read its policy.
  fileprivate func signOff(
    of project: ID<Project>, comparesAll: Bool = false, for signedIn: SignedIn
  ) async throws -> ReviewSummary? {
    guard signedIn.administrator.may(.readPolicy, project: project, tenant: nil) else { return nil }
    return try await reviews.summary(of: project, comparesAll: comparesAll)
  }

  func addPools(
    of project: ID<Project>, _ asked: PoolsQuery?, exemptions: [ID<Tenant>?: Int],
    to file: inout ReviewFile, for signedIn: SignedIn, at now: Instant
  ) async throws {
    let administrator = signedIn.administrator
    let signOff = try await signOff(of: project, comparesAll: true, for: signedIn)
    let since = signedIn.times.start(ofDays: PoolTables.days, until: now)
    var (after, isFirst) = (nil as String?, true)
    repeat {
      let review = try await policies.review(
        project, visibleTo: administrator, asked?.query(since: since) ?? PolicyReviewQuery(),
        after: after, limit: 1_000)
      let own = isFirst && asked?.isNarrowed != true ? review.project : nil
      let pools = [own].compactMap { $0 } + review.tenants.items
      let attempts = try await activity.attemptCounts(of: pools.map(\.key), since: since, at: now)
      for pool in pools {
        file.add(
          pool, in: project, base: review.project?.inForce, review: signOff,
          exemptions: exemptions[pool.tenant] ?? 0,
          attempts: attempts[pool.key] ?? AttemptCounts())
      }
      (after, isFirst) = (review.tenants.next, false)
    } while after != nil
    if let signOff, asked?.isNarrowed != true { file.addDeletedPools(of: project, signOff) }
  }
}

struct PoolsQuery: Sendable {
  let path: String
  let search: String
  let selection: PolicyReviewQuery.Selection
  let order: PolicyReviewQuery.Order
  let columns: PoolColumns
  let size: PageSize
  let after: String?

  init(_ context: ProjectContext, _ purpose: PoolsPage.Purpose) {
    let (asked, project) = (context.signedIn.query, context.pool.project.text)
    path =
      purpose == .tenants ? ConsolePaths.tenants(project) : ConsolePaths.review(project)
    search = asked.trimmed("q")
    selection = PolicyReviewQuery.Selection(rawValue: asked.trimmed("show")) ?? .all
    order = PolicyReviewQuery.Order(rawValue: asked.trimmed("sort")) ?? .name
    columns = PoolColumns(asked, standard: purpose == .tenants ? .overview : .review)
    size = PageSize(asked)
    after = asked.text("after")
  }

  var isNarrowed: Bool { !search.isEmpty || selection != .all }

  /// The query, with the beginning of the period of rejection rates.
  func query(since start: Instant) -> PolicyReviewQuery {
    PolicyReviewQuery(
      search: search.isEmpty ? nil : search, selection: selection, order: order,
      rejectedSince: start)
  }

  func form(
    _ selection: PolicyReviewQuery.Selection? = nil, _ order: PolicyReviewQuery.Order? = nil,
    _ columns: PoolColumns? = nil
  ) -> Form {
    var form = Form()
    if !search.isEmpty { form.add("q", search) }
    add(selection, order, columns, to: &form)
    return form
  }

  var kept: Form {
    var form = Form()
    add(nil, nil, nil, to: &form)
    return form
  }

  var keptByColumns: Form { form(nil, nil, PoolColumns(columns.standard)).at(after) }

  private func add(
    _ selection: PolicyReviewQuery.Selection?, _ order: PolicyReviewQuery.Order?,
    _ columns: PoolColumns?, to form: inout Form
  ) {
    let (selection, order) = (selection ?? self.selection, order ?? self.order)
    if selection != .all { form.add("show", selection.rawValue) }
    if order != .name { form.add("sort", order.rawValue) }
    (columns ?? self.columns).add(to: &form)
    form = size.added(to: form)
  }
}

struct PoolsView: ViewModel {
  let frame: FrameView
  let title: Message
  let pool: Pool
  let review: PolicyReview
  let asked: PoolsQuery
  let table: PoolTable
  /// The last sign-off; nil on other pages, and for administrators who can't read the project's
  /// policy.
  let signOff: SignOffSection?
  /// The address of the form for a new tenant; nil without the permission.
  let newTenant: String?
  var policyFile: Message?

  init(
    frame: Frame, title: Message, pool: Pool, review: PolicyReview, rows: Markup,
    asked: PoolsQuery,
    signOff: SignOffSection?, newTenant: String?
  ) {
    self.frame = FrameView(frame)
    self.title = title
    self.pool = pool
    self.review = review
    self.asked = asked
    self.signOff = signOff
    self.newTenant = newTenant
    table = PoolTable(
      columns: Self.headings(asked), rows: rows,
      pager: PagerView(
        shown: Message(
          one: "{count} tenant", other: "{count} tenants",
          ["count": .number(review.tenants.items.count)]),
        path: asked.path, query: asked.form(), after: asked.after, next: review.tenants.next),
      empty: Self.empty(asked, newTenant: newTenant))
  }

  private static func headings(_ asked: PoolsQuery) -> [Heading] {
    func heading(
      _ text: Message, isNumber: Bool = false,
      _ order: (order: PolicyReviewQuery.Order, direction: String)?
    ) -> Heading {
      Heading(
        text: text, isNumber: isNumber,
        href: order.map { asked.form(nil, $0.order).query(of: asked.path) },
        direction: order.flatMap { $0.order == asked.order ? $0.direction : nil })
    }
    return [heading(Message("Tenant"), (.name, "ascending"))]
      + PoolColumn.allCases.filter(asked.columns.shown.contains).map {
        heading($0.heading, isNumber: $0.isNumber, $0.order)
      }
  }

  private static func empty(_ asked: PoolsQuery, newTenant: String?) -> EmptyView {
    guard asked.isNarrowed else {
      return EmptyView(
        heading: Message("No tenants yet"),
        sentence: Message(
          """
          A tenant is a separate group of users with its own sign-in methods and MFA policy. \
          Tenants are optional.
          """),
        link: newTenant.map { Link(text: Message("New tenant"), href: $0) })
    }
    return EmptyView(
      heading: Message("No matching tenants"),
      sentence: asked.search.isEmpty
        ? asked.selection.none
        : Message("No tenant in this project has a matching name or ID."),
      link: Link(text: Message("Show all tenants"), href: asked.path))
  }

  private var views: [Link] {
    PolicyReviewQuery.Selection.allCases.compactMap { selection in
      guard selection != .differs || review.differing != nil else { return nil }
      return Link(
        text: selection.words(differing: review.differing),
        href: asked.form(selection).query(of: asked.path),
        isCurrent: selection == asked.selection)
    }
  }

  private var summary: [Message] {
    guard review.count > 0 else { return [Message("No tenants yet.")] }
    let sentences: [Message?] = [
      Message(
        one: "{count} tenant (users: {users}).", other: "{count} tenants (users: {users}).",
        ["count": .number(review.count), "users": .number(review.users)]),
      review.users > 0
        ? Message(
          "{share} have a second factor.",
          ["share": .message(Meter.percent(review.enrolledUsers, of: review.users))]) : nil,
      review.differing.map { count in
        count == 0
          ? Message("None differ from the project.")
          : Message(
            one: "{count} differs from the project.", other: "{count} differ from the project.",
            ["count": .number(count)])
      },
    ]
    return sentences.compactMap { $0 }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.title),
    .text(\.policyFile),
    .text("projectName") { $0.pool.name },
    .texts("summary") { $0.summary },
    .text("csv") {
      let query = $0.asked.form(nil, nil, PoolColumns($0.asked.columns.standard))
      return query.query(of: ConsolePaths.reviewFile($0.pool.project.text))
    },
    .text(\.newTenant),
    .optional(\.signOff),
    .list("presets") { view in
      view.asked.columns.tabs(view.asked.path) { view.asked.form(nil, nil, $0) }
    },
    .object("columnsForm") {
      $0.asked.columns.form(action: $0.asked.path, kept: $0.asked.keptByColumns)
    },
    .list("views") { $0.views },
    .object("filter") {
      FilterView(
        action: $0.asked.path, label: Message("Search tenants by name or ID"),
        query: $0.asked.search,
        keeping: $0.asked.kept)
    },
    .object(\.table),
  ]
}

extension PolicyReviewQuery.Selection {
  func words(differing: Int?) -> Message {
    switch self {
    case .all: Message("All")
    case .differs:
      Message("Differs ({number})", ["number": .number(differing ?? 0)])
    case .off: Message("TOTP off")
    case .wide: Message("Wide window")
    case .noneEnrolled: Message("No MFA")
    }
  }

  fileprivate var none: Message {
    switch self {
    case .all: Message("There are no tenants.")
    case .differs: Message("All tenants have the project’s policy.")
    case .off: Message("TOTP is on in all tenants.")
    case .wide: Message("No tenant accepts more than 5 intervals on each side.")
    case .noneEnrolled: Message("All tenants with users have at least one enrolled user.")
    }
  }
}
