import HTTP
import Identity
import Localization
import Templating

/// The checkbox of a row of a list of users.
enum SelectionBox: Sendable, ViewModel {
  case open, selected
  /// Selected with the whole list, so that the row alone can't be left out.
  case fixed

  init(_ selected: UsersQuery.Selected?) {
    switch selected {
    case nil: self = .open
    case .page: self = .selected
    case .all: self = .fixed
    }
  }

  static let keys: Keys<Self> = [
    .flag("isSelected") { $0 != .open },
    .flag("isFixed") { $0 == .fixed },
  ]
}

/// The form around a list of users whose rows have checkboxes, with what can be done to the selected
/// users: those of a page, or, once these are selected, all that the list's pages show.
struct UserSelection: ViewModel {
  private let query: UsersQuery
  private let pool: Pool
  private let total: Int?
  private let isOnePage: Bool
  private let buttons: [SelectionButton]

  /// Creates the form of an administrator; nil if they can do nothing to the users.
  ///
  /// `total` is the number of users on all pages; nil if it isn't known.
  init?(_ query: UsersQuery, in context: PoolContext, total: Int?, isOnePage: Bool) {
    self.query = query
    pool = context.pool
    self.total = total
    self.isOnePage = isOnePage
    buttons = SelectionButton.all(query, in: context)
    if buttons.isEmpty { return nil }
  }

  /// What's said where no user is selected.
  static let missing = Message("Select users in the list.")
  /// What's said where too many are.
  static let tooMany = Message(
    one: "Too many users match. Narrow the list to at most {count} user.",
    other: "Too many users match. Narrow the list to at most {count} users.",
    ["count": .number(BulkList.longest)])
  /// The name in the query of the file of the users who are selected.
  static let file = "selection"
  /// The name in the query of what's to be done to them.
  static let kind = "kind"

  private var list: String { ConsolePaths.users(pool) }
  private var page: Form { query.form.at(query.after) }

  /// The address that selects all users, for a page whose rows are selected, of a list that isn't too
  /// long.
  private var selectAll: String? {
    guard query.selected == .page, !isOnePage, let total, total <= BulkList.longest else {
      return nil
    }
    return query.selecting(.all).query(of: list)
  }

  static let keys: Keys<Self> = [
    .text("action") { $0.buttons.first?.action ?? "" },
    .flag("isAll") { $0.query.selected == .all },
    .flag("isSelected") { $0.query.selected != nil },
    .text("page") {
      ($0.query.selected == nil ? $0.query.selecting(.page) : $0.page).query(of: $0.list)
    },
    .text("clear") { $0.query.selected == nil ? nil : $0.page.query(of: $0.list) },
    .text("selectAll") { $0.selectAll },
    .text("selectAllUsers") {
      Message(
        one: "Select all {count} user", other: "Select all {count} users",
        ["count": .number($0.total ?? 0)])
    },
    .text("allUsers") {
      Message(
        one: "All {count} user selected", other: "All {count} users selected",
        ["count": .number($0.total ?? 0)])
    },
    .list(\.buttons),
  ]
}

struct SelectionButton: ViewModel {
  let text: Message
  let action: String

  /// The actions on users whom a list shows that an administrator can perform.
  static func all(_ query: UsersQuery, in context: PoolContext) -> [SelectionButton] {
    let isAll = query.selected == .all
    let whole = isAll ? query.selectingAll : Form()
    var buttons: [SelectionButton] = []
    func add(_ text: Message, _ path: String, _ form: Form) {
      buttons.append(SelectionButton(text: text, action: form.query(of: path)))
    }
    if context.may(action: .startBulkRemoval) {
      // Links go only to users without a factor: those of another list are selected one by one.
      if isAll ? query.filter == .none : ![.totp, .phone].contains(query.filter) {
        add(Message("Send links…"), ConsolePaths.enrollmentLinks(context.pool), whole)
      }
      if query.filter != .none {
        add(Message("Remove factors…"), ConsolePaths.removals(context.pool), whole)
      }
      for kind in [BulkJob.Kind.sessions, .disabling] where context.may(kind.permission) {
        guard kind != .disabling || query.filter != .disabled else { continue }
        var form = whole
        form.add(UserSelection.kind, kind.rawValue)
        add(
          kind == .sessions ? Message("End sessions…") : Message("Disable…"),
          ConsolePaths.removals(context.pool), form)
      }
    }
    if context.may(.exportUsers) {
      add(
        Message("CSV"), ConsolePaths.usersFile(context.pool),
        isAll ? query.form : [UserSelection.file: "1"])
    }
    return buttons
  }

  static let keys: Keys<Self> = [
    .text(\.text),
    .text(\.action),
  ]
}
