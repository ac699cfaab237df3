import HTTP
import Identity
import Localization
import OTP
import Templating

/// `/review`: lists the projects with their policies, exemptions, and last sign-offs.
struct ReviewsPage: Sendable {
  let identity: Identity
  let frames: Frames
  let tables: PoolTables
  let view: Template<ReviewsView>

  /// The number of projects that are read at a time for an order or a file.
  private static let batch = 1_000
  /// The maximum number of exemptions on the page; the rest are on a page of their own.
  static let exemptions = 10

  func show(_ signedIn: SignedIn) async throws -> Response {
    let administrator = signedIn.administrator
    let asked = ReviewsQuery(signedIn.query)
    let projects = try await page(asked, signedIn)
    if let first = signedIn.firstPage(of: ConsolePaths.reviews(), insteadOf: projects) {
      return first
    }
    let (statuses, exemptions) = try await (
      identity.reviews.statuses(of: projects.items, visibleTo: administrator),
      identity.exemptions.list(visibleTo: administrator)
    )
    let rows = try await tables.rows(
      projects.items, asked.columns.shown, statuses, for: signedIn)
    return .html(
      view.render(
        ReviewsView(
          frame: FrameView(await frames.frame(Message("Policy review"), for: signedIn)),
          statuses: statuses, exemptions: exemptions,
          mayFindUsers: administrator.maySomewhere(.findUsers), asked: asked,
          rows: rows, shown: projects.items.count, next: projects.next)))
  }

  func download(_ signedIn: SignedIn) async throws -> Response {
    try await table(signedIn).response(named: "mfa-policies")
  }

  private func table(_ signedIn: SignedIn) async throws -> CSV {
    let now = identity.clock.now()
    var file = ReviewFile(publicURL: frames.publicURL, now: now)
    let exemptions = try await identity.exemptions.counts(visibleTo: signedIn.administrator)
    for project in try await all(ReviewsQuery(signedIn.query), signedIn.administrator) {
      try await identity.addPools(
        of: project.id, nil, exemptions: exemptions[project.id] ?? [:], to: &file, for: signedIn,
        at: now)
    }
    return file.csv
  }

  private func page(
    _ asked: ReviewsQuery, _ signedIn: SignedIn
  ) async throws -> Page<ProjectSummary> {
    guard asked.order != .name else {
      return try await identity.pools.projects(
        visibleTo: signedIn.administrator, search: asked.search.isEmpty ? nil : asked.search,
        asked.selection.projects, after: asked.after, limit: asked.size.rows)
    }
    let all = try await sorted(
      try await all(asked, signedIn.administrator), by: asked.order, signedIn)
    let start = min(max(asked.after.flatMap { Int($0) } ?? 0, 0), all.count)
    let end = min(start + asked.size.rows, all.count)
    return Page(items: Array(all[start..<end]), next: end < all.count ? String(end) : nil)
  }

  private func all(
    _ asked: ReviewsQuery, _ administrator: Administrator
  ) async throws -> [ProjectSummary] {
    var (all, after) = ([ProjectSummary](), nil as String?)
    repeat {
      let page = try await identity.pools.projects(
        visibleTo: administrator, search: asked.search.isEmpty ? nil : asked.search,
        asked.selection.projects, after: after, limit: Self.batch)
      all += page.items
      after = page.next
    } while after != nil
    return all
  }

  /// Sorts projects as those of a project are sorted, by ID where they're equal.
  private func sorted(
    _ projects: [ProjectSummary], by order: PolicyReviewQuery.Order, _ signedIn: SignedIn
  ) async throws -> [ProjectSummary] {
    let (administrator, now) = (signedIn.administrator, identity.clock.now())
    let visible = projects.filter { administrator.may(.seePool, project: $0.id, tenant: nil) }
    var places: [ID<Project>: Int64] = [:]
    switch order {
    case .name: return projects
    case .window, .changed:
      let policies = try await identity.policies.summaries(
        of: projects.map(\.id), visibleTo: administrator)
      for (project, policy) in policies {
        places[project] =
          order == .changed
          ? policy.changedAt.map { -$0.microseconds }
          : policy.edit.configuration.accepted.map { -Int64($0.codes) }
      }
    case .enrolled:
      for project in visible where project.users > 0 {
        places[project.id] = Int64(project.enrolledUsers) * 1_000_000 / Int64(project.users)
      }
    case .rejected:
      let since = signedIn.times.start(ofDays: PoolTables.days, until: now)
      let counts = try await identity.activity.attemptCounts(
        of: visible.map(\.key), isWhole: true, since: since, at: now)
      for project in visible {
        guard let count = counts[project.key], count.all > 0 else { continue }
        places[project.id] = -Int64(count.rejected) * 1_000_000 / Int64(count.all)
      }
    }
    let last = Int64.max
    return projects.sorted {
      (places[$0.id] ?? last, $0.id.text) < (places[$1.id] ?? last, $1.id.text)
    }
  }
}

