import HTTP
import Identity
import Templating

struct ReviewView: ViewModel {
  let frame: FrameView
  let project: Project
  let review: PolicyReview
  /// The table's rows, each a `ReviewRow`.
  let rows: Markup
  let asked: ReviewAddress
  let pager: PagerView
  let views: [Tab]
  let columns: [ReviewColumn]

  init(
    frame: Frame, project: Project, review: PolicyReview, rows: Markup, shown: Int,
    asked: ReviewAddress
  ) {
    self.frame = FrameView(frame)
    self.project = project
    self.review = review
    self.rows = rows
    self.asked = asked
    let path = ConsolePaths.review(project.id.text)
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
    guard review.count > 0 else { return "It has no tenant yet." }
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
          ? "none differs from the project"
          : "\(Words.count(differing, "differs", "differ")) from the project")
    }
    return parts.joined(separator: "; ") + "."
  }

  private var empty: EmptyView {
    let path = ConsolePaths.review(project.id.text)
    guard asked.isNarrowed else {
      return EmptyView(
        heading: "Nothing to review here",
        sentence: "A review shows the policy of the project and of each tenant you may see.")
    }
    return EmptyView(
      heading: "No tenant is like that",
      sentence: asked.search.isEmpty
        ? asked.selection.none : "Names and ids of this project’s tenants were searched.",
      link: EmptyLink(text: "Show all tenants", href: path))
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("projectName") { $0.project.displayName },
    .text("summary") { $0.summary },
    .text("csv") { $0.asked.form().query(of: ConsolePaths.reviewFile($0.project.id.text)) },
    .text("action") { ConsolePaths.review($0.project.id.text) },
    .text("query") { $0.asked.search },
    .text("show") { $0.asked.selection == .all ? nil : $0.asked.selection.rawValue },
    .text("sort") { $0.asked.order == .name ? nil : $0.asked.order.rawValue },
    .text("clear") {
      $0.asked.search.isEmpty
        ? nil : ConsolePaths.review($0.project.id.text)
    },
    .list("views") { $0.views },
    .flag("hasRows") { !$0.rows.bytes.isEmpty },
    .markup("symbols") { _ in WindowStrip.symbols },
    .list("columns") { $0.columns },
    .markup("rows") { $0.rows },
    .object("pager") { $0.pager },
    .object("empty") { $0.empty },
  ]
}

/// The heading of a column, and what it sorts by.
struct ReviewColumn: ViewModel {
  let text: String
  var isNumber = false
  /// Sorts by this column; nil where it does not sort.
  var href: String?
  /// In which direction it is sorted; nil when by another column.
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
    return comparing ? columns + [ReviewColumn(text: "Project’s policy")] : columns
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
    case .noneEnrolled: "None enrolled"
    }
  }

  /// What an empty list of it means.
  fileprivate var none: String {
    switch self {
    case .all: "There is no tenant here."
    case .differs: "Each tenant has the project’s policy."
    case .off: "TOTP is on in each tenant."
    case .wide: "No tenant accepts more than five steps on each side."
    case .noneEnrolled: "Each tenant with users has somebody who is enrolled."
    }
  }
}
