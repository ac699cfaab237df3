import HTTP
import Identity
import Localization
import Templating

/// `/review`: what there is to sign off, and the policies of the pools of every project.
struct ReviewsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ReviewsView>
  let tables: PoolTables

  /// The number of projects that are read at a time for a file.
  private static let batch = 1_000
  /// The maximum number of exemptions on the page; the rest are on a page of their own.
  static let exemptions = 10
  /// The maximum number of projects to sign off on the page; signing off leads to the others.
  static let due = 10

  func show(_ signedIn: SignedIn) async throws -> Response {
    let administrator = signedIn.administrator
    let asked = ReviewsQuery(signedIn.query)
    let pools = try await identity.policies.everyPool(
      visibleTo: administrator, search: asked.search.isEmpty ? nil : asked.search,
      asked.selection, after: asked.after, limit: asked.size.rows)
    // The first part of a search can be without matches, too.
    if !asked.isNarrowed,
      let first = signedIn.firstPage(of: ConsolePaths.reviews(), insteadOf: pools)
    {
      return first
    }
    let due = try await identity.reviews.queue(visibleTo: administrator, limit: Self.due + 1)
    let exemptions = try await identity.exemptions.list(visibleTo: administrator)
    let rows = try await tables.rows(pools.items, PoolPreset.everyPool, for: signedIn)
    for project in identity.connections.known
    where administrator.may(.readPolicy, project: project, tenant: nil) {
      identity.connections.lookAtPolicies(of: project)
    }
    return .html(
      view.render(
        ReviewsView(
          frame: FrameView(
            try await frames.frame(ofAll: Message("Policy review"), for: signedIn)),
          due: due, maySign: administrator.signsOffReviews, exemptions: exemptions,
          mayFindUsers: administrator.maySomewhere(.findUsers), asked: asked, rows: rows,
          shown: pools.items.count, next: pools.next)))
  }

  func download(_ signedIn: SignedIn) async throws -> Response {
    let now = identity.clock.now()
    var file = ReviewFile(publicURL: frames.publicURL, now: now)
    let exemptions = try await identity.exemptions.counts(visibleTo: signedIn.administrator)
    var after: String?
    repeat {
      let page = try await identity.pools.projects(
        visibleTo: signedIn.administrator, after: after, limit: Self.batch)
      for project in page.items {
        try await identity.addPools(
          of: project.id, nil, exemptions: exemptions[project.id] ?? [:], to: &file,
          for: signedIn, at: now)
      }
      after = page.next
    } while after != nil
    return file.csv.response(named: "mfa-policies")
  }
}

struct ReviewsQuery: Sendable {
  let search: String
  let selection: PolicyReviewQuery.Selection
  let size: PageSize
  let after: String?

  init(_ query: Form) {
    search = query.trimmed("q")
    selection = PolicyReviewQuery.Selection(rawValue: query.trimmed("show")) ?? .all
    size = PageSize(query)
    after = query.text("after")
  }

  var isNarrowed: Bool { !search.isEmpty || selection != .all }

  func form(
    _ selection: PolicyReviewQuery.Selection? = nil, searching: Bool = true
  ) -> Form {
    let selection = selection ?? self.selection
    var form = Form()
    if selection != .all { form.add("show", selection.rawValue) }
    if searching, !search.isEmpty { form.add("q", search) }
    return size.added(to: form)
  }
}

struct DueReviewRow: ViewModel {
  let due: DueReview

  static let keys: Keys<Self> = [
    .text("name") { $0.due.name },
    .text("href") { ReviewQueue.address($0.due.project) },
    .markup("chip") { $0.due.status.state.chips },
    .text("dueOn") { row in
      row.due.status.signOff.map { Message("due {day}", ["day": Times.value($0.dueOn)]) }
    },
  ]
}

struct ReviewsView: ViewModel {
  let frame: FrameView
  let due: [DueReview]
  let maySign: Bool
  let exemptions: [Exemption]
  let mayFindUsers: Bool
  let asked: ReviewsQuery
  /// The table's rows, each a `PoolRow`.
  let rows: Markup
  let shown: Int
  let next: String?

