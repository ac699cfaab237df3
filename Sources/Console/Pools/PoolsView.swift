import HTTP
import Identity
import Localization
import Templating

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

  private static func headings(_ asked: PoolsQuery) -> [PoolHeading] {
    func heading(
      _ text: Message, isNumber: Bool = false,
      _ order: (order: PolicyReviewQuery.Order, direction: String)?
    ) -> PoolHeading {
      PoolHeading(
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
        link: newTenant.map { EmptyLink(text: Message("Create tenant"), href: $0) })
    }
    return EmptyView(
      heading: Message("No matching tenants"),
      sentence: asked.search.isEmpty
        ? asked.selection.none
        : Message("No tenant in this project has a matching name or ID."),
      link: EmptyLink(text: Message("Show all tenants"), href: asked.path))
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
  fileprivate func words(differing: Int?) -> Message {
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
