import Identity
import Localization
import Templating

/// The form around a list of users whose rows have checkboxes: it removes the second factors of
/// selected users, or of all that the list's pages show.
struct UserSelection: ViewModel {
  let action: String
  let csrf: String
  /// Whether the list is on one page.
  let isOnePage: Bool
  /// The number of users on all pages; nil if it's unknown.
  let total: Int?
  /// The address that selects all users on all pages.
  let all: String

  /// The address, for a list that isn't on one page and isn't too long for a bulk removal.
  private var selectAll: String? {
    guard !isOnePage, let total, total <= BulkList.longest else { return nil }
    return all
  }

  static let keys: Keys<Self> = [
    .text(\.action),
    .text(\.csrf),
    .text("selectedUsers") {
      $0.isOnePage
        ? Message("users.remove-from-selected") : Message("users.remove-from-selected-on-page")
    },
    .text("selectAll") { $0.selectAll },
    .text("allUsers") { Message("users.remove-from-all", ["count": .number($0.total ?? 0)]) },
  ]
}