struct ReviewsQuery: Sendable {
  enum Selection: String, CaseIterable, Sendable {
    case all, differs, due

    var projects: ProjectSelection {
      switch self {
      case .all: .all
      case .differs: .differing
      case .due: .reviewDue
      }
    }

    var name: Message {
      switch self {
      case .all: Message("All")
      case .differs: Message("Tenants differ")
      case .due: Message("Never reviewed or overdue")
      }
    }
  }

  static let differing: Form = ["show": Selection.differs.rawValue]
  /// The query of the list of projects that were never reviewed or are overdue.
  static let due: Form = ["show": Selection.due.rawValue]

  let search: String
  let selection: Selection
  let order: PolicyReviewQuery.Order
  let columns: PoolColumns
  let size: PageSize
  let after: String?

  init(_ query: Form) {
    search = query.trimmed("q")
    selection = Selection(rawValue: query.trimmed("show")) ?? .all
    order = PolicyReviewQuery.Order(rawValue: query.trimmed("sort")) ?? .name
    columns = PoolColumns(query, standard: .review, acrossProjects: true)
    size = PageSize(query)
    after = query.text("after")
  }

  func form(
    _ selection: Selection? = nil, _ order: PolicyReviewQuery.Order? = nil,
    _ columns: PoolColumns? = nil, searching: Bool = true
  ) -> Form {
    let (selection, order) = (selection ?? self.selection, order ?? self.order)
    var form = Form()
    if selection != .all { form.add("show", selection.rawValue) }
    if searching, !search.isEmpty { form.add("q", search) }
    if order != .name { form.add("sort", order.rawValue) }
    (columns ?? self.columns).add(to: &form)
    return size.added(to: form)
  }
}

struct ReviewsView: ViewModel {
  let frame: FrameView
  let statuses: [ID<Project>: ReviewStatus]
  let exemptions: [Exemption]
  let mayFindUsers: Bool
  let asked: ReviewsQuery
  /// The table's rows, each a `PoolRow`.
  let rows: Markup
  let shown: Int
  let next: String?

  private var summary: Message {
    let isWhole =
      asked.search.isEmpty && asked.selection == .all && asked.after == nil && next == nil
    let reviewed = statuses.values.count { $0.state == .current }
    return isWhole
      ? Message(
        one: "{reviewed} of {count} project reviewed.",
        other: "{reviewed} of {count} projects reviewed.",
        ["reviewed": .number(reviewed), "count": .number(statuses.count)])
      : Message(
        one: "Reviewed: {reviewed} of the {count} project shown.",
        other: "Reviewed: {reviewed} of the {count} projects shown.",
        ["reviewed": .number(reviewed), "count": .number(statuses.count)])
  }

  private var views: [Link] {
    ReviewsQuery.Selection.allCases.map {
      Link(
        text: $0.name, href: asked.form($0).query(of: ConsolePaths.reviews()),
        isCurrent: $0 == asked.selection)
    }
  }

  private func heading(
    _ text: Message, isNumber: Bool = false,
    _ order: (order: PolicyReviewQuery.Order, direction: String)?
  ) -> PoolHeading {
    PoolHeading(
      text: text, isNumber: isNumber,
      href: order.map { asked.form(nil, $0.order).query(of: ConsolePaths.reviews()) },
      direction: order.flatMap { $0.order == asked.order ? $0.direction : nil })
  }

  private var table: PoolTable {
    PoolTable(
      columns: [heading(Message("Project"), (.name, "ascending"))]
        + PoolColumn.allCases.filter(asked.columns.shown.contains).map {
          heading($0.heading, isNumber: $0.isNumber, $0.order)
        },
      rows: rows,
      pager: PagerView(
        shown: Message(
          one: "{count} project", other: "{count} projects", ["count": .number(shown)]),
        path: ConsolePaths.reviews(), query: asked.form(), after: asked.after, next: next),
      empty: empty)
  }

