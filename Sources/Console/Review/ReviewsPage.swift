import HTTP
import Identity
import Localization
import Templating

/// `/review`: lists the projects with their policies, exemptions, and last sign-offs.
struct ReviewsPage: Sendable {
  let identity: Identity
  let frames: Frames
  let tables: PoolTables
  let view: Template<ReviewsView>

  private static let length = 50
  /// The maximum number of exemptions on the page; the rest are on a page of their own.
  static let exemptions = 10
  /// The query of the list of projects with tenants whose policies differ from the project's.
  static let differing: Form = ["show": PolicyReviewQuery.Selection.differs.rawValue]

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let (administrator, query) = (signedIn.administrator, signedIn.query.trimmed("q"))
    let after = signedIn.query.text("after")
    let onlyDiffering =
      signedIn.query.trimmed("show") == PolicyReviewQuery.Selection.differs.rawValue
    let projects = try await refusing {
      try await identity.pools.projects(
        visibleTo: administrator, search: query.isEmpty ? nil : query,
        onlyDiffering: onlyDiffering, after: after, limit: Self.length)
    }
    let columns = PoolColumns(signedIn.query, standard: .review, acrossProjects: true)
    let (standings, exemptions) = try await refusing {
      (
        try await identity.reviews.standings(of: projects.items, visibleTo: administrator),
        try await identity.exemptions.list(visibleTo: administrator)
      )
    }
    let rows = try await tables.rows(
      projects.items, columns.shown, standings, exemptions, for: signedIn)
    return .html(
      view.render(
        ReviewsView(
          frame: FrameView(frames.frame(Message("review.policy-review"), for: signedIn)),
          standings: standings, exemptions: exemptions,
          mayFindUsers: administrator.maySomewhere(.findUsers), query: query,
          onlyDiffering: onlyDiffering, columns: columns,
          rows: rows, shown: projects.items.count, after: after, next: projects.next)))
  }
}

struct ReviewsView: ViewModel {
  let frame: FrameView
  let standings: [ID<Project>: ReviewStanding]
  let exemptions: [Exemption]
  let mayFindUsers: Bool
  let query: String
  let onlyDiffering: Bool
  let columns: PoolColumns
  /// The table's rows, each a `PoolRow`.
  let rows: Markup
  /// The number of projects on the page.
  let shown: Int
  let after: String?
  let next: String?

  private var summary: Message {
    let reviewed = standings.values.count { $0.state == .current }
    return Message(
      "review.projects-reviewed",
      ["reviewed": .number(reviewed), "count": .number(standings.count)])
  }

  private func form(
    _ columns: PoolColumns? = nil, searching: Bool = true, onlyDiffering: Bool? = nil
  ) -> Form {
    var form = onlyDiffering ?? self.onlyDiffering ? ReviewsPage.differing : [:]
    if searching, !query.isEmpty { form.add("q", query) }
    (columns ?? self.columns).add(to: &form)
    return form
  }

  private var views: [Tab] {
    [(Message("review.view-all"), false), (Message("review.tenants-differ"), true)].map {
      Tab(
        text: $0, href: form(onlyDiffering: $1).query(of: ConsolePaths.reviews()),
        isCurrent: $1 == onlyDiffering)
    }
  }

  private var table: PoolTable {
    PoolTable(
      columns: [PoolHeading(text: Message("review.project"))]
        + PoolColumn.allCases.filter(columns.shown.contains).map {
          PoolHeading(text: $0.heading, isNumber: $0.isNumber)
        },
      rows: rows,
      pager: PagerView(
        shown: Message("projects.count", ["count": .number(shown)]),
        path: ConsolePaths.reviews(), query: form(), after: after, next: next),
      empty: empty)
  }

  private var empty: EmptyView {
    if query.isEmpty, !onlyDiffering {
      return EmptyView(
        heading: Message("projects.empty"), sentence: Message("projects.empty-hint"))
    }
    return EmptyView(
      heading: Message("projects.not-found"),
      sentence: onlyDiffering && query.isEmpty
        ? Message("review.none-differs-anywhere") : Message("projects.not-found-hint"),
      link: EmptyLink(text: Message("projects.show-all"), href: ConsolePaths.reviews()))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("summary") { $0.summary },
    .list("views") { $0.views },
    .object("filter") { view in
      FilterView(
        action: ConsolePaths.reviews(), label: Message("projects.search"), query: view.query,
        keeping: view.form(searching: false))
    },
    .list("presets") { view in view.columns.tabs(ConsolePaths.reviews()) { view.form($0) } },
    .object("columnsForm") {
      $0.columns.form(
        action: ConsolePaths.reviews(), kept: $0.form(PoolColumns($0.columns.standard)))
    },
    .object("table") { $0.table },
    .flag(\.mayFindUsers),
    .text("exemptionCount") {
      Message("exemptions.count", ["count": .number($0.exemptions.count)])
    },
    .flag("hasExemptions") { !$0.exemptions.isEmpty },
    .object("exemptionTable") {
      ExemptionTable(Array($0.exemptions.prefix(ReviewsPage.exemptions)), $0.frame.times)
    },
    .text("allExemptions") { _ in ConsolePaths.exemptions() },
  ]
}