  private var views: [Link] {
    PolicyReviewQuery.Selection.allCases.map {
      Link(
        text: $0 == .differs ? Message("Differs") : $0.words(differing: nil),
        href: asked.form($0).query(of: ConsolePaths.reviews()), isCurrent: $0 == asked.selection)
    }
  }

  private var table: PoolTable {
    PoolTable(
      columns: [Heading(text: Message("Project or tenant"))]
        + PoolColumn.allCases.filter(PoolPreset.everyPool.contains).map {
          Heading(text: $0.heading, isNumber: $0.isNumber)
        },
      rows: rows,
      pager: PagerView(
        shown: Message(
          one: "{count} user pool", other: "{count} user pools", ["count": .number(shown)]),
        path: ConsolePaths.reviews(), query: asked.form(), after: asked.after, next: next),
      empty: empty)
  }

  private var empty: EmptyView {
    guard asked.isNarrowed else {
      return EmptyView(
        heading: Message("No projects yet"),
        sentence: Message(
          """
          Applications connect to a project, which contains users, tenants, API keys, and an MFA \
          policy.
          """))
    }
    guard next == nil else {
      return EmptyView(
        heading: Message("No matches so far"),
        sentence: Message("Not all user pools were searched."),
        link: Link(
          text: Message("Continue the search"),
          href: asked.form().at(next).query(of: ConsolePaths.reviews())))
    }
    return EmptyView(
      heading: asked.after == nil
        ? Message("No matching user pools") : Message("No more matching user pools"),
      sentence: asked.after == nil
        ? Message("No user pool you can access matches.")
        : Message("All user pools you can access were searched."),
      link: Link(text: Message("Show all user pools"), href: ConsolePaths.reviews()))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag(\.maySign),
    .text("dueCount") { view in
      let count = min(view.due.count, ReviewsPage.due)
      return view.due.count > count
        ? Message("More than {count}", ["count": .number(count)]) : Message.value(.number(count))
    },
    .list("due") { view in view.due.prefix(ReviewsPage.due).map { DueReviewRow(due: $0) } },
    .text("start") { $0.due.first.map { ReviewQueue.address($0.project) } },
    .text("csv") { _ in ConsolePaths.reviewsFile() },
    .list("views") { $0.views },
    .object("filter") { view in
      FilterView(
        action: ConsolePaths.reviews(),
        label: Message("Search projects and tenants by name or ID"), query: view.asked.search,
        keeping: view.asked.form(searching: false))
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

extension Administrator {
  /// Whether there are projects whose reviews the administrator signs off, and not only tenants.
  fileprivate var signsOffReviews: Bool {
    grants.contains { $0.tenant == nil && $0.role.permissions.contains(.signOffReview) }
  }
}

enum ReviewRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let tables = PoolTables(
      identity: identity, row: try parts.template("pools/row", for: PoolRow.self))
    let review = PoolsPage(
      purpose: .review, identity: identity, frames: frames, tables: tables,
      view: try parts.template("pools/pools"))
    table.inside(ConsolePaths.review, .get(.seePool), review.show)
    table.inside(ConsolePaths.reviewFile, .get(.seePool), review.download)

    let reviews = ReviewsPage(
      parts: parts, view: try parts.template("review/reviews"), tables: tables)
    table.somewhere(ConsolePaths.reviews, .get(.readPolicy), reviews.show)
    table.somewhere(ConsolePaths.reviewsFile, .get(.readPolicy), reviews.download)

    let signOff = try parts.page("review/sign-off", SignOffPage.init)
    table.inside(ConsolePaths.signOff, .get(.signOffReview)) { try await signOff.page($0) }
    table.inside(ConsolePaths.signOff, .performing(.signOffReview), signOff.sign)

    let evidence = try parts.page("review/evidence", EvidencePage.init)
    table.inside(ConsolePaths.evidence, .get(.signOffReview), evidence.show)
    table.inside(ConsolePaths.evidenceFile, .get(.signOffReview), evidence.download)
  }
}

extension ConsolePaths {
  static let reviews = Path("review")
  static let reviewsFile = Path("review.csv")
  static let review = ProjectPath0("review")
  static let reviewFile = ProjectPath0("review.csv")
  static let signOff = ProjectPath0("review", "sign-off")
  static let evidence = ProjectPath0("review", "evidence")
  static let evidenceFile = ProjectPath0("review", "evidence.json")
}