  private var empty: EmptyView {
    if asked.search.isEmpty, asked.selection == .all {
      return EmptyView(
        heading: Message("No projects yet"),
        sentence: Message(
          """
          Applications connect to a project, which contains users, tenants, API keys, and an MFA \
          policy.
          """))
    }
    let sentence =
      !asked.search.isEmpty
      ? Message("No project you can access has a matching name or ID.")
      : asked.selection == .due
        ? Message("Every project has been reviewed, and no review is overdue.")
        : Message("In each project, all tenants have the project’s policy.")
    return EmptyView(
      heading: Message("No matching projects"), sentence: sentence,
      link: EmptyLink(text: Message("Show all projects"), href: ConsolePaths.reviews()))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("summary") { $0.summary },
    .text("csv") { view in
      view.asked.form(nil, nil, PoolColumns(view.asked.columns.standard))
        .query(of: ConsolePaths.reviewsFile())
    },
    .list("views") { $0.views },
    .object("filter") { view in
      FilterView(
        action: ConsolePaths.reviews(), label: Message("Search projects by name or ID"),
        query: view.asked.search, keeping: view.asked.form(searching: false))
    },
    .list("presets") { view in
      view.asked.columns.tabs(ConsolePaths.reviews()) { view.asked.form(nil, nil, $0) }
    },
    .object("columnsForm") {
      $0.asked.columns.form(
        action: ConsolePaths.reviews(),
        kept: $0.asked.form(nil, nil, PoolColumns($0.asked.columns.standard)).at($0.asked.after))
    },
    .object("table") { $0.table },
    .flag(\.mayFindUsers),
    .text("exemptionCount") {
      $0.exemptions.isEmpty
        ? Message("No exemptions")
        : Message(
          one: "{count} user is exempt from MFA, until a set date.",
          other: "{count} users are exempt from MFA, each until a set date.",
          ["count": .number($0.exemptions.count)])
    },
    .flag("hasExemptions") { !$0.exemptions.isEmpty },
    .object("exemptionTable") {
      ExemptionTable(Array($0.exemptions.prefix(ReviewsPage.exemptions)), $0.frame.times)
    },
    .text("allExemptions") { _ in ConsolePaths.exemptions() },
  ]
}

enum ReviewRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let tables = PoolTables(identity, try parts.template("pools/row", for: PoolRow.self))
    let review = PoolsPage(
      purpose: .review, identity: identity, frames: frames, tables: tables,
      view: try parts.template("pools/pools", for: PoolsView.self))
    table.inProject(.get, ConsolePaths.review, .seePool, review.show)
    table.inProject(.get, ConsolePaths.reviewFile, .seePool, review.download)

    let reviews = ReviewsPage(
      identity: identity, frames: frames, tables: tables,
      view: try parts.template("review/reviews", for: ReviewsView.self))
    table.somewhere(.get, ConsolePaths.reviews, .readPolicy, reviews.show)
    table.somewhere(.get, ConsolePaths.reviewsFile, .readPolicy, reviews.download)

    let signOff = SignOffPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("review/sign-off", for: SignOffView.self))
    table.inProject(.get, ConsolePaths.signOff, .signOffReview, signOff.show)
    table.inProject(ConsolePaths.signOff, performing: [.signOffReview], signOff.sign)

    let evidence = EvidencePage(
      identity: identity, frames: frames,
      view: try parts.template("review/evidence", for: EvidenceView.self))
    table.inProject(.get, ConsolePaths.evidence, .signOffReview, evidence.show)
    table.inProject(.get, ConsolePaths.evidenceFile, .signOffReview, evidence.download)
  }
}

extension ConsolePaths {
  static let reviews = Path("review")
  static let reviewsFile = Path("review.csv")
  static let review = Path("projects", nil, "review", parameters: String.self)
  static let reviewFile = Path("projects", nil, "review.csv", parameters: String.self)
  static let signOff = Path("projects", nil, "review", "sign-off", parameters: String.self)
  static let evidence = Path("projects", nil, "review", "evidence", parameters: String.self)
  static let evidenceFile = Path(
    "projects", nil, "review", "evidence.json", parameters: String.self)
}
