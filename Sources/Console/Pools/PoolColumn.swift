import HTTP
import Identity
import Localization
import Templating

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
