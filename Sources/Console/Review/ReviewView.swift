import HTTP
import Identity
import Templating

struct ReviewView: ViewModel {
  let frame: FrameView
  let scope: Scope
  let review: PolicyReview
  /// The table's rows, each a `ReviewRow`.
  let rows: Markup
  let asked: ReviewAddress
  let pager: PagerView
  let views: [Tab]
  let columns: [ReviewColumn]

  init(
    frame: Frame, scope: Scope, review: PolicyReview, rows: Markup, shown: Int,
    asked: ReviewAddress
  ) {
    self.frame = FrameView(frame)
    self.scope = scope
    self.review = review
    self.rows = rows
    self.asked = asked
    let path = ConsolePaths.review(scope.project.text)
    pager = PagerView(
      shown: Words.count(review.tenants.items.count, "tenant", "tenants"), path: path,
      query: asked.form(), after: asked.after, next: review.tenants.next)
    views = PolicyReviewQuery.Selection.allCases.compactMap { selection in
      guard selection != .differs || review.differing != nil else { return nil }
      let count: Int? = selection == .differs ? review.differing : nil
      return Tab(
        text: selection.words + (count.map { " (\(Words.number($0)))" } ?? ""),
        href: asked.form(selection).query(of: path), isCurrent: selection == asked.selection)
    }
    columns = ReviewColumn.all(asked, path: path, comparing: review.project != nil)
  }

  private var summary: String {
    guard review.count > 0 else { return "No tenants yet." }
    var parts = [
      "\(Words.count(review.count, "tenant", "tenants")) with \(Words.count(review.users, "user", "users"))"
    ]
    if review.users > 0 {
      parts.append(
        "\(Meter.percent(review.enrolledUsers, of: review.users)) have a second factor")
    }
    if let differing = review.differing {
      parts.append(
        differing == 0
          ? "none differ from the project"
          : "\(Words.count(differing, "differs", "differ")) from the project")
    }
    return parts.joined(separator: "; ") + "."
  }

  private var empty: EmptyView {
    let path = ConsolePaths.review(scope.project.text)
    guard asked.isNarrowed else {
      return EmptyView(
        heading: "No policies to review",
        sentence: "The review lists the policies of the project and of the tenants you can access.")
    }
    return EmptyView(
      heading: "No matching tenants",
      sentence: asked.search.isEmpty
        ? asked.selection.none : "Searched the names and IDs of this project’s tenants.",
      link: EmptyLink(text: "Show all tenants", href: path))
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("projectName") { $0.scope.name },
    .text("summary") { $0.summary },
    .text("csv") { $0.asked.form().query(of: ConsolePaths.reviewFile($0.scope.project.text)) },
    .text("action") { ConsolePaths.review($0.scope.project.text) },
    .text("query") { $0.asked.search },
    .text("show") { $0.asked.selection == .all ? nil : $0.asked.selection.rawValue },
    .text("sort") { $0.asked.order == .name ? nil : $0.asked.order.rawValue },
    .text("clear") {
      $0.asked.search.isEmpty
        ? nil : ConsolePaths.review($0.scope.project.text)
    },
    .list("views") { $0.views },
    .flag("hasRows") { !$0.rows.isEmpty },
    .markup("symbols") { _ in WindowStrip.symbols },
    .list("columns") { $0.columns },
    .markup("rows") { $0.rows },
    .object("pager") { $0.pager },
    .object("empty") { $0.empty },
  ]
}

/// A column heading and its sort link.
struct ReviewColumn: ViewModel {
  let text: String
  var isNumber = false
  /// The link that sorts by this column; nil if it isn't sortable.
  var href: String?
  /// The current sort direction; nil if the table is sorted by another column.
  var direction: String?

  static func all(
    _ asked: ReviewAddress, path: String, comparing: Bool
  ) -> [ReviewColumn] {
    func sorted(
      _ text: String, _ order: PolicyReviewQuery.Order, _ direction: String, isNumber: Bool = false
    ) -> ReviewColumn {
      ReviewColumn(
        text: text, isNumber: isNumber, href: asked.form(nil, order).query(of: path),
        direction: asked.order == order ? direction : nil)
    }
    let columns = [
      sorted("Tenant", .name, "ascending"), ReviewColumn(text: "TOTP"),
      sorted("Adjacent intervals", .window, "descending"), ReviewColumn(text: "SMS"),
      ReviewColumn(text: "Pattern"), ReviewColumn(text: "Users", isNumber: true),
      sorted("Enrolled", .enrolled, "ascending", isNumber: true),
      sorted("Last change", .changed, "descending"),
    ]
    return comparing ? columns + [ReviewColumn(text: "Project policy")] : columns
  }

  static let keys: Keys<Self> = [
    .text("text") { $0.text },
    .flag("isNumber") { $0.isNumber },
    .text("href") { $0.href },
    .text("direction") { $0.direction },
  ]
}

extension PolicyReviewQuery.Selection {
  fileprivate var words: String {
    switch self {
    case .all: "All"
    case .differs: "Differs"
    case .off: "TOTP off"
    case .wide: "Wide window"
    case .noneEnrolled: "No MFA"
    }
  }

  /// The sentence for an empty list.
  fileprivate var none: String {
    switch self {
    case .all: "There are no tenants."
    case .differs: "All tenants have the project’s policy."
    case .off: "TOTP is on in all tenants."
    case .wide: "No tenant accepts more than 5 intervals on each side."
    case .noneEnrolled: "All tenants with users have at least one enrolled user."
    }
  }
}
