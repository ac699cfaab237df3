import HTTP
import Identity
import Localization

/// A column of the list of users that can be hidden; the first column names the user.
enum UserColumn: String, TableColumn {
  case phone, factor, state, lastSignIn = "last-sign-in", created

  var heading: Message {
    switch self {
    case .phone: Message("Phone")
    case .factor: Message("Second factor")
    case .state: Message("State")
    case .lastSignIn: Message("Last sign-in")
    case .created: Message("Created")
    }
  }

  var hidingClass: String {
    switch self {
    case .phone: "no-phone"
    case .factor: "no-factor"
    case .state: "no-state"
    case .lastSignIn: "no-last-sign-in"
    case .created: "no-created"
    }
  }
}

/// The columns that an administrator chose, which the browser remembers in a cookie.
struct UserColumns: Sendable {
  private static let separator: Character = "."

  let shown: Set<UserColumn>
  /// Whether the request chooses them, so that the response remembers them.
  let isChosen: Bool

  /// Reads the choice from a request's form, otherwise from the cookie's value; all by default.
  init(_ query: Form, remembered: String?) {
    let chosen = ColumnsForm.chosen(in: query)
    isChosen = chosen != nil
    if let chosen {
      shown = Set(chosen.compactMap { UserColumn(rawValue: $0) })
    } else if let remembered {
      let names = remembered.split(separator: Self.separator).map(String.init)
      shown = Set(names.compactMap { UserColumn(rawValue: $0) })
    } else {
      shown = Set(UserColumn.allCases)
    }
  }

  /// The value of the cookie, which is never empty.
  var remembered: String {
    let names = UserColumn.allCases.filter(shown.contains).map(\.rawValue)
    return names.isEmpty ? "none" : names.joined(separator: String(Self.separator))
  }

  /// The classes of a table that hides the other columns.
  var hidingClasses: String {
    UserColumn.allCases.filter { !shown.contains($0) }.map { " \($0.hidingClass)" }.joined()
  }

  func form(action: String, kept: Form) -> ColumnsForm {
    ColumnsForm(action: action, kept: kept, shown: shown)
  }
}
