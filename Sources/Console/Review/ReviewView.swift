import HTTP
import Identity
import Localization
import Templating

struct ReviewView: ViewModel {
  let frame: FrameView
  let scope: Scope
  let review: PolicyReview
  /// The table's rows, each a `ReviewRow`.
  let rows: Markup
  let asked: ReviewAddress
  /// The last sign-off; nil for administrators who can't read the project's policy.
  var signOff: SignOffSection?
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
      shown: Message("tenants.count", ["count": .number(review.tenants.items.count)]), path: path,
      query: asked.form(), after: asked.after, next: review.tenants.next)
    views = PolicyReviewQuery.Selection.allCases.compactMap { selection in
      guard selection != .differs || review.differing != nil else { return nil }
      return Tab(
        text: selection.words(differing: review.differing),
        href: asked.form(selection).query(of: path), isCurrent: selection == asked.selection)
    }
    columns = ReviewColumn.all(asked, path: path, comparing: review.project != nil)
  }

  private var summary: Message {
    guard review.count > 0 else { return Message("review.no-tenants-yet") }
    let tenants = Message.Value.message(
      Message("tenants.count", ["count": .number(review.count)]))
    let users = Message.Value.message(
      Message("review.user-count", ["count": .number(review.users)]))
    guard review.users > 0 else {
      return switch review.differing {
      case nil: Message("review.summary", ["tenants": tenants, "users": users])
      case 0?: Message("review.summary-same", ["tenants": tenants, "users": users])
      case let count?:
        Message(
          "review.summary-differing",
          ["tenants": tenants, "users": users, "count": .number(count)])
      }
    }
    let share = Message.Value.message(
      Meter.percent(review.enrolledUsers, of: review.users))
    return switch review.differing {
    case nil:
      Message(
        "review.summary-enrolled", ["tenants": tenants, "users": users, "share": share])
    case 0?:
      Message(
        "review.summary-enrolled-same", ["tenants": tenants, "users": users, "share": share])
    case let count?:
      Message(
        "review.summary-enrolled-differing",
        ["tenants": tenants, "users": users, "share": share, "count": .number(count)])
    }
  }

  private var empty: EmptyView {
    let path = ConsolePaths.review(scope.project.text)
    guard asked.isNarrowed else {
      return EmptyView(
        heading: Message("review.empty"), sentence: Message("review.empty-hint"))
    }
    return EmptyView(
      heading: Message("tenants.not-found"),
      sentence: asked.search.isEmpty ? asked.selection.none : Message("tenants.not-found-hint"),
      link: EmptyLink(text: Message("tenants.show-all"), href: path))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
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
    .optional(\.signOff),
    .list(\.views),
    .flag("hasRows") { !$0.rows.isEmpty },
    .markup("symbols") { _ in WindowStrip.symbols },
    .list(\.columns),
    .markup(\.rows),
    .object(\.pager),
    .object("empty") { $0.empty },
  ]
}

/// A column heading and its sort link.
struct ReviewColumn: ViewModel {
  let text: Message
  var isNumber = false
  /// The link that sorts by this column; nil if it isn't sortable.
  var href: String?
  /// The current sort direction; nil if the table is sorted by another column.
  var direction: String?

  static func all(
    _ asked: ReviewAddress, path: String, comparing: Bool
  ) -> [ReviewColumn] {
    func sorted(
      _ text: Message, _ order: PolicyReviewQuery.Order, _ direction: String,
      isNumber: Bool = false
    ) -> ReviewColumn {
      ReviewColumn(
        text: text, isNumber: isNumber, href: asked.form(nil, order).query(of: path),
        direction: asked.order == order ? direction : nil)
    }
    let columns = [
      sorted(Message("tenants.tenant"), .name, "ascending"),
      ReviewColumn(text: Message("common.totp")),
      sorted(Message("common.adjacent-intervals"), .window, "descending"),
      ReviewColumn(text: Message("review.sms")), ReviewColumn(text: Message("review.pattern")),
      sorted(Message("common.enrolled"), .enrolled, "ascending", isNumber: true),
      ReviewColumn(text: Message("exemptions.exemptions"), isNumber: true),
      sorted(Message("review.last-change"), .changed, "descending"),
    ]
    return comparing
      ? columns + [ReviewColumn(text: Message("review.project-policy"))] : columns
  }

  static let keys: Keys<Self> = [
    .text(\.text),
    .flag(\.isNumber),
    .text(\.href),
    .text(\.direction),
  ]
}

extension PolicyReviewQuery.Selection {
  /// The name of the view; the one of differing policies includes their number.
  fileprivate func words(differing: Int?) -> Message {
    switch self {
    case .all: Message("review.view-all")
    case .differs:
      Message("review.view-differs", ["number": .number(differing ?? 0)])
    case .off: Message("review.view-off")
    case .wide: Message("review.view-wide")
    case .noneEnrolled: Message("review.view-none-enrolled")
    }
  }

  /// The sentence for an empty list.
  fileprivate var none: Message {
    switch self {
    case .all: Message("review.none")
    case .differs: Message("review.none-differs")
    case .off: Message("review.none-off")
    case .wide: Message("review.none-wide")
    case .noneEnrolled: Message("review.none-without-users")
    }
  }
}
